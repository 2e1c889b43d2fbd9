package groth16

import (
	"errors"
	"fmt"
	"io/fs"
)

// What can be wrong with a parameter file, for errors.Is. The errors that wrap these name the file
// and what to do.
var (
	// ErrParamsMissing: there is no such file.
	ErrParamsMissing = errors.New("parameters are missing")
	// ErrParamsDamaged: the file is not what it should be: cut off, an error page, points that are
	// no points, a digest that differs.
	ErrParamsDamaged = errors.New("parameters are damaged")
	// ErrParamsForeign: the file is well formed and belongs to another circuit.
	ErrParamsForeign = errors.New("parameters are those of another circuit")
	// ErrParamsTestOnly: the file was made by a setup whose secrets are known.
	ErrParamsTestOnly = errors.New("parameters are for tests only")
)

// ErrInvalidProof is wrapped by what a verification returns when the proof does not hold.
var ErrInvalidProof = errors.New("proof is not valid")

// missing explains an error of opening a file.
func missing(what, path string, err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("%s %s does not exist: %w; fetch Filecoin's with `curio fetch-params SIZE` or `lotus fetch-params SIZE`, or make some for tests with `proofmill params generate`",
			what, path, ErrParamsMissing)
	}
	return fmt.Errorf("%s: %w", what, err)
}

// damaged makes an error of a file that should be fetched again.
func damaged(path, format string, args ...any) error {
	return fmt.Errorf("parameter file %s: %w: %w; delete it and fetch or make it again", path, ErrParamsDamaged, fmt.Errorf(format, args...))
}
