package filecoin

import (
	"bytes"
	"encoding/binary"
	"errors"
	"runtime"
	"strings"
	"testing"
)

func TestPoStRoundTrip(t *testing.T) {
	for _, name := range postFixtures {
		f := readFixture(t, name[0], name[1])
		proof := f.post(t).Proof
		for _, s := range f.Sectors {
			raw := f.file(t, s.VanillaFile)
			p, err := DecodePoStSectorProof(raw, proof)
			if err != nil {
				t.Fatal(err)
			}
			if p.SectorID != s.Sector || p.CommR != unhex(t, s.CommR) {
				t.Errorf("%s: decoded sector %d with comm_r %s", s.VanillaFile, p.SectorID, p.CommR)
			}
			again, err := EncodePoStSectorProof(p, proof)
			if err != nil {
				t.Fatal(err)
			}
			if !bytes.Equal(raw, again) {
				t.Errorf("%s encodes to other bytes", s.VanillaFile)
			}
		}
	}
}

func TestUpdateRoundTrip(t *testing.T) {
	for _, name := range updateFixtures {
		f := readFixture(t, name[0], name[1])
		proof := f.update(t).Proof
		for _, file := range f.VanillaFiles {
			raw := f.file(t, file)
			p, err := DecodeUpdateProof(raw, proof)
			if err != nil {
				t.Fatal(err)
			}
			again, err := EncodeUpdateProof(p, proof)
			if err != nil {
				t.Fatal(err)
			}
			if !bytes.Equal(raw, again) {
				t.Errorf("%s encodes to other bytes", file)
			}
		}
	}
}

// malformedCases changes a vanilla proof in each way and expects one error with the given words.
func malformedCases(t *testing.T, raw []byte, lengths []int, decode func([]byte) error) {
	t.Helper()
	put := func(at int, v uint64) []byte {
		b := bytes.Clone(raw)
		binary.LittleEndian.PutUint64(b[at:], v)
		return b
	}
	cases := map[string]struct {
		data []byte
		want string
	}{
		"empty":     {nil, "truncated"},
		"one less":  {raw[:len(raw)-1], "truncated"},
		"one more":  {append(bytes.Clone(raw), 0), "left over"},
		"twice":     {append(bytes.Clone(raw), raw...), "left over"},
		"JSON":      {[]byte(`{"SectorNum":1}`), "truncated"},
		"huge file": {make([]byte, 64<<20), "left over"},
	}
	for name, c := range cases {
		if err := decode(c.data); !errors.Is(err, ErrMalformed) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: error %v, not with %q", name, err, c.want)
		}
	}
	for _, at := range lengths {
		for _, v := range []uint64{0, 3, 1 << 20, 1 << 60, 1<<64 - 1} {
			data := put(at, v)
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			err := decode(data)
			runtime.ReadMemStats(&after)
			if !errors.Is(err, ErrMalformed) {
				t.Errorf("length %d at byte %d: error %v", v, at, err)
			}
			if took := after.TotalAlloc - before.TotalAlloc; took > 2*uint64(len(raw))+64<<10 {
				t.Errorf("length %d at byte %d: %d bytes of memory taken", v, at, took)
			}
		}
	}
}

func TestMalformedPoSt(t *testing.T) {
	f := readFixture(t, "32KiB", "window")
	raw := f.file(t, f.Sectors[0].VanillaFile)
	proof := f.post(t).Proof
	// sectors, paths, form (with the length of the base levels' low half), base levels, siblings
	malformedCases(t, raw, []int{40, 48, 56, 60, 68}, func(data []byte) error {
		_, err := DecodePoStSectorProof(data, proof)
		return err
	})
	f = readFixture(t, "2KiB", "winning")
	if _, err := DecodePoStSectorProof(f.file(t, f.Sectors[0].VanillaFile), proof); !errors.Is(err, ErrMalformed) {
		t.Errorf("a winning proof as a window proof: %v", err)
	}
	if _, err := DecodePoStSectorProof(raw, 15); !errors.Is(err, ErrStatement) {
		t.Errorf("an unknown proof: %v", err)
	}
	position := bytes.Clone(raw)
	position[68+8+7*32] = 8
	if _, err := DecodePoStSectorProof(position, proof); !errors.Is(err, ErrMalformed) || !strings.Contains(err.Error(), "position 8") {
		t.Errorf("a position of 8: %v", err)
	}
}

func TestMalformedUpdate(t *testing.T) {
	f := readFixture(t, "2KiB", "update")
	raw := f.file(t, f.VanillaFiles[0])
	proof := f.update(t).Proof
	challenges := 32 + 8 + 8*32
	malformedCases(t, raw, []int{32, challenges, challenges + 8 + 4 + 64, challenges + 8 + 4 + 64 + 8}, func(data []byte) error {
		_, err := DecodeUpdateProof(data, proof)
		return err
	})
	if _, err := DecodeUpdateProof(raw, 5); !errors.Is(err, ErrStatement) {
		t.Errorf("an unknown proof: %v", err)
	}
}

func TestEncodersRefuseOtherShapes(t *testing.T) {
	f := readFixture(t, "2KiB", "window")
	p, err := DecodePoStSectorProof(f.file(t, f.Sectors[0].VanillaFile), f.post(t).Proof)
	if err != nil {
		t.Fatal(err)
	}
	for _, proof := range []RegisteredPoStProof{0, 6, 9, TestProofBase + 5} {
		if _, err := EncodePoStSectorProof(p, proof); !errors.Is(err, ErrMalformed) {
			t.Errorf("a proof of %s as one of %s: %v", f.post(t).Proof, proof, err)
		}
	}
	f = readFixture(t, "2KiB", "update")
	u, err := DecodeUpdateProof(f.file(t, f.VanillaFiles[0]), f.update(t).Proof)
	if err != nil {
		t.Fatal(err)
	}
	for _, proof := range []RegisteredUpdateProof{1, 3, TestProofBase} {
		if _, err := EncodeUpdateProof(u, proof); !errors.Is(err, ErrMalformed) {
			t.Errorf("a proof of %s as one of %s: %v", f.update(t).Proof, proof, err)
		}
	}
	c := readFixture(t, "2KiB", "porep").c1(t)
	c.Partitions[0][0].ExpParents = c.Partitions[0][0].ExpParents[1:]
	if _, err := EncodeC1(c); !errors.Is(err, ErrMalformed) {
		t.Errorf("a C1 output with a parent missing: %v", err)
	}
}

func FuzzDecodePoStSectorProof(f *testing.F) {
	fixture := readFixture(f, "2KiB", "window")
	proof := fixture.post(f).Proof
	f.Add(fixture.file(f, fixture.Sectors[0].VanillaFile))
	f.Add(make([]byte, 5680))
	f.Fuzz(func(t *testing.T, data []byte) {
		p, err := DecodePoStSectorProof(data, proof)
		if err != nil {
			if !errors.Is(err, ErrMalformed) {
				t.Fatalf("an error that says nothing of the bytes: %v", err)
			}
			return
		}
		again, err := EncodePoStSectorProof(p, proof)
		if err != nil || !bytes.Equal(data, again) {
			t.Fatalf("what was decoded encodes to other bytes: %v", err)
		}
	})
}

func FuzzDecodeUpdateProof(f *testing.F) {
	fixture := readFixture(f, "2KiB", "update")
	proof := fixture.update(f).Proof
	f.Add(fixture.file(f, fixture.VanillaFiles[0]))
	f.Add(make([]byte, 15064))
	f.Fuzz(func(t *testing.T, data []byte) {
		p, err := DecodeUpdateProof(data, proof)
		if err != nil {
			if !errors.Is(err, ErrMalformed) {
				t.Fatalf("an error that says nothing of the bytes: %v", err)
			}
			return
		}
		again, err := EncodeUpdateProof(p, proof)
		if err != nil || !bytes.Equal(data, again) {
			t.Fatalf("what was decoded encodes to other bytes: %v", err)
		}
	})
}

func BenchmarkDecodePoStSectorProof(b *testing.B) {
	f := readFixture(b, "32KiB", "window")
	raw := f.file(b, f.Sectors[0].VanillaFile)
	proof := f.post(b).Proof
	b.SetBytes(int64(len(raw)))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := DecodePoStSectorProof(raw, proof); err != nil {
			b.Fatal(err)
		}
	}
}
