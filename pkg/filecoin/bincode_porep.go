package filecoin

import "encoding/binary"

// One partition of a PoRep travels alone in the bincode that the reference's types have (a sequence of its vanilla proofs),
// a tenth of the C1 JSON of all and read in a fraction of the time. As for PoSt and SnapDeals, a registered proof fixes
// the one possible size.

// DecodePoRepPartition reads the bincode vanilla proof of one partition for a registered proof. Memory is taken only once
// the number of bytes is that of the proof's shape. The result does not alias data. Errors wrap ErrMalformed, or
// ErrStatement for an unknown proof.
func DecodePoRepPartition(data []byte, proof RegisteredSealProof) ([]PoRepChallenge, error) {
	if !proof.Valid() {
		return nil, impossible("registered seal proof %d is unknown", uint64(proof))
	}
	size := proof.Size()
	f := newPoRepForm(size)
	if err := rightSize(data, f.size(), proof); err != nil {
		return nil, err
	}
	r := &reader{data: data}
	out := make([]PoRepChallenge, size.PoRepChallenges())
	columns := make([]ColumnProof, len(out)*(DRGDegree+ExpDegree))
	labels := make([]LabelProof, len(out)*f.layers)
	pool := f.pool(len(out))
	r.length("challenges", len(out))
	for i := range out {
		c := &out[i]
		r.path(&c.CommD, &f.formD, pool)
		r.path(&c.CommRLast, &f.formR, pool)
		r.column(&c.CX, f, pool)
		c.DRGParents, columns = columns[:DRGDegree:DRGDegree], columns[DRGDegree:]
		c.ExpParents, columns = columns[:ExpDegree:ExpDegree], columns[ExpDegree:]
		for _, parents := range [...][]ColumnProof{c.DRGParents, c.ExpParents} {
			r.length("columns of parents", len(parents))
			for j := range parents {
				r.column(&parents[j], f, pool)
			}
		}
		c.Labeling, labels = labels[:f.layers:f.layers], labels[f.layers:]
		r.length("labels", f.layers)
		for j := range c.Labeling {
			r.label(&c.Labeling[j], pool)
		}
		r.label(&c.Encoding, pool)
		c.Challenge = uint64(c.CX.Index)
	}
	if r.err != nil {
		return nil, &decodeError{proof: proof.String(), err: r.err}
	}
	return out, nil
}

// EncodePoRepPartition writes a partition as DecodePoRepPartition reads it. It is an error where it has not the proof's
// shape.
func EncodePoRepPartition(partition []PoRepChallenge, proof RegisteredSealProof) ([]byte, error) {
	if !proof.Valid() {
		return nil, impossible("registered seal proof %d is unknown", uint64(proof))
	}
	size := proof.Size()
	f := newPoRepForm(size)
	if len(partition) != size.PoRepChallenges() {
		return nil, malformed("%d challenges where %s has %d", len(partition), proof, size.PoRepChallenges())
	}
	w := &porepWriter{out: make([]byte, 0, f.size()), form: f}
	w.out = appendLength(w.out, len(partition))
	for i := range partition {
		c := &partition[i]
		if err := c.checkShape(size, &f.formR, &f.formD); err != nil {
			return nil, err
		}
		w.path(&c.CommD, &f.formD)
		w.path(&c.CommRLast, &f.formR)
		w.column(&c.CX)
		for _, parents := range [...][]ColumnProof{c.DRGParents, c.ExpParents} {
			w.out = appendLength(w.out, len(parents))
			for j := range parents {
				w.column(&parents[j])
			}
		}
		w.out = appendLength(w.out, len(c.Labeling))
		for j := range c.Labeling {
			w.label(&c.Labeling[j])
		}
		w.label(&c.Encoding)
	}
	return w.out, w.err
}

// porepForm is the form of a partition's parts.
type porepForm struct {
	formR, formD       treePath
	layers, challenges int
}

func newPoRepForm(size SectorSize) *porepForm {
	return &porepForm{formR: newTreePath(size.Shape(), size), formD: newTreePath(BinaryTree, size),
		layers: size.Layers(), challenges: size.PoRepChallenges()}
}

const porepColumns = 1 + DRGDegree + ExpDegree

// size is the number of bytes of a partition.
func (f *porepForm) size() int {
	column := 4 + 8 + NodeSize*f.layers + f.formR.size()
	label := 8 + NodeSize*LabelParents + 4 + 8
	return 8 + f.challenges*(f.formD.size()+f.formR.size()+porepColumns*column+2*8+8+(f.layers+1)*label)
}

// pool has the nodes and path elements of n challenges.
func (f *porepForm) pool(n int) *pool {
	perNodes := f.formD.siblings() + (1+porepColumns)*f.formR.siblings() + porepColumns*f.layers + (f.layers+1)*LabelParents
	perElements := len(f.formD.arities) + (1+porepColumns)*len(f.formR.arities)
	return &pool{nodes: make([]Node, n*perNodes), elements: make([]PathElement, n*perElements)}
}

func (r *reader) nodes(what string, n int, pool *pool) []Node {
	r.length(what, n)
	out := pool.takeNodes(n)
	for i := range out {
		r.node(&out[i])
	}
	return out
}

func (r *reader) column(c *ColumnProof, f *porepForm, pool *pool) {
	c.Index = r.uint32()
	c.Rows = r.nodes("rows of a column", f.layers, pool)
	r.path(&c.Path, &f.formR, pool)
}

func (r *reader) label(p *LabelProof, pool *pool) {
	p.Parents = r.nodes("parents of a label", LabelParents, pool)
	p.Layer = r.uint32()
	p.Node = r.uint64()
}

// porepWriter writes parts whose shape was checked.
type porepWriter struct {
	out  []byte
	form *porepForm
	err  error
}

func (w *porepWriter) path(p *MerklePath, form *treePath) {
	if w.err == nil {
		w.out, w.err = appendPath(w.out, p, form)
	}
}

func (w *porepWriter) nodes(nodes []Node) {
	w.out = appendLength(w.out, len(nodes))
	for i := range nodes {
		w.out = append(w.out, nodes[i][:]...)
	}
}

func (w *porepWriter) column(c *ColumnProof) {
	w.out = binary.LittleEndian.AppendUint32(w.out, c.Index)
	w.nodes(c.Rows)
	w.path(&c.Path, &w.form.formR)
}

func (w *porepWriter) label(p *LabelProof) {
	w.nodes(p.Parents)
	w.out = binary.LittleEndian.AppendUint32(w.out, p.Layer)
	w.out = binary.LittleEndian.AppendUint64(w.out, p.Node)
}
