package circuit

import (
	"fmt"

	"github.com/proofmill/proofmill/pkg/filecoin"
	"github.com/proofmill/proofmill/pkg/r1cs"
)

// Build makes the constraint system of a kind of proof for a sector size. Where a proof has several
// partitions, all have this system. It takes up to a few seconds for production sizes and keeps
// nothing: callers hold on to what they use again. A kind or size that does not exist is an error.
func Build(kind filecoin.Kind, size filecoin.SectorSize) (*r1cs.System, error) {
	if !size.Valid() {
		return nil, fmt.Errorf("circuit %s-%s: the sector size is not one of %v", kind, size, filecoin.SectorSizes())
	}
	switch kind {
	case filecoin.PoRep:
		return buildPoRep(size), nil
	case filecoin.Winning, filecoin.Window:
		return buildPoSt(kind, size), nil
	case filecoin.Update:
		return buildUpdate(size), nil
	}
	return nil, fmt.Errorf("circuit %s-%s: there is no circuit of this kind", kind, size)
}
