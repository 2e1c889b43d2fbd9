package filecoin

import (
	"context"
	"fmt"

	"github.com/consensys/gnark-crypto/ecc/bls12-381/fr"

	"github.com/proofmill/proofmill/pkg/poseidon"
)

// site is where a check is: what a CheckError names.
type site struct {
	kind      Kind
	sector    uint64
	partition int
	challenge int
}

func (s site) fail(format string, args ...any) error {
	return &CheckError{Kind: s.kind, Sector: s.sector, Partition: s.partition, Challenge: s.challenge, What: fmt.Sprintf(format, args...)}
}

// at is the same site at another challenge, -1 for all.
func (s site) at(challenge int) site {
	s.challenge = challenge
	return s
}

// proceed is an error once the caller has given up; asked before each challenge, that is every few milliseconds.
func proceed(ctx context.Context) error {
	if err := ctx.Err(); err != nil {
		return fmt.Errorf("vanilla proof: check stopped: %w", context.Cause(ctx))
	}
	return nil
}

// element is the node as a field element, or an error that names it.
func (s site) element(n *Node, what string) (fr.Element, error) {
	e, err := n.Element()
	if err != nil {
		return e, s.fail("%s: %s is not a field element", what, n)
	}
	return e, nil
}

// poseidonTree checks paths of one Poseidon tree. Paths of one partition share much of their upper levels, and most
// parents lie close to their child, so hashes already made are kept; a kept hash is used only where all its inputs are
// equal. Not for concurrent use.
type poseidonTree struct {
	arities []int
	known   map[place]*hashed
}

// place is a node of the tree: how many levels above the leaves, and its index there.
type place struct {
	level int
	index uint64
}

// hashed is a node with the children that it was made of.
type hashed struct {
	children [maxSiblings + 1]Node
	node     Node
}

func newPoseidonTree(size SectorSize) *poseidonTree {
	return &poseidonTree{arities: size.Shape().Arities(size), known: make(map[place]*hashed)}
}

// check is an error where the path does not belong to leaf number index or does not hash to its root. The path has the
// tree's form.
func (t *poseidonTree) check(s site, p *MerklePath, index uint64, what string) error {
	if got := p.Challenge(); got != index {
		return s.fail("%s: path of leaf %d where the challenge asks for leaf %d", what, got, index)
	}
	walked := p.Leaf
	if _, err := s.element(&walked, what+": leaf"); err != nil {
		return err
	}
	at := index
	for level := range p.Elements {
		e := &p.Elements[level]
		arity := len(e.Siblings) + 1
		at /= uint64(arity)
		var children [maxSiblings + 1]Node
		copy(children[:], e.Siblings[:e.Index])
		children[e.Index] = walked
		copy(children[e.Index+1:], e.Siblings[e.Index:])
		key := place{level + 1, at}
		entry := t.known[key]
		if entry == nil || entry.children != children {
			var err error
			if entry, err = hashChildren(s, children, arity, what, level); err != nil {
				return err
			}
			t.known[key] = entry
		}
		walked = entry.node
	}
	if walked != p.Root {
		return s.fail("%s: path hashes to %s, not to its root %s", what, walked, p.Root)
	}
	return nil
}

func hashChildren(s site, children [maxSiblings + 1]Node, arity int, what string, level int) (*hashed, error) {
	var preimage [maxSiblings + 1]fr.Element
	for i := range arity {
		var err error
		if preimage[i], err = s.element(&children[i], what); err != nil {
			return nil, s.fail("%s: level %d: node %d is not a field element", what, level, i)
		}
	}
	value := poseidon.For(arity).Hash(preimage[:arity])
	return &hashed{children: children, node: NodeOf(&value)}, nil
}

// checkPathD is an error where a path of tree D does not belong to leaf number index or does not hash to its root. visit,
// where it is not nil, sees each node of the way with its level, the leaf (level 0) included.
func checkPathD(s site, p *MerklePath, index uint64, what string, visit func(level int, n *Node)) error {
	if got := p.Challenge(); got != index {
		return s.fail("%s: path of leaf %d where the challenge asks for leaf %d", what, got, index)
	}
	if _, err := s.element(&p.Leaf, what+": leaf"); err != nil {
		return err
	}
	walked := p.Leaf
	for level := range p.Elements {
		if visit != nil {
			visit(level, &walked)
		}
		e := &p.Elements[level]
		if _, err := s.element(&e.Siblings[0], what); err != nil {
			return s.fail("%s: level %d: the sibling is not a field element", what, level)
		}
		if e.Index == 0 {
			walked = HashD(&walked, &e.Siblings[0])
		} else {
			walked = HashD(&e.Siblings[0], &walked)
		}
	}
	if walked != p.Root {
		return s.fail("%s: path hashes to %s, not to its root %s", what, walked, p.Root)
	}
	return nil
}

// checkCommR is an error where comm_r is not the Poseidon hash of comm_c and comm_r_last.
func checkCommR(s site, commR, commC, commRLast *Node, name string) error {
	c, err := s.element(commC, "comm_c")
	if err != nil {
		return err
	}
	last, err := s.element(commRLast, "comm_r_last")
	if err != nil {
		return err
	}
	sum := poseidon.For(2).Hash([]fr.Element{c, last})
	if got := NodeOf(&sum); got != *commR {
		return s.fail("comm_c and the root of tree R hash to %s, not to %s %s", got, name, commR)
	}
	return nil
}
