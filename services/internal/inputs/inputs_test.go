package inputs

import (
	"bytes"
	"context"
	"errors"
	"testing"

	"pgregory.net/rapid"

	"github.com/proofmill/proofmill/pkg/filecoin"
	"github.com/proofmill/proofmill/pkg/wire"
)

// shelf is an object store in memory that counts reads.
type shelf struct {
	objects map[string][]byte
	reads   int
}

func (s *shelf) Get(_ context.Context, ref wire.ObjectRef) ([]byte, error) {
	s.reads++
	if data, ok := s.objects[ref.Name]; ok {
		return data, nil
	}
	return nil, wire.Errorf(wire.CodeInputMissing, "object %s", ref.Name)
}

// Whatever lies inline or in objects, a part fetched by itself is the same part of all, and each object is read once.
func TestPartIsPartOfAll(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		s := &shelf{objects: map[string][]byte{}}
		in := wire.Inputs{}
		for _, name := range []string{"a", "b", "c"} {
			data := rapid.SliceOfN(rapid.Byte(), 20, 40).Draw(rt, name)
			s.objects[name] = data
			in.Objects = append(in.Objects, wire.ObjectRef{Bucket: "B", Name: name, Size: uint64(len(data)), SHA256: wire.SumOf(data)})
		}
		n := rapid.IntRange(1, 12).Draw(rt, "inputs")
		for range n {
			object := rapid.Uint32Range(0, 3).Draw(rt, "object")
			if object == 0 {
				in.List = append(in.List, wire.InlineInput(rapid.SliceOfN(rapid.Byte(), 1, 9).Draw(rt, "inline")))
				continue
			}
			from := rapid.Uint64Range(0, 10).Draw(rt, "offset")
			size := rapid.Uint64Range(1, 10).Draw(rt, "size")
			data := s.objects[in.Objects[object-1].Name][from : from+size]
			in.List = append(in.List, wire.Input{Object: object, Offset: from, Size: size, SHA256: wire.SumOf(data)})
		}
		all, err := Fetch(t.Context(), s, &in)
		if err != nil {
			rt.Fatal(err)
		}
		if s.reads > len(in.Objects) {
			rt.Fatalf("%d reads of %d objects", s.reads, len(in.Objects))
		}
		from := rapid.IntRange(0, n-1).Draw(rt, "from")
		to := rapid.IntRange(from+1, n).Draw(rt, "to")
		part := Part(&in, from, to)
		if err := part.Validate(); err != nil {
			rt.Fatal(err)
		}
		got, err := Fetch(t.Context(), s, &part)
		if err != nil {
			rt.Fatal(err)
		}
		for i := range got {
			if !bytes.Equal(got[i], all[from+i]) {
				rt.Fatalf("input %d differs", from+i)
			}
		}
	})
}

func TestFetchRefuses(t *testing.T) {
	s := &shelf{objects: map[string][]byte{"a": []byte("0123456789")}}
	ref := wire.ObjectRef{Bucket: "B", Name: "a", Size: 10}
	for code, in := range map[wire.Code]wire.Inputs{
		wire.CodeInputCorrupt: {List: []wire.Input{{Object: 1, Size: 3, SHA256: wire.SumOf([]byte("345"))}}, Objects: []wire.ObjectRef{ref}},
		wire.CodeInputMissing: {List: []wire.Input{{Object: 1, Size: 3}}, Objects: []wire.ObjectRef{{Bucket: "B", Name: "gone", Size: 10}}},
	} {
		if _, err := Fetch(t.Context(), s, &in); !errors.Is(err, code) {
			t.Errorf("%s: %v", code, err)
		}
	}
}

func TestStatement(t *testing.T) {
	r := Statement(&wire.Statement{Kind: wire.KindWinningPoSt, RegisteredProof: 5, SectorSize: 2048, Miner: 7, Sector: 9, PartitionIndex: 3, Randomness: wire.Digest{1}})
	if r.Kind != filecoin.Winning || r.RegisteredProof != 5 || r.SectorSize != 2048 || r.Miner != 7 || r.Sector != 9 || r.PartitionIndex != 3 || r.Randomness[0] != 1 {
		t.Errorf("%+v", r)
	}
	if r := Statement(&wire.Statement{Kind: wire.KindUpdate, CommROld: wire.Digest{1}, CommRNew: wire.Digest{2}, CommDNew: wire.Digest{3}}); r.Kind != filecoin.Update || r.CommROld[0] != 1 || r.CommRNew[0] != 2 || r.CommDNew[0] != 3 {
		t.Errorf("%+v", r)
	}
}
