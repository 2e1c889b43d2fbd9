package config

import (
	"fmt"
	"reflect"

	"github.com/spf13/pflag"
)

// flagValue holds the text of a flag until the settings are read.
type flagValue struct {
	setting *setting
	name    string
	text    string
	changed bool
}

// Flag adds a flag to flags that sets key, described by the key's doc. Several commands may have flags of one key: that of
// the command which runs is the one that counts. It panics where there is no such key.
func (s *Schema) Flag(flags *pflag.FlagSet, name, key string) *pflag.Flag {
	item, ok := s.byKey[key]
	if !ok {
		panic(fmt.Sprintf("config: flag --%s: no key %s", name, key))
	}
	value := &flagValue{setting: item, name: name, text: item.initial}
	s.flags = append(s.flags, value)
	flag := flags.VarPF(value, name, "", item.doc)
	if item.value.Kind() == reflect.Bool {
		flag.NoOptDefVal = "true"
	}
	return flag
}

// Set implements [pflag.Value]. It checks the text and leaves the setting as it is.
func (f *flagValue) Set(text string) error {
	if err := parse(reflect.New(f.setting.value.Type()).Elem(), text); err != nil {
		return err
	}
	f.text, f.changed = text, true
	return nil
}

// String implements [pflag.Value].
func (f *flagValue) String() string { return f.text }

// Type implements [pflag.Value]: the word for the value in the help.
func (f *flagValue) Type() string {
	switch f.setting.value.Interface().(type) {
	case Duration:
		return "duration"
	case Size:
		return "size"
	case bool:
		return "bool"
	case int, int64:
		return "number"
	case []string:
		return "list"
	default:
		return "text"
	}
}
