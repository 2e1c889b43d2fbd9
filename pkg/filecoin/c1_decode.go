package filecoin

import "strings"

// c1Decoder fills a SealCommit. Nodes and path elements are carved from slabs, so that a sector of 32 GiB takes some
// hundreds of allocations instead of half a million; all of them live as long as any.
type c1Decoder struct {
	l        *jsonLexer
	out      *SealCommit
	nodeSlab []Node
	pathSlab []PathElement
}

const (
	nodeSlabSize = 4096
	pathSlabSize = 1024
)

// output reads a SealCommitPhase1Output.
func (d *c1Decoder) output() {
	l, c := d.l, d.out
	var seen members
	var name, proofs string
	l.open('{')
	for l.more('}') {
		switch string(l.key()) {
		case "registered_proof":
			seen.add(l, 1)
			name = string(l.text())
		case "vanilla_proofs":
			seen.add(l, 2)
			proofs = d.vanillaProofs()
		case nameCommR:
			seen.add(l, 4)
			l.bytes32((*[32]byte)(&c.CommR))
		case nameCommD:
			seen.add(l, 8)
			l.bytes32((*[32]byte)(&c.CommD))
		case nameReplicaID:
			seen.add(l, 16)
			l.bytes32((*[32]byte)(&c.ReplicaID))
		case nameSeed:
			seen.add(l, 32)
			l.bytes32(&c.Seed)
		case nameTicket:
			seen.add(l, 64)
			l.bytes32(&c.Ticket)
		default:
			l.unknown("the output of C1")
		}
	}
	seen.all(l, "registered_proof", "vanilla_proofs", nameCommR, nameCommD, nameReplicaID, nameSeed, nameTicket)
	if l.err != nil {
		return
	}
	var err error
	if c.Proof, err = ParseRegisteredSealProof(name); err != nil {
		l.failf("%v", err)
	} else if want := vanillaName(c.Proof.Size()); proofs != want {
		l.failf("vanilla proofs %q contradict %s: %s is needed", proofs, c.Proof, want)
	}
}

// vanillaName is the variant of the reference's enum of vanilla proofs: one for each size, whatever the proof's version.
func vanillaName(size SectorSize) string { return "StackedDrg" + size.String() + "V1" }

// vanillaProofs reads the enum of vanilla proofs, whose variant it returns.
func (d *c1Decoder) vanillaProofs() string {
	l := d.l
	l.open('{')
	if !l.more('}') {
		l.failf("an object ends without vanilla proofs")
		return ""
	}
	variant := string(l.key())
	if !strings.HasPrefix(variant, "StackedDrg") {
		l.unknown("the enum of vanilla proofs")
	}
	l.open('[')
	for l.more(']') {
		if len(d.out.Partitions) == maxPartitions {
			l.failf("more than %d partitions", maxPartitions)
			break
		}
		var partition []PoRepChallenge
		l.open('[')
		for l.more(']') {
			if len(partition) == maxChallenges {
				l.failf("more than %d challenges in a partition", maxChallenges)
				break
			}
			partition = append(partition, PoRepChallenge{})
			d.challenge(&partition[len(partition)-1])
		}
		d.out.Partitions = append(d.out.Partitions, partition)
	}
	l.expect('}')
	return variant
}

func (d *c1Decoder) challenge(c *PoRepChallenge) {
	l := d.l
	var seen members
	l.open('{')
	for l.more('}') {
		switch string(l.key()) {
		case "comm_d_proofs":
			seen.add(l, 1)
			d.path(&c.CommD)
		case "comm_r_last_proof":
			seen.add(l, 2)
			d.path(&c.CommRLast)
		case "replica_column_proofs":
			seen.add(l, 4)
			d.columns(c)
		case "labeling_proofs":
			seen.add(l, 8)
			c.Labeling = make([]LabelProof, 0, 2)
			l.open('[')
			for l.more(']') {
				if len(c.Labeling) == maxLayers {
					l.failf("more than %d labels of a challenge", maxLayers)
					break
				}
				c.Labeling = append(c.Labeling, LabelProof{})
				d.label(&c.Labeling[len(c.Labeling)-1])
			}
		case "encoding_proof":
			seen.add(l, 16)
			d.label(&c.Encoding)
		default:
			l.unknown("a challenge of a PoRep")
		}
	}
	seen.all(l, "comm_d_proofs", "comm_r_last_proof", "replica_column_proofs", "labeling_proofs", "encoding_proof")
	c.Challenge = uint64(c.CX.Index)
}

func (d *c1Decoder) columns(c *PoRepChallenge) {
	l := d.l
	var seen members
	l.open('{')
	for l.more('}') {
		switch string(l.key()) {
		case "c_x":
			seen.add(l, 1)
			d.column(&c.CX)
		case "drg_parents":
			seen.add(l, 2)
			c.DRGParents = d.columnList(DRGDegree)
		case "exp_parents":
			seen.add(l, 4)
			c.ExpParents = d.columnList(ExpDegree)
		default:
			l.unknown("an object of column proofs")
		}
	}
	seen.all(l, "c_x", "drg_parents", "exp_parents")
}

func (d *c1Decoder) columnList(most int) []ColumnProof {
	l := d.l
	out := make([]ColumnProof, 0, most)
	l.open('[')
	for l.more(']') {
		if len(out) == most {
			l.failf("more than %d parents", most)
			break
		}
		out = append(out, ColumnProof{})
		d.column(&out[len(out)-1])
	}
	return out
}

func (d *c1Decoder) column(c *ColumnProof) {
	l := d.l
	var seen members
	l.open('{')
	for l.more('}') {
		switch string(l.key()) {
		case "column":
			seen.add(l, 1)
			d.columnRows(c)
		case "inclusion_proof":
			seen.add(l, 2)
			d.path(&c.Path)
		default:
			l.unknown("a column proof")
		}
	}
	seen.all(l, "column", "inclusion_proof")
}

func (d *c1Decoder) columnRows(c *ColumnProof) {
	l := d.l
	var seen members
	l.open('{')
	for l.more('}') {
		switch string(l.key()) {
		case "index":
			seen.add(l, 1)
			c.Index = uint32(l.uint(1<<32 - 1)) //nolint:gosec // bounded by the lexer
		case "rows":
			seen.add(l, 2)
			c.Rows = d.nodes(maxLayers, "rows of a column")
		case "_h": // a marker without a value
			l.null()
		default:
			l.unknown("a column")
		}
	}
	seen.all(l, "index", "rows")
}

// label reads a labeling or an encoding proof; the two have one form.
func (d *c1Decoder) label(p *LabelProof) {
	l := d.l
	var seen members
	l.open('{')
	for l.more('}') {
		switch string(l.key()) {
		case "parents":
			seen.add(l, 1)
			p.Parents = d.nodes(LabelParents, "parents of a label")
		case "layer_index":
			seen.add(l, 2)
			p.Layer = uint32(l.uint(1<<32 - 1)) //nolint:gosec // bounded by the lexer
		case "node":
			seen.add(l, 4)
			p.Node = l.uint(1<<64 - 1)
		default:
			l.unknown("a labeling proof")
		}
	}
	seen.all(l, "parents", "layer_index", "node")
}

// nodes reads a list of nodes into the slab.
func (d *c1Decoder) nodes(most int, what string) []Node {
	l := d.l
	if len(d.nodeSlab) < most {
		d.nodeSlab = make([]Node, nodeSlabSize)
	}
	n := 0
	l.open('[')
	for l.more(']') {
		if n == most {
			l.failf("more than %d %s", most, what)
			return nil
		}
		l.bytes32((*[32]byte)(&d.nodeSlab[n]))
		n++
	}
	out := d.nodeSlab[:n:n]
	d.nodeSlab = d.nodeSlab[n:]
	return out
}
