package main

import (
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"github.com/proofmill/proofmill/cmd/proofmill/internal/exit"
	"github.com/proofmill/proofmill/cmd/proofmill/internal/output"
	"github.com/proofmill/proofmill/pkg/engine"
	"github.com/proofmill/proofmill/pkg/groth16"
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
	if want := job.Partitions() * groth16.ProofBytes; len(proof) != want {
		return exit.Wrap(exit.BadInput, fmt.Errorf("--result has %d bytes, a proof of %s with %d partitions has %d", len(proof), job.Circuit(), job.Partitions(), want), "check that the right proof and all vanilla proofs are named")
	}
	vk, err := a.params.verifyingKey(job.Circuit(), vkFile)
	if err != nil {
		return err
	}
	public, err := job.PublicInputs(0)
	if err != nil {
		return badInput(err)
	}
	if want := len(public); len(vk.VerifyingKey().IC)-1 != want {
		return exit.Wrap(exit.BadInput, fmt.Errorf("verifying key has %d public inputs, %s has %d: it is that of another circuit", len(vk.VerifyingKey().IC)-1, job.Circuit(), want), "check --vk and the parameters")
	}
	if err := job.VerifyResult(vk, proof); err != nil {
		return exit.Wrap(exit.Failed, err, "")
	}
	report := verifyReport{job.Circuit().ID(), job.Partitions(), true}
	return a.out.Print(report, func(t *output.Text) {
		t.Linef("valid: %d proofs of %s", report.Partitions, job.Circuit())
	})
}

// maxProofFile is far more than the hex digits of the most partitions.
const maxProofFile = 1 << 20

// readProof reads hex digits, or a file with them or with the bytes.
func readProof(text string) ([]byte, error) {
	if b, err := hex.DecodeString(strings.TrimPrefix(text, "0x")); err == nil {
		return b, nil
	}
	data, err := readInput(text, maxProofFile)
	if err != nil {
		if reason, ok := errors.AsType[*os.PathError](err); ok {
			err = reason.Err // the text may be very long
		}
		return nil, exit.Wrap(exit.BadInput, fmt.Errorf("--result %.80q is neither hexadecimal nor a file: %w", text, err), "")
	}
	if b, err := hex.DecodeString(strings.TrimPrefix(strings.TrimSpace(string(data)), "0x")); err == nil {
		return b, nil
	}
	return data, nil
}
