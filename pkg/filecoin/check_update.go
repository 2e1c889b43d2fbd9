package filecoin

import (
	"context"
	"math/bits"

	"github.com/consensys/gnark-crypto/ecc/bls12-381/fr"
)

// CheckUpdatePartition checks the vanilla proof of partition k of a sector update: that its challenges are those of the
// statement, every path hashes to its root, the roots are those of one old and one new tree R with comm_r_old and
// comm_r_new = H(comm_c, root) and comm_d_new, the new replica is old replica plus data times rho, and the apex leaves are
// nodes of tree D. The first mismatch is a CheckError; the other errors are those of an impossible statement or an ended
// context. It may be called for several partitions at once.
func CheckUpdatePartition(ctx context.Context, st *UpdateStatement, k int, p *UpdateProof) error {
	if err := st.Validate(); err != nil {
		return err
	}
	if err := inRange(k, st.Partitions()); err != nil {
		return err
	}
	size := st.Proof.Size()
	s := site{kind: Update, partition: k, challenge: -1}
	expected, err := st.Challenges(k)
	if err != nil {
		return err
	}
	phi, err := st.Phi()
	if err != nil {
		return err
	}
	if len(p.Challenges) != len(expected) || len(p.ApexLeaves) != size.ApexLeaves() {
		return s.fail("%d challenges and %d apex leaves where %d and %d are needed",
			len(p.Challenges), len(p.ApexLeaves), len(expected), size.ApexLeaves())
	}
	formR, formD := newTreePath(size.Shape(), size), newTreePath(BinaryTree, size)
	c := &updateChecker{st: st, phi: phi, rhos: make(map[uint64]fr.Element), apex: apexTree(p.ApexLeaves),
		old: newPoseidonTree(size), new: newPoseidonTree(size), first: &p.Challenges[0]}
	for i := range p.Challenges {
		if err := proceed(ctx); err != nil {
			return err
		}
		challenge := &p.Challenges[i]
		for _, path := range [...]struct {
			name string
			path *MerklePath
			form *treePath
		}{{"r_old path", &challenge.ROld, &formR}, {"d_new path", &challenge.DNew, &formD}, {"r_new path", &challenge.RNew, &formR}} {
			if err := path.path.hasForm(path.form); err != nil {
				return s.at(i).fail("%s: %v", path.name, err)
			}
		}
		if err := c.challenge(s.at(i), challenge, expected[i]); err != nil {
			return err
		}
		if i == 0 {
			if err := checkCommR(s, &st.CommROld, &p.CommC, &challenge.ROld.Root, "comm_r_old"); err != nil {
				return err
			}
			if err := checkCommR(s, &st.CommRNew, &p.CommC, &challenge.RNew.Root, "comm_r_new"); err != nil {
				return err
			}
		}
	}
	return nil
}

type updateChecker struct {
	st       *UpdateStatement
	phi      fr.Element
	rhos     map[uint64]fr.Element // by the high bits of the node
	apex     [][]Node
	old, new *poseidonTree
	first    *UpdateChallenge // whose roots all others must share
}

func (c *updateChecker) challenge(s site, p *UpdateChallenge, node uint64) error {
	if err := c.old.check(s, &p.ROld, node, "r_old path"); err != nil {
		return err
	}
	if p.ROld.Root != c.first.ROld.Root {
		return s.fail("r_old path: root %s is not that of the first challenge", p.ROld.Root)
	}
	if err := c.data(s, &p.DNew, node); err != nil {
		return err
	}
	if err := c.new.check(s, &p.RNew, node, "r_new path"); err != nil {
		return err
	}
	if p.RNew.Root != c.first.RNew.Root {
		return s.fail("r_new path: root %s is not that of the first challenge", p.RNew.Root)
	}
	old, err := s.element(&p.ROld.Leaf, "old replica")
	if err != nil {
		return err
	}
	data, err := s.element(&p.DNew.Leaf, "new data")
	if err != nil {
		return err
	}
	rho := c.rho(node)
	data.Mul(&data, &rho).Add(&data, &old)
	if NodeOf(&data) != p.RNew.Leaf {
		return s.fail("encoding: the new replica's leaf is not old replica plus data times rho")
	}
	return nil
}

func (c *updateChecker) rho(node uint64) fr.Element {
	size := c.st.Proof.Size()
	high := node >> (size.Levels() - size.UpdateH())
	rho, ok := c.rhos[high]
	if !ok {
		rho = c.st.Rho(c.phi, node)
		c.rhos[high] = rho
	}
	return rho
}

// data checks the path in tree D, and that it passes through the apex tree's leaf and root.
func (c *updateChecker) data(s site, p *MerklePath, node uint64) error {
	size := c.st.Proof.Size()
	apexBits := len(c.apex) - 1
	rootLevel := size.Levels() - bits.TrailingZeros(uint(size.UpdatePartitions()))
	leafLevel := rootLevel - apexBits
	leaf := &c.apex[0][node>>leafLevel&(1<<apexBits-1)]
	var apex error
	visit := func(level int, n *Node) {
		switch {
		case apex != nil:
		case level == leafLevel && *n != *leaf:
			apex = s.fail("d_new path: its node in the row of apex leaves is %s, the apex leaf %s", n, leaf)
		case level == rootLevel && *n != c.apex[apexBits][0]:
			apex = s.fail("d_new path: its node above the apex leaves is %s, their root %s", n, c.apex[apexBits][0])
		}
	}
	if err := checkPathD(s, p, node, "d_new path", visit); err != nil {
		return err
	}
	if p.Root != c.st.CommDNew {
		return s.fail("d_new path: root %s is not comm_d_new", p.Root)
	}
	if rootLevel == size.Levels() {
		visit(rootLevel, &p.Root)
	}
	return apex
}

// apexTree is the rows of the tree above the apex leaves, themselves the first row, the root the last.
func apexTree(leaves []Node) [][]Node {
	rows := [][]Node{leaves}
	for row := leaves; len(row) > 1; {
		up := make([]Node, len(row)/2)
		for i := range up {
			up[i] = HashD(&row[2*i], &row[2*i+1])
		}
		rows = append(rows, up)
		row = up
	}
	return rows
}
