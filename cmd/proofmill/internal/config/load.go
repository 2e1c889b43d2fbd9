package config

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"reflect"
	"slices"
	"strings"

	"github.com/pelletier/go-toml/v2"
)

// MaxFileBytes bounds a configuration file.
const MaxFileBytes = 1 << 20

// Load reads the file at path (none where it is ""), the environment (as [os.Environ] gives it) and the bound flags that
// were set. It may be called once.
func (s *Schema) Load(path string, environ []string) error {
	if path != "" {
		if err := s.loadFile(path); err != nil {
			return err
		}
	}
	if err := s.loadEnviron(environ); err != nil {
		return err
	}
	for _, flag := range s.flags {
		if !flag.changed {
			continue
		}
		if err := s.set(flag.setting, flag.text, "flag --"+flag.name); err != nil {
			return err
		}
	}
	for _, section := range s.sections {
		if validator, ok := reflect.TypeAssert[Validator](section.target); ok {
			if err := validator.Validate(); err != nil {
				return fmt.Errorf("section %s: %w", section.name, err)
			}
		}
	}
	return nil
}

func (s *Schema) set(item *setting, text, origin string) error {
	if err := parse(item.value, text); err != nil {
		return fmt.Errorf("%s: %s: %w", origin, item.key, err)
	}
	item.origin = origin
	return nil
}

func (s *Schema) loadFile(path string) error {
	data, err := readBounded(path)
	if err != nil {
		return err
	}
	return s.loadBytes(path, data)
}

func (s *Schema) loadBytes(path string, data []byte) error {
	s.file = path
	if err := s.decode(data); err != nil {
		return fmt.Errorf("file %s%w", path, err)
	}
	var present map[string]map[string]any
	if err := toml.Unmarshal(data, &present); err != nil {
		return fmt.Errorf("file %s: %w", path, err)
	}
	for name, keys := range present {
		for key := range keys {
			// The decoder takes keys in any case.
			if item, ok := s.byKey[strings.ToLower(name+"."+key)]; ok {
				item.origin = "file " + path
			}
		}
	}
	return nil
}

// decode fills the sections' structs. The text of its errors begins with the place in the file.
func (s *Schema) decode(data []byte) error {
	// One struct with a pointer to each section lets the strict decoder see unknown sections too.
	fields := make([]reflect.StructField, len(s.sections))
	for i, section := range s.sections {
		fields[i] = reflect.StructField{
			Name: fmt.Sprintf("Section%d", i), Type: section.target.Type(),
			Tag: reflect.StructTag(fmt.Sprintf("toml:%q", section.name)),
		}
	}
	whole := reflect.New(reflect.StructOf(fields))
	for i, section := range s.sections {
		whole.Elem().Field(i).Set(section.target)
	}
	err := toml.NewDecoder(bytes.NewReader(data)).DisallowUnknownFields().Decode(whole.Interface())
	if strict, ok := errors.AsType[*toml.StrictMissingError](err); ok && len(strict.Errors) > 0 {
		first := &strict.Errors[0]
		row, _ := first.Position()
		key := strings.Join(first.Key(), ".")
		return fmt.Errorf(":%d: unknown key %s%s", row, key, s.suggest(key))
	}
	if wrong, ok := errors.AsType[*toml.DecodeError](err); ok {
		row, _ := wrong.Position()
		text := strings.TrimPrefix(wrong.Error(), "toml: ")
		if key := strings.Join(wrong.Key(), "."); key != "" {
			text = key + ": " + text
		}
		return fmt.Errorf(":%d: %s", row, text)
	}
	if err != nil {
		return fmt.Errorf(": %w", err)
	}
	return nil
}

// suggest names the key that was probably meant.
func (s *Schema) suggest(key string) string {
	best, least := "", 4
	for candidate := range s.byKey {
		if d := distance(key, candidate); d < least || d == least && best != "" && candidate < best {
			best, least = candidate, d
		}
	}
	if best == "" {
		return ""
	}
	return "; did you mean " + best + "?"
}

// distance is the Levenshtein distance of two keys.
func distance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			cost := diagonal
			if a[i] != b[j] {
				cost++
			}
			diagonal = row[j+1]
			row[j+1] = min(cost, row[j]+1, row[j+1]+1)
		}
	}
	return row[len(b)]
}

func (s *Schema) loadEnviron(environ []string) error {
	byName := make(map[string]*setting, len(s.settings))
	for _, item := range s.settings {
		byName[EnvName(item.key)] = item
	}
	for _, variable := range slices.Sorted(slices.Values(environ)) {
		name, text, _ := strings.Cut(variable, "=")
		item, known := byName[name]
		switch {
		case known && text != "": // an empty variable counts as not set
			if err := s.set(item, text, "environment "+name); err != nil {
				return err
			}
		case !known && strings.HasPrefix(name, EnvPrefix) && !s.ignored[name]:
			s.warnings = append(s.warnings, fmt.Sprintf("environment variable %s sets nothing", name))
		}
	}
	return nil
}

func readBounded(path string) ([]byte, error) {
	file, err := os.Open(path) //nolint:gosec // the file that the user names
	if err != nil {
		return nil, fmt.Errorf("configuration file: %w", err)
	}
	defer func() { _ = file.Close() }()
	data, err := io.ReadAll(io.LimitReader(file, MaxFileBytes+1))
	if err != nil {
		return nil, fmt.Errorf("configuration file: %w", err)
	}
	if len(data) > MaxFileBytes {
		return nil, fmt.Errorf("configuration file %s: larger than %d bytes", path, MaxFileBytes)
	}
	return data, nil
}
