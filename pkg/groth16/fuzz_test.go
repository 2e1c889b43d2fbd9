package groth16_test

import (
	"bytes"
	"os"
	"testing"

	"github.com/proofmill/proofmill/pkg/groth16"
)

func FuzzParseVerifyingKey(f *testing.F) {
	b, err := os.ReadFile(golden("2KiB/update-2KiB.vk"))
	if err != nil {
		f.Fatal(err)
	}
	f.Add(b)
	f.Add(b[:864])
	f.Add([]byte{})
	f.Fuzz(func(t *testing.T, b []byte) {
		vk, err := groth16.ParseVerifyingKey(b)
		if err == nil && !bytes.Equal(vk.Bytes(), b) {
			t.Fatal("key is written with other bytes than it was read from")
		}
	})
}

func FuzzParseProof(f *testing.F) {
	f.Add(readFixture(f, "2KiB/winning-2KiB").proof(f, 0))
	f.Add(make([]byte, groth16.ProofBytes))
	f.Fuzz(func(t *testing.T, b []byte) {
		p, err := groth16.ParseProof(b)
		if err != nil {
			return
		}
		if got := p.Bytes(); !bytes.Equal(got[:], b) {
			t.Fatal("proof is written with other bytes than it was read from")
		}
	})
}
