package filecoin

import (
	"context"
	"errors"
	"testing"

	"pgregory.net/rapid"
)

func TestGoldenSealsHold(t *testing.T) {
	for _, name := range porepFixtures {
		t.Run(name[1]+"-"+name[0], func(t *testing.T) {
			f := readFixture(t, name[0], name[1])
			st, c := f.seal(t), f.c1(t)
			if err := CheckSealCommit(st, c); err != nil {
				t.Error(err)
			}
			for k := range c.Partitions {
				if err := CheckPoRepPartition(t.Context(), st, k, c.Partitions[k]); err != nil {
					t.Error(err)
				}
			}
		})
	}
}

func TestGoldenPoStsHold(t *testing.T) {
	for _, name := range postFixtures {
		t.Run(name[1]+"-"+name[0], func(t *testing.T) {
			f := readFixture(t, name[0], name[1])
			st := f.post(t)
			per := st.Proof.SectorsPerPartition()
			for i, s := range f.Sectors {
				p, err := DecodePoStSectorProof(f.file(t, s.VanillaFile), st.Proof)
				if err != nil {
					t.Fatal(err)
				}
				if err := CheckPoStSector(t.Context(), st, i/per, i%per, p); err != nil {
					t.Error(err)
				}
			}
		})
	}
}

func TestGoldenUpdatesHold(t *testing.T) {
	for _, name := range updateFixtures {
		t.Run(name[1]+"-"+name[0], func(t *testing.T) {
			f := readFixture(t, name[0], name[1])
			st := f.update(t)
			for k, file := range f.VanillaFiles {
				p, err := DecodeUpdateProof(f.file(t, file), st.Proof)
				if err != nil {
					t.Fatal(err)
				}
				if err := CheckUpdatePartition(t.Context(), st, k, p); err != nil {
					t.Error(err)
				}
			}
		})
	}
}

// nodesOf are all nodes of a path.
func nodesOf(p *MerklePath) []*Node {
	out := []*Node{&p.Leaf, &p.Root}
	for i := range p.Elements {
		for j := range p.Elements[i].Siblings {
			out = append(out, &p.Elements[i].Siblings[j])
		}
	}
	return out
}

func pointers(nodes []Node) []*Node {
	var out []*Node
	for i := range nodes {
		out = append(out, &nodes[i])
	}
	return out
}

// flip changes one bit of one node, runs f, and changes it back.
func flip(t *rapid.T, nodes []*Node, f func()) {
	n := rapid.SampledFrom(nodes).Draw(t, "node")
	bit := rapid.IntRange(0, 255).Draw(t, "bit")
	n[bit/8] ^= 1 << (bit % 8)
	defer func() { n[bit/8] ^= 1 << (bit % 8) }()
	f()
}

func wantCheck(t *rapid.T, err error, kind Kind, sector uint64, partition, challenge int) {
	var c *CheckError
	if !errors.As(err, &c) {
		t.Fatalf("one bit changed, and the check says %v", err)
	}
	if c.Kind != kind || c.Sector != sector || c.Partition != partition || c.Challenge != challenge {
		t.Fatalf("a bit of sector %d, partition %d, challenge %d changed, and the check says: %v", sector, partition, challenge, err)
	}
}

func TestOneBitOfASeal(t *testing.T) {
	f := readFixture(t, "32KiB", "porep")
	st, c := f.seal(t), f.c1(t)
	rapid.Check(t, func(t *rapid.T) {
		i := rapid.IntRange(0, len(c.Partitions[0])-1).Draw(t, "challenge")
		p := &c.Partitions[0][i]
		nodes := append(nodesOf(&p.CommD), nodesOf(&p.CommRLast)...)
		columns := []*ColumnProof{&p.CX}
		for j := range p.DRGParents {
			columns = append(columns, &p.DRGParents[j])
		}
		for j := range p.ExpParents {
			columns = append(columns, &p.ExpParents[j])
		}
		for _, column := range columns {
			nodes = append(append(nodes, nodesOf(&column.Path)...), pointers(column.Rows)...)
		}
		for j := range p.Labeling {
			nodes = append(nodes, pointers(p.Labeling[j].Parents)...)
		}
		nodes = append(nodes, pointers(p.Encoding.Parents)...)
		flip(t, nodes, func() {
			wantCheck(t, CheckPoRepPartition(context.Background(), st, 0, c.Partitions[0]), PoRep, st.Sector, 0, i)
		})
	})
}

func TestOneNumberOfASeal(t *testing.T) {
	f := readFixture(t, "32KiB", "porep")
	st := f.seal(t)
	for name, change := range map[string]func(*PoRepChallenge){
		"challenge":      func(p *PoRepChallenge) { p.Challenge ^= 1 },
		"column index":   func(p *PoRepChallenge) { p.CX.Index ^= 1 },
		"parent index":   func(p *PoRepChallenge) { p.DRGParents[5].Index ^= 1 },
		"expander index": func(p *PoRepChallenge) { p.ExpParents[7].Index ^= 1 },
		"comm_d step":    func(p *PoRepChallenge) { p.CommD.Elements[3].Index ^= 1 },
		"replica step":   func(p *PoRepChallenge) { p.CommRLast.Elements[1].Index ^= 1 },
		"column step":    func(p *PoRepChallenge) { p.CX.Path.Elements[0].Index ^= 1 },
		"position":       func(p *PoRepChallenge) { p.CX.Path.Elements[0].Index = 8 },
		"label layer":    func(p *PoRepChallenge) { p.Labeling[0].Layer++ },
		"label node":     func(p *PoRepChallenge) { p.Labeling[1].Node++ },
		"encoding layer": func(p *PoRepChallenge) { p.Encoding.Layer-- },
		"encoding node":  func(p *PoRepChallenge) { p.Encoding.Node-- },
		"no siblings":    func(p *PoRepChallenge) { p.CommD.Elements[0].Siblings = nil },
		"no levels":      func(p *PoRepChallenge) { p.CommD.Elements = nil },
		"no rows":        func(p *PoRepChallenge) { p.CX.Rows = nil },
		"no parents":     func(p *PoRepChallenge) { p.DRGParents = nil },
		"no labels":      func(p *PoRepChallenge) { p.Labeling = nil },
	} {
		c := f.c1(t)
		change(&c.Partitions[0][1])
		var e *CheckError
		if err := CheckPoRepPartition(t.Context(), st, 0, c.Partitions[0]); !errors.As(err, &e) || e.Challenge != 1 {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestOneBitOfASealStatement(t *testing.T) {
	f := readFixture(t, "2KiB", "porep")
	c := f.c1(t)
	for name, change := range map[string]func(*SealStatement){
		"proof":  func(st *SealStatement) { st.Proof = 0 },
		"miner":  func(st *SealStatement) { st.Miner++ },
		"sector": func(st *SealStatement) { st.Sector++ },
		"comm_r": func(st *SealStatement) { st.CommR[0] ^= 1 },
		"comm_d": func(st *SealStatement) { st.CommD[0] ^= 1 },
		"ticket": func(st *SealStatement) { st.Ticket[0] ^= 1 },
		"seed":   func(st *SealStatement) { st.Seed[0] ^= 1 },
	} {
		st := f.seal(t)
		change(st)
		var e *CheckError
		if err := CheckSealCommit(st, c); !errors.As(err, &e) {
			t.Errorf("%s: header: %v", name, err)
		}
		if err := CheckPoRepPartition(t.Context(), st, 0, c.Partitions[0]); !errors.As(err, &e) {
			t.Errorf("%s: partition: %v", name, err)
		}
	}
	st := f.seal(t)
	c.Wrapper = &C1Wrapper{SectorNum: st.Sector + 1, SectorSize: st.Proof.Size()}
	if err := CheckSealCommit(st, c); err == nil {
		t.Error("a wrapper of another sector passes")
	}
}

func TestOneBitOfAPoSt(t *testing.T) {
	for _, name := range postFixtures[2:] {
		f := readFixture(t, name[0], name[1])
		st := f.post(t)
		per := st.Proof.SectorsPerPartition()
		last := len(f.Sectors) - 1
		p, err := DecodePoStSectorProof(f.file(t, f.Sectors[last].VanillaFile), st.Proof)
		if err != nil {
			t.Fatal(err)
		}
		check := func() error { return CheckPoStSector(context.Background(), st, last/per, last%per, p) }
		rapid.Check(t, func(t *rapid.T) {
			i := rapid.IntRange(-1, len(p.Paths)-1).Draw(t, "challenge")
			nodes := []*Node{&p.CommR, &p.CommC, &p.CommRLast}
			if i >= 0 {
				nodes = nodesOf(&p.Paths[i])
			}
			flip(t, nodes, func() { wantCheck(t, check(), st.Proof.Kind(), f.Sectors[last].Sector, last/per, i) })
		})
		var e *CheckError
		p.Paths[1].Elements[0].Index ^= 1
		if err := check(); !errors.As(err, &e) || e.Challenge != 1 {
			t.Errorf("%s: changed position: %v", name, err)
		}
		p.Paths[1].Elements[0].Index ^= 1
		p.SectorID++
		if err := check(); !errors.As(err, &e) || e.Challenge != -1 {
			t.Errorf("%s: changed sector: %v", name, err)
		}
	}
}

func TestOneBitOfAnUpdate(t *testing.T) {
	for _, name := range updateFixtures {
		f := readFixture(t, name[0], name[1])
		st := f.update(t)
		k := len(f.VanillaFiles) - 1
		p, err := DecodeUpdateProof(f.file(t, f.VanillaFiles[k]), st.Proof)
		if err != nil {
			t.Fatal(err)
		}
		check := func() error { return CheckUpdatePartition(context.Background(), st, k, p) }
		rapid.Check(t, func(t *rapid.T) {
			i := rapid.IntRange(0, len(p.Challenges)-1).Draw(t, "challenge")
			c := &p.Challenges[i]
			flip(t, append(append(nodesOf(&c.ROld), nodesOf(&c.DNew)...), nodesOf(&c.RNew)...), func() {
				wantCheck(t, check(), Update, 0, k, i)
			})
		})
		rapid.Check(t, func(t *rapid.T) {
			flip(t, append(pointers(p.ApexLeaves), &p.CommC), func() {
				var e *CheckError
				if err := check(); !errors.As(err, &e) {
					t.Fatalf("one bit changed, and the check says %v", err)
				}
			})
		})
		for _, n := range []*Node{&st.CommROld, &st.CommRNew, &st.CommDNew} {
			n[0] ^= 1
			var e *CheckError
			if err := check(); !errors.As(err, &e) {
				t.Errorf("%s: one bit of the statement changed, and the check says %v", name, err)
			}
			n[0] ^= 1
		}
	}
}

func TestChecksStopWithTheirContext(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	f := readFixture(t, "2KiB", "porep")
	if err := CheckPoRepPartition(ctx, f.seal(t), 0, f.c1(t).Partitions[0]); !errors.Is(err, context.Canceled) {
		t.Errorf("PoRep: %v", err)
	}
	f = readFixture(t, "2KiB", "winning")
	p, err := DecodePoStSectorProof(f.file(t, f.Sectors[0].VanillaFile), f.post(t).Proof)
	if err != nil {
		t.Fatal(err)
	}
	if err := CheckPoStSector(ctx, f.post(t), 0, 0, p); !errors.Is(err, context.Canceled) {
		t.Errorf("PoSt: %v", err)
	}
	f = readFixture(t, "2KiB", "update")
	u, err := DecodeUpdateProof(f.file(t, f.VanillaFiles[0]), f.update(t).Proof)
	if err != nil {
		t.Fatal(err)
	}
	if err := CheckUpdatePartition(ctx, f.update(t), 0, u); !errors.Is(err, context.Canceled) {
		t.Errorf("update: %v", err)
	}
}
