package sample

import (
	"context"
	"fmt"
	"math/bits"

	"github.com/consensys/gnark-crypto/ecc/bls12-381/fr"

	"github.com/proofmill/proofmill/pkg/filecoin"
)

// Update makes a sample of a sector update with the vanilla proofs of all its partitions. Its challenges depend on
// comm_r_new, so that all three trees are regular. It takes about 15,000 Poseidon hashes at 32 GiB. It is an error for an
// unknown proof and where ctx ends.
func Update(ctx context.Context, proof filecoin.RegisteredUpdateProof, o Options) (*Sample, error) {
	if !proof.Valid() {
		return nil, fmt.Errorf("sample: registered update proof %d is unknown", uint64(proof))
	}
	o = o.withDefaults()
	u, err := newUpdate(proof, newSource(o.Seed, "update "+proof.String(), o.Sector))
	if err != nil {
		return nil, fmt.Errorf("sample of update %s: %w", proof, err)
	}
	s := &Sample{Kind: filecoin.Update, Size: proof.Size(), Update: u.st, Partitions: make([]filecoin.UpdateProof, u.st.Partitions())}
	for k := range s.Partitions {
		if err := ctx.Err(); err != nil {
			return nil, fmt.Errorf("sample of update %s: %w", proof, err)
		}
		challenges, err := u.st.Challenges(k)
		if err != nil {
			return nil, err
		}
		s.Partitions[k] = u.partition(k, challenges)
	}
	return s, nil
}

// update is a sector's old replica, new data and new replica.
type update struct {
	st                 *filecoin.UpdateStatement
	commC              filecoin.Node
	arities, aritiesD  []int
	oldR, newD, newR   *regularTree
	apexLevel, apexLen int // level and number of the nodes of tree D that are a partition's apex leaves
}

func newUpdate(proof filecoin.RegisteredUpdateProof, src source) (*update, error) {
	size := proof.Size()
	h, levels := size.UpdateH(), size.Levels()
	u := &update{
		st: &filecoin.UpdateStatement{Proof: proof}, commC: src.node(useCommC, 0, 0),
		arities: size.Shape().Arities(size), aritiesD: binaryArities(levels), apexLen: size.ApexLeaves(),
	}
	u.apexLevel = levels - bits.TrailingZeros(uint(size.UpdatePartitions()*u.apexLen))
	old := func(region, low uint64) filecoin.Node { return src.node(useReplica, 0, region<<regularBits|low) }
	data := func(region, low uint64) filecoin.Node { return src.node(useData, 0, region<<regularBits|low) }
	u.oldR = newRegularTree(u.arities, h, old, parent)
	u.newD = newRegularTree(u.aritiesD, h, data, parentD)
	u.st.CommROld = parent(u.commC, root(u.oldR, u.arities))
	u.st.CommDNew = root(u.newD, u.aritiesD)
	phi, err := u.st.Phi()
	if err != nil {
		return nil, err
	}
	rhos := make([]fr.Element, 1<<h)
	for region := range rhos {
		rhos[region] = u.st.Rho(phi, uint64(region)<<(levels-h))
	}
	u.newR = newRegularTree(u.arities, h, func(region, low uint64) filecoin.Node {
		o, d := element(old(region, low)), element(data(region, low))
		o.Add(&o, d.Mul(&d, &rhos[region]))
		return filecoin.NodeOf(&o)
	}, parent)
	u.st.CommRNew = parent(u.commC, root(u.newR, u.arities))
	return u, nil
}

// partition is the vanilla proof of partition k.
func (u *update) partition(k int, challenges []uint64) filecoin.UpdateProof {
	p := filecoin.UpdateProof{
		CommC: u.commC, ApexLeaves: make([]filecoin.Node, u.apexLen), Challenges: make([]filecoin.UpdateChallenge, len(challenges)),
	}
	for i := range p.ApexLeaves {
		p.ApexLeaves[i] = u.newD.node(u.apexLevel, uint64(k*u.apexLen+i)) //nolint:gosec // not negative
	}
	for i, c := range challenges {
		p.Challenges[i] = filecoin.UpdateChallenge{
			ROld: open(u.oldR, u.arities, c), DNew: open(u.newD, u.aritiesD, c), RNew: open(u.newR, u.arities, c),
		}
	}
	return p
}
