package filecoin

import (
	"bytes"
	"errors"
	"reflect"
	"testing"
)

func TestPoRepPartitionRoundTrip(t *testing.T) {
	for _, name := range porepFixtures {
		c := readFixture(t, name[0], name[1]).c1(t)
		for k, want := range c.Partitions {
			raw, err := EncodePoRepPartition(want, c.Proof)
			if err != nil {
				t.Fatal(err)
			}
			got, err := DecodePoRepPartition(raw, c.Proof)
			if err != nil {
				t.Fatal(err)
			}
			if !reflect.DeepEqual(want, got) {
				t.Errorf("%s: partition %d comes back as another", c.Proof, k)
			}
		}
	}
}

func TestPoRepPartitionOf32GiB(t *testing.T) {
	c := newRandom().seal(8)
	raw, err := EncodePoRepPartition(c.Partitions[3], c.Proof)
	if err != nil {
		t.Fatal(err)
	}
	got, err := DecodePoRepPartition(raw, c.Proof)
	if err != nil {
		t.Fatal(err)
	}
	again, err := EncodePoRepPartition(got, c.Proof)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(raw, again) {
		t.Error("a partition encodes to other bytes")
	}
}

func TestMalformedPoRepPartition(t *testing.T) {
	c := readFixture(t, "2KiB", "porep").c1(t)
	raw, err := EncodePoRepPartition(c.Partitions[0], c.Proof)
	if err != nil {
		t.Fatal(err)
	}
	// challenges, levels of the comm_d path, siblings of its first level
	malformedCases(t, raw, []int{0, 8 + 4 + 64, 8 + 4 + 64 + 8}, func(data []byte) error {
		_, err := DecodePoRepPartition(data, c.Proof)
		return err
	})
	if _, err := DecodePoRepPartition(raw, 20); !errors.Is(err, ErrStatement) {
		t.Errorf("an unknown proof: %v", err)
	}
	if _, err := EncodePoRepPartition(c.Partitions[0], 8); !errors.Is(err, ErrMalformed) {
		t.Errorf("a partition of %s as one of 32GiB: %v", c.Proof, err)
	}
	c.Partitions[0][1].Labeling = nil
	if _, err := EncodePoRepPartition(c.Partitions[0], c.Proof); !errors.Is(err, ErrMalformed) {
		t.Errorf("a partition without labels: %v", err)
	}
}

func FuzzDecodePoRepPartition(f *testing.F) {
	c := readFixture(f, "2KiB", "porep").c1(f)
	raw, err := EncodePoRepPartition(c.Partitions[0], c.Proof)
	if err != nil {
		f.Fatal(err)
	}
	f.Add(raw)
	f.Add(make([]byte, len(raw)))
	f.Fuzz(func(t *testing.T, data []byte) {
		p, err := DecodePoRepPartition(data, c.Proof)
		if err != nil {
			if !errors.Is(err, ErrMalformed) {
				t.Fatalf("an error that says nothing of the bytes: %v", err)
			}
			return
		}
		again, err := EncodePoRepPartition(p, c.Proof)
		if err != nil || !bytes.Equal(data, again) {
			t.Fatalf("what was decoded encodes to other bytes: %v", err)
		}
	})
}

func BenchmarkDecodePoRepPartitionOf32GiB(b *testing.B) {
	c := newRandom().seal(8)
	raw, err := EncodePoRepPartition(c.Partitions[0], c.Proof)
	if err != nil {
		b.Fatal(err)
	}
	b.SetBytes(int64(len(raw)))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := DecodePoRepPartition(raw, c.Proof); err != nil {
			b.Fatal(err)
		}
	}
}
