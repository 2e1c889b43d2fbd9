package fault

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/proofmill/proofmill/pkg/engine"
	"github.com/proofmill/proofmill/pkg/filecoin"
	"github.com/proofmill/proofmill/pkg/groth16"
	"github.com/proofmill/proofmill/pkg/wire"
	"github.com/proofmill/proofmill/pkg/witness"
)

func TestClasses(t *testing.T) {
	for _, c := range []struct {
		err   error
		code  wire.Code
		class wire.Class
	}{
		{engine.ErrUnknownProof, wire.CodeUnknownProof, wire.Terminal},
		{engine.ErrSize, wire.CodeSizeContradiction, wire.Terminal},
		{filecoin.ErrMalformed, wire.CodeBadInput, wire.Terminal},
		{groth16.ErrParamsMissing, wire.CodeParametersMissing, wire.Terminal},
		{groth16.ErrParamsForeign, wire.CodeParametersForeign, wire.Terminal},
		{groth16.ErrParamsTestOnly, wire.CodeParametersForeign, wire.Terminal},
		{witness.ErrCorrupt, wire.CodeBlobCorrupt, wire.Transient},
		{errors.New("whatever"), wire.CodeInternal, wire.Transient},
		{wire.CodeBusy, wire.CodeInternal, wire.Transient},
		{wire.Errorf(wire.CodeDeviceLost, "gone"), wire.CodeDeviceLost, wire.WorkerGone},
	} {
		e := wire.AsError(Of(fmt.Errorf("outer: %w", c.err), wire.CodeInternal))
		if e.Code != c.code || e.Class != c.class {
			t.Errorf("%v: %s, %s", c.err, e.Code, e.Class)
		}
	}
	if err := Of(fmt.Errorf("stopped: %w", context.Canceled), wire.CodeInternal); !errors.Is(err, context.Canceled) || errors.As(err, new(*wire.Error)) {
		t.Errorf("the end of a context became %v", err)
	}
	if Of(nil, wire.CodeInternal) != nil {
		t.Error("nothing became an error")
	}
}

func TestCheckErrorsHaveDetails(t *testing.T) {
	err := Of(&filecoin.CheckError{Kind: filecoin.Window, Sector: 77, Partition: 1, Challenge: 5, What: "path"}, wire.CodeInternal)
	e := wire.AsError(err)
	if want := map[string]string{"sector": "77", "partition": "1", "challenge": "5"}; e.Code != wire.CodeBadVanillaProof || !cmp.Equal(e.Detail, want) {
		t.Errorf("%s, %v", e.Code, e.Detail)
	}
	e = wire.AsError(Of(&filecoin.CheckError{Kind: filecoin.Update, Partition: -1, Challenge: -1}, wire.CodeInternal))
	if len(e.Detail) != 0 {
		t.Errorf("details of nothing in particular: %v", e.Detail)
	}
}
