package params

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/proofmill/proofmill/pkg/engine"
	"github.com/proofmill/proofmill/pkg/filecoin"
	"github.com/proofmill/proofmill/pkg/groth16"
	"github.com/proofmill/proofmill/pkg/wire"
	"github.com/proofmill/proofmill/services/internal/fault"
)

// Dir is a directory of parameter files.
type Dir struct {
	// Path of the directory; empty means filecoin.ParamsDir.
	Path string
	// AllowTest lets parameters be used whose secrets are known. Proofs made with them prove nothing.
	AllowTest bool
}

func (d Dir) path() string {
	if d.Path == "" {
		return filecoin.ParamsDir()
	}
	return d.Path
}

func (d Dir) policy() groth16.Policy {
	if d.AllowTest {
		return groth16.PolicyTest
	}
	return groth16.PolicyProduction
}

// File is the path of a circuit's parameter file.
func (d Dir) File(c engine.Circuit) (string, error) {
	name, err := filecoin.ParamsFile(c.Kind, c.Size)
	if err != nil {
		return "", wire.Errorf(wire.CodeUnsupportedCircuit, "circuit %s: %w", c.ID(), err)
	}
	return filepath.Join(d.path(), name), nil
}

// VerifyingKeyFile is the path of a circuit's verifying key file.
func (d Dir) VerifyingKeyFile(c engine.Circuit) (string, error) {
	name, err := filecoin.VerifyingKeyFile(c.Kind, c.Size)
	if err != nil {
		return "", wire.Errorf(wire.CodeUnsupportedCircuit, "circuit %s: %w", c.ID(), err)
	}
	return filepath.Join(d.path(), name), nil
}

// Present lists the circuits whose parameter files are in the directory, whatever their content.
func (d Dir) Present() []engine.Circuit { return d.present(d.File) }

// PresentKeys lists the circuits whose verifying key files are in the directory.
func (d Dir) PresentKeys() []engine.Circuit { return d.present(d.VerifyingKeyFile) }

func (d Dir) present(file func(engine.Circuit) (string, error)) []engine.Circuit {
	var found []engine.Circuit
	for _, c := range engine.Circuits() {
		path, err := file(c)
		if err != nil {
			continue
		}
		if info, err := os.Stat(path); err == nil && info.Mode().IsRegular() {
			found = append(found, c)
		}
	}
	return found
}

// Open opens a circuit's parameter file, and refuses one that is for tests where these are not allowed or that does not have the
// counts of sys, with codes parameters_missing and parameters_foreign. The caller closes it.
func (d Dir) Open(sys *engine.System) (*groth16.Params, error) {
	path, err := d.File(sys.Circuit)
	if err != nil {
		return nil, err
	}
	p, err := groth16.OpenParams(path, d.policy())
	if err != nil {
		return nil, d.classify(sys.Circuit, path, err)
	}
	if err := p.Fits(sys.System); err != nil {
		return nil, d.classify(sys.Circuit, path, errors.Join(err, p.Close()))
	}
	return p, nil
}

// VerifyingKey is a key ready for use, and the SHA-256 of its file.
type VerifyingKey struct {
	*groth16.PreparedVerifyingKey
	SHA256 wire.Digest
}

// VerifyingKey reads a circuit's verifying key. Where the circuit's parameter file is marked as for tests, so is its key.
func (d Dir) VerifyingKey(c engine.Circuit) (*VerifyingKey, error) {
	path, err := d.VerifyingKeyFile(c)
	if err != nil {
		return nil, err
	}
	if !d.AllowTest {
		file, err := d.File(c)
		if err != nil {
			return nil, err
		}
		marker, err := groth16.ReadMarker(file)
		if err != nil {
			return nil, d.classify(c, file, err)
		}
		if marker != nil {
			return nil, d.classify(c, file, fmt.Errorf("verifying key %s: %w: its parameters are marked so", path, groth16.ErrParamsTestOnly))
		}
	}
	vk, err := groth16.OpenVerifyingKey(path)
	if err != nil {
		return nil, d.classify(c, path, err)
	}
	prepared, err := groth16.Prepare(vk)
	if err != nil {
		return nil, d.classify(c, path, err)
	}
	return &VerifyingKey{PreparedVerifyingKey: prepared, SHA256: Digest(vk)}, nil
}

// Digest is the SHA-256 of a verifying key's file.
func Digest(vk *groth16.VerifyingKey) wire.Digest { return sha256.Sum256(vk.Bytes()) }

func (d Dir) classify(c engine.Circuit, path string, err error) error {
	fallback := wire.CodeParametersForeign
	if errors.Is(err, fs.ErrNotExist) {
		fallback = wire.CodeParametersMissing
	}
	return wire.AsError(fault.Of(fmt.Errorf("circuit %s: %w", c.ID(), err), fallback)).With("circuit", c.ID()).With("file", filepath.Base(path))
}

// String is the directory's path.
func (d Dir) String() string { return d.path() }
