package filecoin

import "fmt"

// Kind is one of the four proofs.
type Kind uint8

// The kinds of proofs.
const (
	PoRep   Kind = iota + 1 // proof of replication, "seal commit 2"
	Winning                 // proof of spacetime that wins a block
	Window                  // proof of spacetime of a deadline's partition
	Update                  // EmptySectorUpdate, "SnapDeals"
)

// Kinds lists the four kinds.
func Kinds() []Kind { return []Kind{PoRep, Winning, Window, Update} }

// String is the kind's name in commands, files and messages.
func (k Kind) String() string {
	switch k {
	case PoRep:
		return "porep"
	case Winning:
		return "winning"
	case Window:
		return "window"
	case Update:
		return "update"
	}
	return fmt.Sprintf("kind(%d)", uint8(k))
}

// ParseKind reads a kind as String writes it.
func ParseKind(s string) (Kind, error) {
	for _, k := range Kinds() {
		if k.String() == s {
			return k, nil
		}
	}
	return 0, fmt.Errorf("proof kind %.32q is unknown: use porep, winning, window or update", s)
}

// APIVersion is the version of the proofs API that a registered proof fixes. It changes how challenges and parents are
// derived, never the circuit.
type APIVersion uint8

// The versions, rising.
const (
	APIv1_0_0 APIVersion = iota + 1
	APIv1_1_0
	APIv1_2_0
)

// String is the version as the reference writes it, such as "1.2.0".
func (v APIVersion) String() string {
	if v < APIv1_0_0 || v > APIv1_2_0 {
		return fmt.Sprintf("api(%d)", uint8(v))
	}
	return fmt.Sprintf("1.%d.0", uint8(v-APIv1_0_0))
}
