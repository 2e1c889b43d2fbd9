package filecoin

import "encoding/binary"

// Vanilla proofs of PoSt and SnapDeals are bincode 1.x: fixed-width little-endian integers, a 64-bit length before each
// sequence, a 32-bit number for the variant of an enum. The shape of a registered proof fixes every length, so the whole
// encoding has one possible size; that is asked first, and only then is memory taken.

// reader walks bincode whose size is already known to be right. The first mismatch stays as its error.
type reader struct {
	data []byte
	pos  int
	err  error
}

func (r *reader) take(n int) []byte {
	b := r.data[r.pos : r.pos+n]
	r.pos += n
	return b
}

func (r *reader) uint64() uint64 { return binary.LittleEndian.Uint64(r.take(8)) }
func (r *reader) uint32() uint32 { return binary.LittleEndian.Uint32(r.take(4)) }
func (r *reader) node(n *Node)   { copy(n[:], r.take(32)) }

func (r *reader) failf(format string, args ...any) {
	if r.err == nil {
		r.err = malformed("at byte %d: "+format, append([]any{r.pos}, args...)...)
	}
}

// length reads a sequence's length, which must be n.
func (r *reader) length(what string, n int) {
	if got := r.uint64(); got != uint64(n) { //nolint:gosec // a count of the shape
		r.pos -= 8
		r.failf("%d %s where the proof has %d", got, what, n)
		r.pos += 8
	}
}

// treePath is the form of all paths of a tree.
type treePath struct {
	shape   TreeShape
	arities []int   // of all levels
	parts   [][]int // the same, split into base tree, sub and top
}

func newTreePath(shape TreeShape, size SectorSize) treePath {
	t := treePath{shape: shape, arities: shape.Arities(size)}
	base := len(t.arities) - int(t.variant())
	t.parts = append(t.parts, t.arities[:base])
	for i := base; i < len(t.arities); i++ {
		t.parts = append(t.parts, t.arities[i:i+1])
	}
	return t
}

// variant is the number of the path's form in the reference's enum: Single, Sub or Top.
func (t *treePath) variant() uint32 {
	switch {
	case t.shape.Top > 0:
		return 2
	case t.shape.Sub > 0:
		return 1
	}
	return 0
}

// siblings is the number of siblings of a path.
func (t *treePath) siblings() int {
	n := 0
	for _, a := range t.arities {
		n += a - 1
	}
	return n
}

// size is the number of bytes of a path: variant, root and leaf, a length for each part, and for each level a length, its
// siblings and a position.
func (t *treePath) size() int {
	return 4 + 64 + 8*(1+int(t.variant())) + 16*len(t.arities) + NodeSize*t.siblings()
}

// pool hands out nodes and path elements of two allocations.
type pool struct {
	nodes    []Node
	elements []PathElement
}

func newPool(paths int, forms ...*treePath) *pool {
	nodes, elements := 0, 0
	for _, f := range forms {
		nodes += paths * f.siblings()
		elements += paths * len(f.arities)
	}
	return &pool{nodes: make([]Node, nodes), elements: make([]PathElement, elements)}
}

func (p *pool) takeNodes(n int) []Node {
	out := p.nodes[:n:n]
	p.nodes = p.nodes[n:]
	return out
}

func (p *pool) takeElements(n int) []PathElement {
	out := p.elements[:n:n]
	p.elements = p.elements[n:]
	return out
}

// path reads a Merkle proof. The reference writes root and leaf before the levels in the Single form, after them in the
// others.
func (r *reader) path(p *MerklePath, form *treePath, pool *pool) {
	if v := r.uint32(); v != form.variant() {
		r.failf("a Merkle proof of form %d where tree %s has form %d", v, form.shape, form.variant())
	}
	if form.variant() == 0 {
		r.node(&p.Root)
		r.node(&p.Leaf)
	}
	p.Elements = pool.takeElements(len(form.arities))
	level := 0
	for _, part := range form.parts {
		r.length("levels of a path", len(part))
		for _, arity := range part {
			e := &p.Elements[level]
			level++
			r.length("siblings of a path's level", arity-1)
			e.Siblings = pool.takeNodes(arity - 1)
			for i := range e.Siblings {
				r.node(&e.Siblings[i])
			}
			index := r.uint64()
			if index >= uint64(arity) { //nolint:gosec // arities are positive
				r.failf("position %d in a level of arity %d", index, arity)
				index = 0
			}
			e.Index = uint32(index)
		}
	}
	if form.variant() != 0 {
		r.node(&p.Root)
		r.node(&p.Leaf)
	}
}

// DecodePoStSectorProof reads the bincode vanilla proof of one sector for a registered proof, a FallbackPoStSectorProof of
// the reference. Memory is taken only once the number of bytes is that of the proof's shape. The result does not alias
// data. Errors wrap ErrMalformed, or ErrStatement for an unknown proof.
func DecodePoStSectorProof(data []byte, proof RegisteredPoStProof) (*PoStSectorProof, error) {
	if !proof.Valid() {
		return nil, impossible("registered PoSt proof %d is unknown", uint64(proof))
	}
	form := newTreePath(proof.Size().Shape(), proof.Size())
	paths := proof.Challenges()
	if err := rightSize(data, postSectorSize(&form, paths), proof); err != nil {
		return nil, err
	}
	r := &reader{data: data}
	out := &PoStSectorProof{SectorID: r.uint64(), Paths: make([]MerklePath, paths)}
	r.node(&out.CommR)
	r.length("sectors", 1)
	r.length("paths", paths)
	pool := newPool(paths, &form)
	for i := range out.Paths {
		r.path(&out.Paths[i], &form, pool)
	}
	r.node(&out.CommC)
	r.node(&out.CommRLast)
	return done(out, r, proof)
}

func postSectorSize(form *treePath, paths int) int { return 8 + 32 + 8 + 8 + paths*form.size() + 64 }

// DecodeUpdateProof reads the bincode vanilla proof of one partition for a registered proof, a PartitionProof of the
// reference. Memory, aliasing and errors are as for DecodePoStSectorProof.
func DecodeUpdateProof(data []byte, proof RegisteredUpdateProof) (*UpdateProof, error) {
	if !proof.Valid() {
		return nil, impossible("registered update proof %d is unknown", uint64(proof))
	}
	size := proof.Size()
	formR, formD := newTreePath(size.Shape(), size), newTreePath(BinaryTree, size)
	if err := rightSize(data, updateSize(&formR, &formD, size), proof); err != nil {
		return nil, err
	}
	r := &reader{data: data}
	out := &UpdateProof{ApexLeaves: make([]Node, size.ApexLeaves()), Challenges: make([]UpdateChallenge, size.UpdateChallenges())}
	r.node(&out.CommC)
	r.length("apex leaves", len(out.ApexLeaves))
	for i := range out.ApexLeaves {
		r.node(&out.ApexLeaves[i])
	}
	r.length("challenges", len(out.Challenges))
	pool := newPool(len(out.Challenges), &formR, &formD, &formR)
	for i := range out.Challenges {
		c := &out.Challenges[i]
		r.path(&c.ROld, &formR, pool)
		r.path(&c.DNew, &formD, pool)
		r.path(&c.RNew, &formR, pool)
	}
	return done(out, r, proof)
}

func updateSize(formR, formD *treePath, size SectorSize) int {
	return 32 + 8 + NodeSize*size.ApexLeaves() + 8 + size.UpdateChallenges()*(2*formR.size()+formD.size())
}

// registered is what errors name of a proof.
type registered interface{ String() string }

func rightSize(data []byte, want int, proof registered) error {
	switch {
	case len(data) < want:
		return malformed("vanilla proof of %s: %d bytes where %d are needed: it is truncated, or of another proof", proof, len(data), want)
	case len(data) > want:
		return malformed("vanilla proof of %s: %d bytes where %d are needed: bytes are left over, or it is of another proof", proof, len(data), want)
	}
	return nil
}

func done[T any](out *T, r *reader, proof registered) (*T, error) {
	if r.err != nil {
		return nil, &decodeError{proof: proof.String(), err: r.err}
	}
	return out, nil
}

// decodeError says of which proof the malformed bytes were to be.
type decodeError struct {
	proof string
	err   error
}

func (e *decodeError) Error() string { return "vanilla proof of " + e.proof + ": " + e.err.Error() }
func (e *decodeError) Unwrap() error { return e.err }
