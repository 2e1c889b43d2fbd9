package filecoin

import (
	"encoding/hex"
	"errors"
	"slices"
	"testing"

	"github.com/consensys/gnark-crypto/ecc/bls12-381/fr"
	"github.com/google/go-cmp/cmp"
)

// statement is what all three kinds of statements have.
type statement interface {
	Validate() error
	Partitions() int
	PublicInputs(k int) ([]fr.Element, error)
}

var (
	_ statement = (*SealStatement)(nil)
	_ statement = (*PoStStatement)(nil)
	_ statement = (*UpdateStatement)(nil)
)

func sameInputs(t *testing.T, f *fixture, st statement) {
	t.Helper()
	if got, want := st.Partitions(), len(f.Partitions); got != want {
		t.Fatalf("%d partitions, golden has %d", got, want)
	}
	for k := range f.Partitions {
		inputs, err := st.PublicInputs(k)
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for i := range inputs {
			n := NodeOf(&inputs[i])
			got = append(got, hex.EncodeToString(n[:]))
		}
		if diff := cmp.Diff(f.Partitions[k].Witness.Inputs[1:], got); diff != "" {
			t.Errorf("public inputs of partition %d (-golden +got):\n%s", k, diff)
		}
	}
	for _, k := range []int{-1, st.Partitions()} {
		if _, err := st.PublicInputs(k); !errors.Is(err, ErrStatement) {
			t.Errorf("partition %d: error %v", k, err)
		}
	}
}

func TestPublicInputsOfGoldenSeals(t *testing.T) {
	for _, name := range porepFixtures {
		t.Run(name[1]+"-"+name[0], func(t *testing.T) {
			f := readFixture(t, name[0], name[1])
			st := f.seal(t)
			sameInputs(t, f, st)
			if got, want := ProverID(f.MinerID), unhex(t, f.ProverID); got != want {
				t.Errorf("prover id %x, golden %s", got, want)
			}
			if got, want := st.Proof.PoRepID(), unhex(t, f.PoRepID); got != want {
				t.Errorf("PoRep id %x, golden %s", got, want)
			}
			if got := st.Proof.APIVersion().String(); got != f.APIVersion {
				t.Errorf("API version %s, golden %s", got, f.APIVersion)
			}
			if got, want := st.ReplicaID(), f.c1(t).ReplicaID; got != want {
				t.Errorf("replica id %s, C1 has %s", got, want)
			}
		})
	}
}

func TestPublicInputsOfGoldenPoSts(t *testing.T) {
	for _, name := range postFixtures {
		t.Run(name[1]+"-"+name[0], func(t *testing.T) {
			f := readFixture(t, name[0], name[1])
			st := f.post(t)
			sameInputs(t, f, st)
			per := st.Proof.SectorsPerPartition()
			for i, s := range f.Sectors {
				if got := st.SectorChallenges(i/per, i%per); !slices.Equal(got, s.Challenges) {
					t.Errorf("challenges of sector %d: %v, golden %v", s.Sector, got, s.Challenges)
				}
			}
		})
	}
}

func TestPublicInputsOfGoldenUpdates(t *testing.T) {
	for _, name := range updateFixtures {
		t.Run(name[1]+"-"+name[0], func(t *testing.T) {
			f := readFixture(t, name[0], name[1])
			sameInputs(t, f, f.update(t))
		})
	}
}

// A caller may prove one partition of a deadline alone; its public inputs are those of the whole.
func TestOnePartitionOfADeadline(t *testing.T) {
	for _, name := range [][2]string{{"2KiB", "window"}, {"2KiB", "window-v1_2"}} {
		f := readFixture(t, name[0], name[1])
		whole := f.post(t)
		alone := *whole
		alone.Sectors, alone.FirstPartition = whole.PartitionSectors(1), 1
		want, err := whole.PublicInputs(1)
		if err != nil {
			t.Fatal(err)
		}
		got, err := alone.PublicInputs(0)
		if err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(got, want) {
			t.Errorf("%s: public inputs of a partition alone differ", name[1])
		}
	}
}

func TestImpossibleStatements(t *testing.T) {
	tooBig := Node{}
	for i := range tooBig {
		tooBig[i] = 0xff
	}
	many := make([]PublicSector, 2*maxPoStPartitions+1)
	sector := []PublicSector{{}}
	for name, st := range map[string]statement{
		"unknown seal proof":      &SealStatement{Proof: 20},
		"seal comm_r":             &SealStatement{CommR: tooBig},
		"seal comm_d":             &SealStatement{CommD: tooBig},
		"unknown PoSt proof":      &PoStStatement{Proof: 15, Sectors: sector},
		"no sector":               &PoStStatement{Proof: 5},
		"two winning sectors":     &PoStStatement{Proof: 0, Sectors: many[:2]},
		"winning partition":       &PoStStatement{Proof: 0, Sectors: sector, FirstPartition: 1},
		"negative partition":      &PoStStatement{Proof: 5, Sectors: sector, FirstPartition: -1},
		"too many sectors":        &PoStStatement{Proof: 5, Sectors: many},
		"randomness":              &PoStStatement{Proof: 5, Sectors: sector, Randomness: tooBig},
		"sector comm_r":           &PoStStatement{Proof: 5, Sectors: []PublicSector{{CommR: tooBig}}},
		"unknown update proof":    &UpdateStatement{Proof: 5},
		"update comm_r_old":       &UpdateStatement{CommROld: tooBig},
		"update comm_r_new":       &UpdateStatement{CommRNew: tooBig},
		"update comm_d_new":       &UpdateStatement{CommDNew: tooBig},
		"seal number before test": &SealStatement{Proof: TestProofBase - 1},
		"seal number after test":  &SealStatement{Proof: TestProofBase + 20},
	} {
		if err := st.Validate(); !errors.Is(err, ErrStatement) {
			t.Errorf("%s: error %v", name, err)
		}
		if _, err := st.PublicInputs(0); !errors.Is(err, ErrStatement) {
			t.Errorf("%s: public inputs: error %v", name, err)
		}
	}
}
