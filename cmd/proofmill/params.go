package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/proofmill/proofmill/cmd/proofmill/internal/exit"
	"github.com/proofmill/proofmill/pkg/engine"
	"github.com/proofmill/proofmill/pkg/filecoin"
	"github.com/proofmill/proofmill/pkg/groth16"
)

// paramsSettings say where parameter files are.
type paramsSettings struct {
	Dir  string `toml:"dir" doc:"Directory of the parameter files; empty: FIL_PROOFS_PARAMETER_CACHE, or with params.test the user's cache directory"`
	Test bool   `toml:"test" doc:"Use parameters that are for tests only. Proofs made with them prove nothing"`
}

// directory is where the parameters lie.
func (p *paramsSettings) directory() (string, error) {
	switch {
	case p.Dir != "":
		return p.Dir, nil
	case p.Test:
		return testParamsDir()
	default:
		return filecoin.ParamsDir(), nil
	}
}

// testParamsDir is where test parameters are kept between runs, away from Filecoin's.
func testParamsDir() (string, error) {
	if dir := os.Getenv(envParams); dir != "" {
		return dir, nil
	}
	cache, err := os.UserCacheDir()
	if err != nil {
		return "", exit.Wrap(exit.Unavailable, fmt.Errorf("directory of test parameters: %w", err), "set "+envParams)
	}
	return filepath.Join(cache, "proofmill", "test-params"), nil
}

func (p *paramsSettings) policy() groth16.Policy {
	if p.Test {
		return groth16.PolicyTest
	}
	return groth16.PolicyProduction
}

// file is the path of a circuit's parameter file.
func (p *paramsSettings) file(c engine.Circuit) (string, error) {
	dir, err := p.directory()
	if err != nil {
		return "", err
	}
	name, err := filecoin.ParamsFile(c.Kind, c.Size)
	if err != nil {
		return "", exit.Wrap(exit.BadInput, err, "")
	}
	return filepath.Join(dir, name), nil
}

// verifyingKey reads the circuit's verifying key, from explicit where that is given.
func (p *paramsSettings) verifyingKey(c engine.Circuit, explicit string) (*groth16.PreparedVerifyingKey, error) {
	path := explicit
	if path == "" {
		file, err := p.file(c)
		if err != nil {
			return nil, err
		}
		marker, err := groth16.ReadMarker(file)
		if err != nil {
			return nil, err
		}
		path = groth16.VerifyingKeyPath(file)
		if marker != nil && !p.Test {
			return nil, exit.Wrap(exit.Unavailable, fmt.Errorf("verifying key %s: %w", path, groth16.ErrParamsTestOnly), "say --test-params where test parameters are meant")
		}
	}
	vk, err := groth16.OpenVerifyingKey(path)
	if errors.Is(err, groth16.ErrParamsMissing) {
		return nil, exit.Wrap(exit.Unavailable, err, "")
	}
	if err != nil {
		return nil, exit.Wrap(exit.BadInput, err, "check that it is a verifying key, and fetch or make it again")
	}
	return groth16.Prepare(vk)
}
