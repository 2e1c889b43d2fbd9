package doctor

import (
	"errors"
	"path/filepath"
	"slices"

	"github.com/proofmill/proofmill/pkg/engine"
	"github.com/proofmill/proofmill/pkg/filecoin"
	"github.com/proofmill/proofmill/pkg/groth16"
)

// Params looks for the parameter file of each circuit in dir: its form and whether it is for tests only, not its points. Circuits that
// wanted names must be there; for the others absence is no fault.
func Params(dir string, policy groth16.Policy, wanted []string) []Check {
	var checks []Check
	for _, id := range wanted {
		if _, err := engine.ParseCircuit(id); err != nil {
			checks = append(checks, Check{Name: "parameters", Status: Failed, Text: err.Error(), Do: "mend the setting gpuprove.circuits"})
		}
	}
	found := 0
	for _, circuit := range engine.Circuits() {
		c := circuitParams(dir, circuit, policy)
		switch {
		case c.Status != Skipped:
			found++
		case slices.Contains(wanted, circuit.ID()):
			c.Status, c.Do = Failed, "bring the file there, or set params.dir"
		default:
			continue
		}
		checks = append(checks, c)
	}
	if found > 0 {
		return checks
	}
	return append(checks, Check{
		Name: "parameters", Status: Warning, Text: "there are none in " + dir,
		Do:      "provers and gateways need them: set params.dir, or FIL_PROOFS_PARAMETER_CACHE; for tests `proofmill params generate`",
		Details: map[string]any{"directory": dir},
	})
}

// circuitParams looks at one file; skipped means that it is not there.
func circuitParams(dir string, circuit engine.Circuit, policy groth16.Policy) Check {
	c := Check{Name: "parameters " + circuit.ID(), Status: OK, Details: map[string]any{"circuit": circuit.ID()}}
	name, err := filecoin.ParamsFile(circuit.Kind, circuit.Size)
	if err != nil {
		c.Status, c.Text = Failed, err.Error()
		return c
	}
	path := filepath.Join(dir, name)
	c.Details["path"] = path
	params, err := groth16.OpenParams(path, policy)
	switch {
	case errors.Is(err, groth16.ErrParamsMissing):
		c.Status, c.Text = Skipped, "not there: "+path
		return c
	case errors.Is(err, groth16.ErrParamsTestOnly):
		c.Status, c.Text, c.Do = Failed, "for tests only, among those for production: "+path, "remove them, or say params.test where tests are meant"
		c.Details["test_only"] = true
		return c
	case err != nil:
		c.Status, c.Text, c.Do = Failed, err.Error(), "fetch the file again"
		return c
	}
	c.Details["bytes"], c.Details["test_only"] = params.Size(), params.Marker() != nil
	c.Text = gib(params.Size()) + ", not marked as for tests"
	if params.Marker() != nil {
		c.Text = gib(params.Size()) + ", for tests only"
	}
	if err := params.Close(); err != nil {
		c.Status, c.Text = Failed, err.Error()
	}
	return c
}
