package filecoin

import (
	"bytes"
	"context"
	"errors"
	"testing"

	"pgregory.net/rapid"
)

// refused runs decode and check over raw with one byte changed: every change is either malformed or does not hold.
func refused(t *testing.T, raw []byte, use func([]byte) error) {
	t.Helper()
	if err := use(raw); err != nil {
		t.Fatalf("unchanged: %v", err)
	}
	rapid.Check(t, func(t *rapid.T) {
		at := rapid.IntRange(0, len(raw)-1).Draw(t, "at")
		data := bytes.Clone(raw)
		data[at] ^= rapid.ByteRange(1, 255).Draw(t, "change")
		err := use(data)
		var c *CheckError
		if !errors.Is(err, ErrMalformed) && !errors.As(err, &c) {
			t.Fatalf("byte %d changed from %d to %d: %v", at, raw[at], data[at], err)
		}
	})
}

func TestOneByteOfEveryVanillaProof(t *testing.T) {
	t.Run("porep", func(t *testing.T) {
		f := readFixture(t, "32KiB", "porep")
		c := f.c1(t)
		st := c.Statement(f.MinerID, f.Sector)
		if *st != *f.seal(t) {
			t.Errorf("the C1 output claims %+v", st)
		}
		raw, err := EncodePoRepPartition(c.Partitions[0], c.Proof)
		if err != nil {
			t.Fatal(err)
		}
		refused(t, raw, func(data []byte) error {
			p, err := DecodePoRepPartition(data, st.Proof)
			if err != nil {
				return err
			}
			return CheckPoRepPartition(context.Background(), st, 0, p)
		})
	})
	for _, name := range postFixtures {
		t.Run(name[1]+"-"+name[0], func(t *testing.T) {
			f := readFixture(t, name[0], name[1])
			st := f.post(t)
			refused(t, f.file(t, f.Sectors[0].VanillaFile), func(data []byte) error {
				p, err := DecodePoStSectorProof(data, st.Proof)
				if err != nil {
					return err
				}
				if err := CheckPoStSector(context.Background(), st, 0, 0, p); err != nil {
					return err
				}
				if p.Public() != st.Sectors[0] {
					t.Errorf("the vanilla proof is of %v", p.Public())
				}
				return nil
			})
		})
	}
	for _, name := range updateFixtures {
		t.Run(name[1]+"-"+name[0], func(t *testing.T) {
			f := readFixture(t, name[0], name[1])
			st := f.update(t)
			refused(t, f.file(t, f.VanillaFiles[0]), func(data []byte) error {
				p, err := DecodeUpdateProof(data, st.Proof)
				if err != nil {
					return err
				}
				return CheckUpdatePartition(context.Background(), st, 0, p)
			})
		})
	}
}

// One changed byte of a C1 output is an error of decoding, of its header or of a partition; only the spelling of its JSON
// may change without one.
func TestOneByteOfC1(t *testing.T) {
	f := readFixture(t, "2KiB", "porep")
	raw := f.file(t, f.C1File)
	st := f.seal(t)
	want, err := EncodeC1(f.c1(t))
	if err != nil {
		t.Fatal(err)
	}
	rapid.Check(t, func(t *rapid.T) {
		at := rapid.IntRange(0, len(raw)-1).Draw(t, "at")
		data := bytes.Clone(raw)
		data[at] = rapid.SampledFrom([]byte("0123456789 ,[]{}\":-ex_aRS\\\x00\xff")).Draw(t, "to")
		c, err := DecodeC1(data, Limits{})
		if err == nil {
			err = CheckSealCommit(st, c)
		}
		for k := 0; err == nil && k < len(c.Partitions); k++ {
			err = CheckPoRepPartition(context.Background(), st, k, c.Partitions[k])
		}
		if err != nil {
			return
		}
		again, err := EncodeC1(c)
		if err != nil || !bytes.Equal(again, want) {
			t.Fatalf("byte %d changed from %q to %q passes: %v", at, raw[at], data[at], err)
		}
	})
}
