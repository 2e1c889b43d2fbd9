package filecoin

import (
	"errors"
	"fmt"
)

// ErrMalformed is wrapped by every error about bytes that are not what they claim to be: truncated, oversized, of another
// proof, with bytes left over. The same bytes will never decode.
var ErrMalformed = errors.New("malformed")

// ErrStatement is wrapped by every error about a statement whose own fields are impossible.
var ErrStatement = errors.New("impossible statement")

// CheckError says where a vanilla proof does not hold. The same proof will never hold.
type CheckError struct {
	Kind      Kind
	Sector    uint64 // sector number; 0 for an update, whose statement names none
	Partition int    // index of the partition; -1 where the proof is not split yet
	Challenge int    // index of the challenge in the partition or sector; -1 where it concerns all of them
	What      string // which path or value, and what is wrong with it
}

// Error names sector, partition and challenge, then what is wrong.
func (e *CheckError) Error() string {
	s := fmt.Sprintf("%s vanilla proof: ", e.Kind)
	if e.Kind != Update {
		s += fmt.Sprintf("sector %d", e.Sector)
	}
	if e.Partition >= 0 {
		if e.Kind != Update {
			s += ", "
		}
		s += fmt.Sprintf("partition %d", e.Partition)
	}
	if e.Challenge >= 0 {
		s += fmt.Sprintf(", challenge %d", e.Challenge)
	}
	return s + ": " + e.What
}

func malformed(format string, args ...any) error {
	return fmt.Errorf("%w: %s", ErrMalformed, fmt.Sprintf(format, args...))
}

func impossible(format string, args ...any) error {
	return fmt.Errorf("%w: %s", ErrStatement, fmt.Sprintf(format, args...))
}
