package config

import (
	"encoding"
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"
)

// EnvPrefix begins the name of each variable that sets a key.
const EnvPrefix = "PROOFMILL_"

// OriginDefault is the origin of a value that nothing set.
const OriginDefault = "default"

// Validator is a section that checks its values together.
type Validator interface{ Validate() error }

// Schema is the set of all sections. It is made and read by one goroutine.
type Schema struct {
	sections []section
	settings []*setting
	byKey    map[string]*setting
	flags    []*flagValue
	ignored  map[string]bool
	warnings []string
	file     string
}

type section struct {
	name   string
	target reflect.Value // pointer to the struct
}

type setting struct {
	key     string
	doc     string
	secret  bool
	value   reflect.Value // the field
	initial string
	origin  string
}

// New gives an empty schema. Variables named in ignored begin with [EnvPrefix] but set no key.
func New(ignored ...string) *Schema {
	s := &Schema{byKey: make(map[string]*setting), ignored: make(map[string]bool)}
	for _, name := range ignored {
		s.ignored[name] = true
	}
	return s
}

// Section adds the section name, whose settings are the fields of *target. It panics where the struct cannot be a section,
// or the name is taken: both are errors of the program.
func (s *Schema) Section(name string, target any) {
	value := reflect.ValueOf(target)
	if value.Kind() != reflect.Pointer || value.Elem().Kind() != reflect.Struct {
		panic(fmt.Sprintf("config: section %s: %T is not a pointer to a struct", name, target))
	}
	for _, other := range s.sections {
		if other.name == name {
			panic(fmt.Sprintf("config: section %s is declared twice", name))
		}
	}
	s.sections = append(s.sections, section{name, value})
	structure := value.Elem().Type()
	for i := range structure.NumField() {
		field := structure.Field(i)
		tag := field.Tag.Get("toml")
		if tag == "" || field.Tag.Get("doc") == "" {
			panic(fmt.Sprintf("config: section %s: field %s lacks its toml or doc tag", name, field.Name))
		}
		item := &setting{
			key: name + "." + tag, doc: field.Tag.Get("doc"), secret: field.Tag.Get("secret") == "true",
			value: value.Elem().Field(i), origin: OriginDefault,
		}
		item.initial = format(item.value)
		if err := parse(reflect.New(field.Type).Elem(), item.initial); err != nil {
			panic(fmt.Sprintf("config: %s: default %q: %v", item.key, item.initial, err))
		}
		s.settings = append(s.settings, item)
		s.byKey[item.key] = item
	}
}

// EnvName is the variable that sets key.
func EnvName(key string) string {
	return EnvPrefix + strings.ToUpper(strings.NewReplacer(".", "_", "-", "_").Replace(key))
}

// Entry is a setting as it is shown.
type Entry struct {
	Key     string `json:"key"`
	Value   string `json:"value"`
	Default string `json:"default"`
	Origin  string `json:"origin"`
	Env     string `json:"env"`
	Doc     string `json:"doc"`
}

// Entries lists all settings by key. Secrets are replaced by stars.
func (s *Schema) Entries() []Entry {
	entries := make([]Entry, 0, len(s.settings))
	for _, item := range s.settings {
		entry := Entry{
			Key: item.key, Value: format(item.value), Default: item.initial,
			Origin: item.origin, Env: EnvName(item.key), Doc: item.doc,
		}
		if item.secret && entry.Value != "" {
			entry.Value = "***"
		}
		entries = append(entries, entry)
	}
	slices.SortFunc(entries, func(a, b Entry) int { return strings.Compare(a.Key, b.Key) })
	return entries
}

// File is the configuration file that was read, or "".
func (s *Schema) File() string { return s.file }

// Warnings lists what was read and ignored: variables that look like settings and are none.
func (s *Schema) Warnings() []string { return s.warnings }

// parse sets a field from text.
func parse(field reflect.Value, text string) error {
	if unmarshaler, ok := reflect.TypeAssert[encoding.TextUnmarshaler](field.Addr()); ok {
		return unmarshaler.UnmarshalText([]byte(text))
	}
	switch field.Kind() {
	case reflect.String:
		field.SetString(text)
	case reflect.Bool:
		value, err := strconv.ParseBool(text)
		if err != nil {
			return fmt.Errorf("%q is neither true nor false", text)
		}
		field.SetBool(value)
	case reflect.Int, reflect.Int64:
		value, err := strconv.ParseInt(text, 10, field.Type().Bits())
		if err != nil {
			return fmt.Errorf("%q is not a whole number", text)
		}
		field.SetInt(value)
	case reflect.Slice:
		if field.Type().Elem().Kind() != reflect.String {
			return fmt.Errorf("type %s cannot be a setting", field.Type())
		}
		list := reflect.MakeSlice(field.Type(), 0, 0)
		for part := range strings.SplitSeq(text, ",") {
			if part = strings.TrimSpace(part); part != "" {
				list = reflect.Append(list, reflect.ValueOf(part).Convert(field.Type().Elem()))
			}
		}
		field.Set(list)
	default:
		return fmt.Errorf("type %s cannot be a setting", field.Type())
	}
	return nil
}

// format is the inverse of parse.
func format(field reflect.Value) string {
	if marshaler, ok := reflect.TypeAssert[encoding.TextMarshaler](field); ok {
		if text, err := marshaler.MarshalText(); err == nil {
			return string(text)
		}
	}
	if field.Kind() == reflect.Slice {
		parts := make([]string, field.Len())
		for i := range parts {
			parts[i] = fmt.Sprint(field.Index(i).Interface())
		}
		return strings.Join(parts, ",")
	}
	return fmt.Sprint(field.Interface())
}
