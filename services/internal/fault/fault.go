package fault

import (
	"context"
	"errors"
	"strconv"

	"github.com/proofmill/proofmill/pkg/engine"
	"github.com/proofmill/proofmill/pkg/filecoin"
	"github.com/proofmill/proofmill/pkg/groth16"
	"github.com/proofmill/proofmill/pkg/wire"
	"github.com/proofmill/proofmill/pkg/witness"
)

// codes maps what the packages of the mathematics say, the more specific first.
var codes = []struct {
	is   error
	code wire.Code
}{
	{engine.ErrUnknownProof, wire.CodeUnknownProof},
	{engine.ErrSize, wire.CodeSizeContradiction},
	{engine.ErrTestProof, wire.CodeUnsupportedCircuit},
	{filecoin.ErrMalformed, wire.CodeBadInput},
	{filecoin.ErrStatement, wire.CodeBadRequest},
	{groth16.ErrParamsMissing, wire.CodeParametersMissing},
	{groth16.ErrParamsForeign, wire.CodeParametersForeign},
	{groth16.ErrParamsTestOnly, wire.CodeParametersForeign},
	{groth16.ErrParamsDamaged, wire.CodeParametersForeign},
	{groth16.ErrInvalidProof, wire.CodePartitionRejected},
	{witness.ErrCorrupt, wire.CodeBlobCorrupt},
	{context.DeadlineExceeded, wire.CodeTimeout},
}

// Of classifies err: one that is classified already stays as it is, and so does the end of a context, which says nothing of the
// work. An error that nobody knows gets the code fallback.
func Of(err error, fallback wire.Code) error {
	var known *wire.Error
	if err == nil || errors.As(err, &known) || errors.Is(err, context.Canceled) {
		return err
	}
	if check, ok := errors.AsType[*filecoin.CheckError](err); ok {
		e := wire.Errorf(wire.CodeBadVanillaProof, "%w", err)
		if check.Kind != filecoin.Update {
			e = e.With("sector", strconv.FormatUint(check.Sector, 10))
		}
		if check.Partition >= 0 {
			e = e.With("partition", strconv.Itoa(check.Partition))
		}
		if check.Challenge >= 0 {
			e = e.With("challenge", strconv.Itoa(check.Challenge))
		}
		return e
	}
	for i := range codes {
		if errors.Is(err, codes[i].is) {
			return wire.Errorf(codes[i].code, "%w", err)
		}
	}
	return wire.Errorf(fallback, "%w", err)
}
