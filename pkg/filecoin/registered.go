package filecoin

import (
	"encoding/binary"
	"fmt"
)

// RegisteredSealProof is the number of a registered seal proof. Numbers 0 to 19 are Filecoin's. Shapes that Filecoin
// never registered have test-only numbers of our own, from TestProofBase upwards in the same order: they carry the names
// that the reference's tests use, such as StackedDrg32KiBV1_1, and never occur on chain.
type RegisteredSealProof uint64

// RegisteredPoStProof is the number of a registered PoSt proof: 0 to 4 winning, 5 to 9 window V1, 10 to 14 window V1_1;
// test-only numbers as for RegisteredSealProof.
type RegisteredPoStProof uint64

// RegisteredUpdateProof is the number of a registered update proof, 0 to 4; test-only numbers as for
// RegisteredSealProof.
type RegisteredUpdateProof uint64

// TestProofBase is the first number of the proofs that only tests use; far outside what Filecoin could assign.
const TestProofBase = 1 << 32

// perVariant is the number of sizes of each variant, both among Filecoin's numbers and among the test-only ones.
const perVariant = 5

// SealVariant is how a seal proof derives its challenges and graph.
type SealVariant uint8

// The variants, in the order of their numbers.
const (
	SealV1             SealVariant = iota // API 1.0.0
	SealV1_1                              // API 1.1.0
	SealSynthetic                         // API 1.2.0, FIP-0059
	SealNonInteractive                    // API 1.2.0, FIP-0090
	sealVariants
)

var sealSuffix = [sealVariants]string{"V1", "V1_1", "V1_1_Feat_SyntheticPoRep", "V1_2_Feat_NonInteractivePoRep"}

// split returns variant and size of a number, given how many variants there are.
func split(n uint64, variants uint64) (variant uint64, size SectorSize, ok bool) {
	sizes := &publishedSizes
	if n >= TestProofBase {
		n -= TestProofBase
		sizes = &testSizes
	}
	if n >= variants*perVariant {
		return 0, 0, false
	}
	return n / perVariant, sizes[n%perVariant], true
}

// join is the inverse of split.
func join(variant uint64, size SectorSize) (uint64, bool) {
	for i, s := range publishedSizes {
		if s == size {
			return variant*perVariant + uint64(i), true
		}
	}
	for i, s := range testSizes {
		if s == size {
			return TestProofBase + variant*perVariant + uint64(i), true
		}
	}
	return 0, false
}

// SealProofFor is the seal proof of a variant and a size; a test-only one where Filecoin registers none. It is an error
// for an unknown size or variant.
func SealProofFor(variant SealVariant, size SectorSize) (RegisteredSealProof, error) {
	n, ok := join(uint64(variant), size)
	if !ok || variant >= sealVariants {
		return 0, fmt.Errorf("seal proof: no variant %d of sector size %s", variant, size)
	}
	return RegisteredSealProof(n), nil
}

// ParseRegisteredSealProof reads a name as String writes it.
func ParseRegisteredSealProof(name string) (RegisteredSealProof, error) {
	for v := range sealVariants {
		for _, size := range SectorSizes() {
			if p, err := SealProofFor(v, size); err == nil && p.String() == name {
				return p, nil
			}
		}
	}
	return 0, fmt.Errorf("registered seal proof %.80q is unknown", name)
}

// Valid tells whether p is a known number, test-only ones included.
func (p RegisteredSealProof) Valid() bool {
	_, _, ok := split(uint64(p), uint64(sealVariants))
	return ok
}

// TestOnly tells whether p has no number in Filecoin. Production entry points refuse such proofs.
func (p RegisteredSealProof) TestOnly() bool { return p >= TestProofBase }

// Variant is how p derives challenges; SealV1 for an invalid number.
func (p RegisteredSealProof) Variant() SealVariant {
	v, _, _ := split(uint64(p), uint64(sealVariants))
	return SealVariant(v) //nolint:gosec // below sealVariants
}

// Size is the sector size of p; 0 for an invalid number.
func (p RegisteredSealProof) Size() SectorSize {
	_, size, _ := split(uint64(p), uint64(sealVariants))
	return size
}

// Kind is PoRep.
func (p RegisteredSealProof) Kind() Kind { return PoRep }

// APIVersion is the version of the proofs API that p uses.
func (p RegisteredSealProof) APIVersion() APIVersion {
	switch p.Variant() {
	case SealV1:
		return APIv1_0_0
	case SealV1_1:
		return APIv1_1_0
	default:
		return APIv1_2_0
	}
}

// PoRepID is the domain of p's graph and replica ids: the number of the proof, little-endian, and zeros (the nonce is 0
// for all of them). A test-only proof uses the number of the 2KiB proof of its variant, as the reference's tests do.
func (p RegisteredSealProof) PoRepID() [32]byte {
	var id [32]byte
	n := uint64(p)
	if p.TestOnly() {
		n = uint64(p.Variant()) * perVariant
	}
	binary.LittleEndian.PutUint64(id[:], n)
	return id
}

// String is the name of p in rust-fil-proofs, such as StackedDrg32GiBV1_1.
func (p RegisteredSealProof) String() string {
	v, size, ok := split(uint64(p), uint64(sealVariants))
	if !ok {
		return fmt.Sprintf("seal proof(%d)", uint64(p))
	}
	return "StackedDrg" + size.String() + sealSuffix[v]
}

const (
	postWinning = iota
	postWindowV1
	postWindowV1_1
	postVariants
)

// PoStProofFor is the PoSt proof of a kind (Winning or Window), size and API version; test-only where Filecoin registers
// none. Window proofs exist in API 1.0.0 (also asked for as 1.1.0) and 1.2.0, winning proofs in one version.
func PoStProofFor(kind Kind, size SectorSize, version APIVersion) (RegisteredPoStProof, error) {
	variant := uint64(postVariants)
	switch {
	case kind == Winning:
		variant = postWinning
	case kind == Window && version == APIv1_2_0:
		variant = postWindowV1_1
	case kind == Window:
		variant = postWindowV1
	}
	n, ok := join(variant, size)
	if !ok || variant == postVariants {
		return 0, fmt.Errorf("PoSt proof: none of kind %s and sector size %s", kind, size)
	}
	return RegisteredPoStProof(n), nil
}

// ParseRegisteredPoStProof reads a name as String writes it. The window proofs of API 1.2.0 are called V1_1 on chain and
// V1_2 in rust-fil-proofs; both names are read.
func ParseRegisteredPoStProof(name string) (RegisteredPoStProof, error) {
	for v := range uint64(postVariants) {
		for _, size := range SectorSizes() {
			n, ok := join(v, size)
			p := RegisteredPoStProof(n)
			if ok && (p.String() == name || p.rustName() == name) {
				return p, nil
			}
		}
	}
	return 0, fmt.Errorf("registered PoSt proof %.80q is unknown", name)
}

// Valid tells whether p is a known number, test-only ones included.
func (p RegisteredPoStProof) Valid() bool {
	_, _, ok := split(uint64(p), postVariants)
	return ok
}

// TestOnly tells whether p has no number in Filecoin. Production entry points refuse such proofs.
func (p RegisteredPoStProof) TestOnly() bool { return p >= TestProofBase }

// Size is the sector size of p; 0 for an invalid number.
func (p RegisteredPoStProof) Size() SectorSize {
	_, size, _ := split(uint64(p), postVariants)
	return size
}

// Kind is Winning or Window; 0 for an invalid number.
func (p RegisteredPoStProof) Kind() Kind {
	v, _, ok := split(uint64(p), postVariants)
	switch {
	case !ok:
		return 0
	case v == postWinning:
		return Winning
	}
	return Window
}

// APIVersion is the version of the proofs API that p uses.
func (p RegisteredPoStProof) APIVersion() APIVersion {
	if v, _, _ := split(uint64(p), postVariants); v == postWindowV1_1 {
		return APIv1_2_0
	}
	return APIv1_0_0
}

// String is the name of p on chain, such as StackedDrgWindow32GiBV1_1.
func (p RegisteredPoStProof) String() string {
	v, size, ok := split(uint64(p), postVariants)
	if !ok {
		return fmt.Sprintf("PoSt proof(%d)", uint64(p))
	}
	return [postVariants]string{"StackedDrgWinning", "StackedDrgWindow", "StackedDrgWindow"}[v] + size.String() +
		[postVariants]string{"V1", "V1", "V1_1"}[v]
}

func (p RegisteredPoStProof) rustName() string {
	if v, size, ok := split(uint64(p), postVariants); ok && v == postWindowV1_1 {
		return "StackedDrgWindow" + size.String() + "V1_2"
	}
	return p.String()
}

// UpdateProofFor is the update proof of a size; test-only where Filecoin registers none.
func UpdateProofFor(size SectorSize) (RegisteredUpdateProof, error) {
	n, ok := join(0, size)
	if !ok {
		return 0, fmt.Errorf("update proof: none of sector size %s", size)
	}
	return RegisteredUpdateProof(n), nil
}

// ParseRegisteredUpdateProof reads a name as String writes it.
func ParseRegisteredUpdateProof(name string) (RegisteredUpdateProof, error) {
	for _, size := range SectorSizes() {
		if p, err := UpdateProofFor(size); err == nil && p.String() == name {
			return p, nil
		}
	}
	return 0, fmt.Errorf("registered update proof %.80q is unknown", name)
}

// Valid tells whether p is a known number, test-only ones included.
func (p RegisteredUpdateProof) Valid() bool {
	_, _, ok := split(uint64(p), 1)
	return ok
}

// TestOnly tells whether p has no number in Filecoin. Production entry points refuse such proofs.
func (p RegisteredUpdateProof) TestOnly() bool { return p >= TestProofBase }

// Size is the sector size of p; 0 for an invalid number.
func (p RegisteredUpdateProof) Size() SectorSize {
	_, size, _ := split(uint64(p), 1)
	return size
}

// Kind is Update.
func (p RegisteredUpdateProof) Kind() Kind { return Update }

// APIVersion is 1.1.0 for all update proofs.
func (p RegisteredUpdateProof) APIVersion() APIVersion { return APIv1_1_0 }

// String is the name of p, such as StackedDrg32GiBV1.
func (p RegisteredUpdateProof) String() string {
	_, size, ok := split(uint64(p), 1)
	if !ok {
		return fmt.Sprintf("update proof(%d)", uint64(p))
	}
	return "StackedDrg" + size.String() + "V1"
}
