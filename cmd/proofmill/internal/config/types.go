package config

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"
)

// Duration is a length of time, written as 1h30m or 250ms.
type Duration time.Duration

// UnmarshalText implements encoding.TextUnmarshaler.
func (d *Duration) UnmarshalText(text []byte) error {
	value, err := time.ParseDuration(string(text))
	if err != nil || value < 0 {
		return fmt.Errorf("%q is not a duration such as 90s or 1h30m", text)
	}
	*d = Duration(value)
	return nil
}

// MarshalText implements encoding.TextMarshaler.
func (d Duration) MarshalText() ([]byte, error) { return []byte(time.Duration(d).String()), nil }

// Size is a number of bytes, written as 16GiB or 1048576. Units are powers of 1024.
type Size int64

var sizeUnits = []struct {
	name  string
	bytes int64
}{
	{"TiB", 1 << 40}, {"GiB", 1 << 30}, {"MiB", 1 << 20}, {"KiB", 1 << 10},
}

// UnmarshalText implements encoding.TextUnmarshaler.
func (s *Size) UnmarshalText(text []byte) error {
	number, unit := string(text), int64(1)
	for _, candidate := range sizeUnits {
		if rest, ok := strings.CutSuffix(number, candidate.name); ok {
			number, unit = rest, candidate.bytes
			break
		}
	}
	value, err := strconv.ParseInt(strings.TrimSpace(number), 10, 64)
	if err != nil || value < 0 || value > math.MaxInt64/unit {
		return fmt.Errorf("%q is not a size such as 512MiB or 16GiB", text)
	}
	*s = Size(value * unit)
	return nil
}

// MarshalText implements encoding.TextMarshaler.
func (s Size) MarshalText() ([]byte, error) {
	for _, unit := range sizeUnits {
		if s != 0 && int64(s)%unit.bytes == 0 {
			return []byte(strconv.FormatInt(int64(s)/unit.bytes, 10) + unit.name), nil
		}
	}
	return []byte(strconv.FormatInt(int64(s), 10)), nil
}
