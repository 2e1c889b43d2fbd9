package filecoin

import "encoding/binary"

// EncodePoStSectorProof writes p as DecodePoStSectorProof reads it. It is an error where p has not the proof's shape.
func EncodePoStSectorProof(p *PoStSectorProof, proof RegisteredPoStProof) ([]byte, error) {
	if !proof.Valid() {
		return nil, impossible("registered PoSt proof %d is unknown", uint64(proof))
	}
	form := newTreePath(proof.Size().Shape(), proof.Size())
	if len(p.Paths) != proof.Challenges() {
		return nil, malformed("%d paths where %s has %d", len(p.Paths), proof, proof.Challenges())
	}
	out := make([]byte, 0, postSectorSize(&form, len(p.Paths)))
	out = binary.LittleEndian.AppendUint64(out, p.SectorID)
	out = append(out, p.CommR[:]...)
	out = appendLength(out, 1)
	out = appendLength(out, len(p.Paths))
	for i := range p.Paths {
		var err error
		if out, err = appendPath(out, &p.Paths[i], &form); err != nil {
			return nil, err
		}
	}
	out = append(out, p.CommC[:]...)
	return append(out, p.CommRLast[:]...), nil
}

// EncodeUpdateProof writes p as DecodeUpdateProof reads it. It is an error where p has not the proof's shape.
func EncodeUpdateProof(p *UpdateProof, proof RegisteredUpdateProof) ([]byte, error) {
	if !proof.Valid() {
		return nil, impossible("registered update proof %d is unknown", uint64(proof))
	}
	size := proof.Size()
	if len(p.ApexLeaves) != size.ApexLeaves() || len(p.Challenges) != size.UpdateChallenges() {
		return nil, malformed("%d apex leaves and %d challenges where %s has %d and %d",
			len(p.ApexLeaves), len(p.Challenges), proof, size.ApexLeaves(), size.UpdateChallenges())
	}
	formR, formD := newTreePath(size.Shape(), size), newTreePath(BinaryTree, size)
	out := make([]byte, 0, updateSize(&formR, &formD, size))
	out = append(out, p.CommC[:]...)
	out = appendLength(out, len(p.ApexLeaves))
	for i := range p.ApexLeaves {
		out = append(out, p.ApexLeaves[i][:]...)
	}
	out = appendLength(out, len(p.Challenges))
	for i := range p.Challenges {
		c := &p.Challenges[i]
		for _, path := range [...]struct {
			path *MerklePath
			form *treePath
		}{{&c.ROld, &formR}, {&c.DNew, &formD}, {&c.RNew, &formR}} {
			var err error
			if out, err = appendPath(out, path.path, path.form); err != nil {
				return nil, err
			}
		}
	}
	return out, nil
}

func appendLength(out []byte, n int) []byte {
	return binary.LittleEndian.AppendUint64(out, uint64(n)) //nolint:gosec // a length is not negative
}

func appendPath(out []byte, p *MerklePath, form *treePath) ([]byte, error) {
	if err := p.hasForm(form); err != nil {
		return nil, err
	}
	out = binary.LittleEndian.AppendUint32(out, form.variant())
	if form.variant() == 0 {
		out = append(append(out, p.Root[:]...), p.Leaf[:]...)
	}
	level := 0
	for _, part := range form.parts {
		out = appendLength(out, len(part))
		for range part {
			e := &p.Elements[level]
			level++
			out = appendLength(out, len(e.Siblings))
			for i := range e.Siblings {
				out = append(out, e.Siblings[i][:]...)
			}
			out = binary.LittleEndian.AppendUint64(out, uint64(e.Index))
		}
	}
	if form.variant() != 0 {
		out = append(append(out, p.Root[:]...), p.Leaf[:]...)
	}
	return out, nil
}

// hasForm is an error where the path's levels are not those of its tree.
func (p *MerklePath) hasForm(form *treePath) error {
	if len(p.Elements) != len(form.arities) {
		return malformed("a path of %d levels where tree %s has %d", len(p.Elements), form.shape, len(form.arities))
	}
	for i, arity := range form.arities {
		e := &p.Elements[i]
		if len(e.Siblings) != arity-1 {
			return malformed("level %d of a path has %d siblings where tree %s has %d", i, len(e.Siblings), form.shape, arity-1)
		}
		if e.Index >= uint32(arity) { //nolint:gosec // arities are small
			return malformed("level %d of a path has position %d in arity %d", i, e.Index, arity)
		}
	}
	return nil
}
