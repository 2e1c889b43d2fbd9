package main

import (
	"encoding/hex"
	"fmt"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"github.com/proofmill/proofmill/cmd/proofmill/internal/exit"
	"github.com/proofmill/proofmill/cmd/proofmill/internal/output"
	"github.com/proofmill/proofmill/pkg/engine"
)

func init() { register(groupProofs, newVerifyCommand) }

type verifyReport struct {
	Circuit    string `json:"circuit"`
	Partitions int    `json:"partitions"`
	Valid      bool   `json:"valid"`
}

func newVerifyCommand(a *app) *cobra.Command {
	var result, vk string
	more := func(command *cobra.Command) {
		command.Flags().StringVar(&result, "result", "", "The proof: a `FILE` with its bytes or their hex digits, or the hex digits themselves")
		command.Flags().StringVar(&vk, "vk", "", "`FILE` of the verifying key (default: that beside the circuit's parameters)")
		a.addParamsFlags(command)
		if err := command.MarkFlagRequired("result"); err != nil {
			panic(err)
		}
	}
	return parent("verify", "Check a proof against what it claims to prove",
		requestCommands("Verify a %s proof", func(command *cobra.Command, r *requestFlags) error {
			return verifyResult(command, a, r, result, vk)
		}, more)...)
}

// addParamsFlags adds the flags that say where parameters are.
func (a *app) addParamsFlags(command *cobra.Command) {
	a.config.Flag(command.Flags(), "params-dir", "params.dir")
	a.config.Flag(command.Flags(), "test-params", "params.test")
}

func verifyResult(command *cobra.Command, a *app, flags *requestFlags, result, vkFile string) error {
	request, err := flags.load()
	if err != nil {
		return err
	}
	proof, err := readProof(result)
	if err != nil {
		return err
	}
	job, err := engine.Open(command.Context(), request, engine.Options{TestProofs: true})
	if err != nil {
		return badInput(err)
	}
	vk, err := a.params.verifyingKey(job.Circuit(), vkFile)
	if err != nil {
		return err
	}
	if err := job.VerifyResult(vk, proof); err != nil {
		return exit.Wrap(exit.Failed, err, "")
	}
	report := verifyReport{job.Circuit().ID(), job.Partitions(), true}
	return a.out.Print(report, func(t *output.Text) {
		t.Linef("valid: %d proofs of %s", report.Partitions, job.Circuit())
	})
}

// readProof reads hex digits, or a file with them or with the bytes.
func readProof(text string) ([]byte, error) {
	if b, err := hex.DecodeString(text); err == nil {
		return b, nil
	}
	data, err := os.ReadFile(text) //nolint:gosec // the user's file
	if err != nil {
		return nil, exit.Wrap(exit.BadInput, fmt.Errorf("--result is neither hexadecimal nor a file: %w", err), "")
	}
	if b, err := hex.DecodeString(strings.TrimSpace(string(data))); err == nil {
		return b, nil
	}
	return data, nil
}
