package filecoin

import (
	"bytes"
	"math/rand/v2"
	"reflect"
	"testing"
)

// random fills values of a shape with arbitrary nodes: what decodes and encodes, but proves nothing.
type random struct{ rng *rand.Rand }

func (r random) node() (n Node) {
	for i := range n {
		n[i] = byte(r.rng.Uint32())
	}
	return n
}

func (r random) nodes(n int) []Node {
	out := make([]Node, n)
	for i := range out {
		out[i] = r.node()
	}
	return out
}

func (r random) path(form *treePath) MerklePath {
	p := MerklePath{Leaf: r.node(), Root: r.node()}
	for _, arity := range form.arities {
		p.Elements = append(p.Elements, PathElement{Siblings: r.nodes(arity - 1), Index: uint32(r.rng.IntN(arity))})
	}
	return p
}

func (r random) column(size SectorSize, form *treePath) ColumnProof {
	return ColumnProof{Index: uint32(r.rng.Uint64() % size.Nodes()), Rows: r.nodes(size.Layers()), Path: r.path(form)}
}

func (r random) label() LabelProof {
	return LabelProof{Parents: r.nodes(LabelParents), Layer: r.rng.Uint32(), Node: r.rng.Uint64()}
}

func (r random) seal(proof RegisteredSealProof) *SealCommit {
	size := proof.Size()
	formR, formD := newTreePath(size.Shape(), size), newTreePath(BinaryTree, size)
	c := &SealCommit{Proof: proof, CommR: r.node(), CommD: r.node(), ReplicaID: r.node(), Seed: r.node(), Ticket: r.node()}
	for range proof.Partitions() {
		var partition []PoRepChallenge
		for range size.PoRepChallenges() {
			p := PoRepChallenge{CommD: r.path(&formD), CommRLast: r.path(&formR), CX: r.column(size, &formR), Encoding: r.label()}
			for range DRGDegree {
				p.DRGParents = append(p.DRGParents, r.column(size, &formR))
			}
			for range ExpDegree {
				p.ExpParents = append(p.ExpParents, r.column(size, &formR))
			}
			for range size.Layers() {
				p.Labeling = append(p.Labeling, r.label())
			}
			p.Challenge = uint64(p.CX.Index)
			partition = append(partition, p)
		}
		c.Partitions = append(c.Partitions, partition)
	}
	return c
}

func newRandom() random { return random{rand.New(rand.NewPCG(1, 2))} }

func TestC1OfEverySize(t *testing.T) {
	for _, size := range SectorSizes() {
		if size.production() && testing.Short() {
			continue
		}
		proof, err := SealProofFor(SealV1_1, size)
		if err != nil {
			t.Fatal(err)
		}
		raw, err := EncodeC1(newRandom().seal(proof))
		if err != nil {
			t.Fatal(err)
		}
		c, err := DecodeC1(raw, Limits{})
		if err != nil {
			t.Fatal(err)
		}
		again, err := EncodeC1(c)
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(raw, again) {
			t.Errorf("%s: a C1 output comes back as another", size)
		}
	}
}

func TestPoStAndUpdateOfEverySize(t *testing.T) {
	for _, size := range SectorSizes() {
		r := newRandom()
		formR, formD := newTreePath(size.Shape(), size), newTreePath(BinaryTree, size)
		for _, kind := range []Kind{Winning, Window} {
			proof, err := PoStProofFor(kind, size, APIv1_2_0)
			if err != nil {
				t.Fatal(err)
			}
			want := &PoStSectorProof{SectorID: 1 << 40, CommR: r.node(), CommC: r.node(), CommRLast: r.node()}
			for range proof.Challenges() {
				want.Paths = append(want.Paths, r.path(&formR))
			}
			raw, err := EncodePoStSectorProof(want, proof)
			if err != nil {
				t.Fatal(err)
			}
			got, err := DecodePoStSectorProof(raw, proof)
			if err != nil {
				t.Fatal(err)
			}
			if !reflect.DeepEqual(want, got) {
				t.Errorf("%s: a vanilla proof comes back as another", proof)
			}
		}
		proof, err := UpdateProofFor(size)
		if err != nil {
			t.Fatal(err)
		}
		want := &UpdateProof{CommC: r.node(), ApexLeaves: r.nodes(size.ApexLeaves())}
		for range size.UpdateChallenges() {
			want.Challenges = append(want.Challenges, UpdateChallenge{r.path(&formR), r.path(&formD), r.path(&formR)})
		}
		raw, err := EncodeUpdateProof(want, proof)
		if err != nil {
			t.Fatal(err)
		}
		got, err := DecodeUpdateProof(raw, proof)
		if err != nil {
			t.Fatal(err)
		}
		if !reflect.DeepEqual(want, got) {
			t.Errorf("%s: a vanilla proof comes back as another", proof)
		}
	}
}

func BenchmarkDecodeC1Of32GiB(b *testing.B) {
	c := newRandom().seal(8)
	raw, err := EncodeC1(c)
	if err != nil {
		b.Fatal(err)
	}
	for name, data := range map[string][]byte{"bare": raw, "wrapped": EncodeC1Wrapper(raw, C1Wrapper{10, Size32GiB})} {
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(data)))
			b.ReportAllocs()
			for b.Loop() {
				if _, err := DecodeC1(data, Limits{}); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func BenchmarkChecks(b *testing.B) {
	b.Run("porep-2KiB", func(b *testing.B) {
		f := readFixture(b, "2KiB", "porep")
		st, c := f.seal(b), f.c1(b)
		for b.Loop() {
			if err := CheckPoRepPartition(b.Context(), st, 0, c.Partitions[0]); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("window-32KiB-sector", func(b *testing.B) {
		f := readFixture(b, "32KiB", "window")
		st := f.post(b)
		p, err := DecodePoStSectorProof(f.file(b, f.Sectors[0].VanillaFile), st.Proof)
		if err != nil {
			b.Fatal(err)
		}
		for b.Loop() {
			if err := CheckPoStSector(b.Context(), st, 0, 0, p); err != nil {
				b.Fatal(err)
			}
		}
	})
}
