package filecoin

import (
	"encoding/base64"
	"strconv"
)

// EncodeC1 writes c as the JSON of a bare C1 output, as serde writes it. It is an error where c has not the shape of its
// registered proof.
func EncodeC1(c *SealCommit) ([]byte, error) {
	if !c.Proof.Valid() {
		return nil, impossible("registered seal proof %d is unknown", uint64(c.Proof))
	}
	if err := c.checkShape(); err != nil {
		return nil, err
	}
	size := c.Proof.Size()
	w := &c1Writer{formR: newTreePath(size.Shape(), size), formD: newTreePath(BinaryTree, size)}
	w.raw(`{"registered_proof":"`, c.Proof.String(), `","vanilla_proofs":{"`, vanillaName(size), `":[`)
	for k, partition := range c.Partitions {
		w.comma(k)
		w.raw("[")
		for i := range partition {
			w.comma(i)
			w.challenge(&partition[i])
		}
		w.raw("]")
	}
	w.raw("]}")
	for _, f := range []struct {
		name string
		node Node
	}{{nameCommR, c.CommR}, {nameCommD, c.CommD}, {nameReplicaID, c.ReplicaID}, {nameSeed, c.Seed}, {nameTicket, c.Ticket}} {
		w.raw(`,"`, f.name, `":`)
		w.node(&f.node)
	}
	w.raw("}")
	return w.out, nil
}

// EncodeC1Wrapper puts a bare C1 output into Curio's wrapper.
func EncodeC1Wrapper(c1 []byte, wrapper C1Wrapper) []byte {
	out := make([]byte, 0, base64.StdEncoding.EncodedLen(len(c1))+96)
	out = append(out, `{"SectorNum":`...)
	out = strconv.AppendUint(out, wrapper.SectorNum, 10)
	out = append(out, `,"Phase1Out":"`...)
	out = base64.StdEncoding.AppendEncode(out, c1)
	out = append(out, `","SectorSize":`...)
	out = strconv.AppendUint(out, uint64(wrapper.SectorSize), 10)
	return append(out, '}')
}

type c1Writer struct {
	out          []byte
	formR, formD treePath
}

func (w *c1Writer) raw(parts ...string) {
	for _, s := range parts {
		w.out = append(w.out, s...)
	}
}

func (w *c1Writer) comma(i int) {
	if i > 0 {
		w.out = append(w.out, ',')
	}
}

func (w *c1Writer) uint(v uint64) { w.out = strconv.AppendUint(w.out, v, 10) }

func (w *c1Writer) node(n *Node) {
	for i, b := range n {
		w.out = append(w.out, "[,"[min(i, 1)])
		w.uint(uint64(b))
	}
	w.raw("]")
}

func (w *c1Writer) nodes(nodes []Node) {
	w.raw("[")
	for i := range nodes {
		w.comma(i)
		w.node(&nodes[i])
	}
	w.raw("]")
}

func (w *c1Writer) challenge(c *PoRepChallenge) {
	w.raw(`{"comm_d_proofs":`)
	w.path(&c.CommD, &w.formD)
	w.raw(`,"comm_r_last_proof":`)
	w.path(&c.CommRLast, &w.formR)
	w.raw(`,"replica_column_proofs":{"c_x":`)
	w.column(&c.CX)
	w.raw(`,"drg_parents":`)
	w.columns(c.DRGParents)
	w.raw(`,"exp_parents":`)
	w.columns(c.ExpParents)
	w.raw(`},"labeling_proofs":[`)
	for i := range c.Labeling {
		w.comma(i)
		w.label(&c.Labeling[i])
	}
	w.raw(`],"encoding_proof":`)
	w.label(&c.Encoding)
	w.raw("}")
}

func (w *c1Writer) columns(columns []ColumnProof) {
	w.raw("[")
	for i := range columns {
		w.comma(i)
		w.column(&columns[i])
	}
	w.raw("]")
}

func (w *c1Writer) column(c *ColumnProof) {
	w.raw(`{"column":{"index":`)
	w.uint(uint64(c.Index))
	w.raw(`,"rows":`)
	w.nodes(c.Rows)
	w.raw(`,"_h":null},"inclusion_proof":`)
	w.path(&c.Path, &w.formR)
	w.raw("}")
}

func (w *c1Writer) label(p *LabelProof) {
	w.raw(`{"parents":`)
	w.nodes(p.Parents)
	w.raw(`,"layer_index":`)
	w.uint(uint64(p.Layer))
	w.raw(`,"node":`)
	w.uint(p.Node)
	w.raw("}")
}

// path writes a path in the form of its tree, in the reference's order of members.
func (w *c1Writer) path(p *MerklePath, form *treePath) {
	v := form.variant()
	w.raw(`{"data":{"`, [3]string{"Single", "Sub", "Top"}[v], `":{`)
	if v == 0 {
		w.ends(p)
		w.raw(`,"path":`)
		w.levels(p.Elements)
	} else {
		level := 0
		for i, part := range form.parts {
			w.comma(i)
			w.raw(`"`, [3]string{nameBase, nameSub, nameTop}[i], `":`)
			w.levels(p.Elements[level : level+len(part)])
			level += len(part)
		}
		w.raw(",")
		w.ends(p)
	}
	w.raw("}}}")
}

func (w *c1Writer) ends(p *MerklePath) {
	w.raw(`"root":`)
	w.node(&p.Root)
	w.raw(`,"leaf":`)
	w.node(&p.Leaf)
}

func (w *c1Writer) levels(levels []PathElement) {
	w.raw(`{"path":[`)
	for i := range levels {
		w.comma(i)
		w.raw(`{"hashes":`)
		w.nodes(levels[i].Siblings)
		w.raw(`,"index":`)
		w.uint(uint64(levels[i].Index))
		w.raw("}")
	}
	w.raw("]}")
}
