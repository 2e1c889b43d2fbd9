package wire

import (
	"fmt"
	"strings"
	"time"
)

// Kind is what a request asks to prove. The numbers are those of the gRPC interface.
type Kind uint8

// The four kinds of proof.
const (
	KindPoRep       Kind = 1 // seal commit phase 2
	KindUpdate      Kind = 2 // SnapDeals, empty sector update
	KindWindowPoSt  Kind = 3 // one partition of a deadline
	KindWinningPoSt Kind = 4
)

var kindNames = [...]string{KindPoRep: "porep", KindUpdate: "update", KindWindowPoSt: "window", KindWinningPoSt: "winning"}

// Kinds lists the kinds in order of their numbers.
func Kinds() []Kind { return []Kind{KindPoRep, KindUpdate, KindWindowPoSt, KindWinningPoSt} }

// Valid reports whether k is one of the four kinds.
func (k Kind) Valid() bool { return k >= KindPoRep && k <= KindWinningPoSt }

// String gives the command line's word: porep, update, window or winning.
func (k Kind) String() string {
	if !k.Valid() {
		return fmt.Sprintf("kind(%d)", uint8(k))
	}
	return kindNames[k]
}

// ParseKind is the inverse of String.
func ParseKind(s string) (Kind, error) {
	for _, k := range Kinds() {
		if k.String() == s {
			return k, nil
		}
	}
	return 0, Errorf(CodeBadRequest, "kind %q: want porep, update, window or winning", s)
}

// Priority is the urgency class of a job. The numbers are those of the gRPC interface; a higher one goes first.
type Priority uint8

// The four classes.
const (
	Low      Priority = 1
	Normal   Priority = 2
	High     Priority = 3 // WindowPoSt
	Critical Priority = 4 // WinningPoSt
)

var priorityNames = [...]string{Low: "low", Normal: "normal", High: "high", Critical: "critical"}

// Priorities lists the classes in the order of service: Critical first.
func Priorities() []Priority { return []Priority{Critical, High, Normal, Low} }

// Valid reports whether p is one of the four classes.
func (p Priority) Valid() bool { return p >= Low && p <= Critical }

// String gives the word used in subjects: low, normal, high or critical.
func (p Priority) String() string {
	if !p.Valid() {
		return fmt.Sprintf("priority(%d)", uint8(p))
	}
	return priorityNames[p]
}

// ParsePriority reads a class in any case of letters.
func ParsePriority(s string) (Priority, error) {
	for _, p := range Priorities() {
		if strings.EqualFold(p.String(), s) {
			return p, nil
		}
	}
	return 0, Errorf(CodeBadRequest, "priority %q: want critical, high, normal or low", s)
}

// DefaultPriority is the class of a request that names none.
func DefaultPriority(k Kind) Priority {
	switch k {
	case KindWinningPoSt:
		return Critical
	case KindWindowPoSt:
		return High
	default:
		return Normal
	}
}

// Millis is a point in time as Unix milliseconds; zero means none.
type Millis int64

// MillisOf converts t; the zero time gives zero.
func MillisOf(t time.Time) Millis {
	if t.IsZero() {
		return 0
	}
	return Millis(t.UnixMilli())
}

// Time converts back; zero gives the zero time.
func (m Millis) Time() time.Time {
	if m == 0 {
		return time.Time{}
	}
	return time.UnixMilli(int64(m))
}

// Passed reports whether m is a point in time at or before now. None never passes.
func (m Millis) Passed(now time.Time) bool { return m != 0 && now.UnixMilli() >= int64(m) }
