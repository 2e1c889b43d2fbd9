package gateway

import (
	"encoding/hex"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"github.com/consensys/gnark-crypto/ecc/bls12-381/fr"
	"go.uber.org/goleak"

	"github.com/proofmill/proofmill/pkg/groth16"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// golden reads the proofs of the WindowPoSt of 2 KiB sectors with their public inputs.
func golden(t *testing.T) (*verifyingKey, []*groth16.Proof, [][]fr.Element) {
	t.Helper()
	const dir = "../../testdata/golden/2KiB"
	vk, err := groth16.OpenVerifyingKey(filepath.Join(dir, "window-2KiB.vk"))
	if err != nil {
		t.Fatal(err)
	}
	prepared, err := groth16.Prepare(vk)
	if err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(filepath.Join(dir, "window-2KiB.json"))
	if err != nil {
		t.Fatal(err)
	}
	var file struct {
		Partitions []struct {
			Proof   string `json:"proof"`
			Witness struct {
				Inputs []string `json:"inputs"`
			} `json:"witness"`
		} `json:"partitions"`
	}
	if err := json.Unmarshal(data, &file); err != nil {
		t.Fatal(err)
	}
	unhex := func(s string) []byte {
		b, err := hex.DecodeString(s)
		if err != nil {
			t.Fatal(err)
		}
		return b
	}
	var proofs []*groth16.Proof
	var publics [][]fr.Element
	for _, p := range file.Partitions {
		proof, err := groth16.ParseProof(unhex(p.Proof))
		if err != nil {
			t.Fatal(err)
		}
		var inputs []fr.Element
		for _, s := range p.Witness.Inputs[1:] {
			x, err := fr.LittleEndian.Element((*[fr.Bytes]byte)(unhex(s)))
			if err != nil {
				t.Fatal(err)
			}
			inputs = append(inputs, x)
		}
		proofs, publics = append(proofs, proof), append(publics, inputs)
	}
	return &verifyingKey{PreparedVerifyingKey: prepared}, proofs, publics
}

// Whatever comes together in a batch, each proof gets its own verdict.
func TestVerifierJudgesEach(t *testing.T) {
	vk, proofs, publics := golden(t)
	v := newVerifier()
	begin := make(chan struct{})
	var all sync.WaitGroup
	for i := range 24 {
		all.Go(func() {
			<-begin
			k := i % 2
			switch i % 3 {
			case 0:
				if err := v.verify(t.Context(), vk, proofs[k], publics[k]); err != nil {
					t.Errorf("a good proof: %v", err)
				}
			case 1:
				if err := v.verify(t.Context(), vk, proofs[k], publics[1-k]); !errors.Is(err, groth16.ErrInvalidProof) {
					t.Errorf("a proof of another partition: %v", err)
				}
			default:
				if err := v.verify(t.Context(), vk, proofs[k], publics[k][1:]); err == nil || errors.Is(err, groth16.ErrInvalidProof) {
					t.Errorf("too few inputs: %v", err)
				}
			}
		})
	}
	close(begin)
	all.Wait()
	if q := v.queues[vk]; q.busy || len(q.waiting) != 0 {
		t.Error("somebody is left waiting")
	}
}

// A batch that waits for the one under way is checked at once.
func TestVerifierCheckBatch(t *testing.T) {
	vk, proofs, publics := golden(t)
	batch := []*verification{
		{proof: proofs[0], publics: publics[0], done: make(chan struct{})},
		{proof: proofs[1], publics: publics[0], done: make(chan struct{})},
		{proof: proofs[1], publics: publics[1], done: make(chan struct{})},
	}
	check(vk, batch)
	for i, want := range []bool{true, false, true} {
		<-batch[i].done
		if (batch[i].err == nil) != want {
			t.Errorf("proof %d: %v", i, batch[i].err)
		}
	}
}
