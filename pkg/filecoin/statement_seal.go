package filecoin

import "github.com/consensys/gnark-crypto/ecc/bls12-381/fr"

// SealStatement is what a PoRep proves: that Miner's sector holds data comm_d sealed as comm_r. Seed is the interactive
// challenge randomness; a non-interactive proof ignores it.
type SealStatement struct {
	Proof        RegisteredSealProof
	Miner        uint64 // actor id
	Sector       uint64 // sector number
	CommR, CommD Node
	Ticket, Seed [32]byte
}

// Validate tells whether the statement can be proved at all: a known proof, commitments that are field elements.
func (s *SealStatement) Validate() error {
	if !s.Proof.Valid() {
		return impossible("registered seal proof %d is unknown", uint64(s.Proof))
	}
	return canonical(named{nameCommR, s.CommR}, named{nameCommD, s.CommD})
}

// Partitions is the number of partition proofs.
func (s *SealStatement) Partitions() int { return s.Proof.Partitions() }

// ReplicaID is the replica id that the statement's fields fix.
func (s *SealStatement) ReplicaID() Node {
	return ReplicaID(ProverID(s.Miner), s.Sector, s.Ticket, s.CommD, s.Proof.PoRepID())
}

// Challenges are the challenged nodes of partition k.
func (s *SealStatement) Challenges(k int) []uint64 {
	return s.Proof.Domain().Challenges(s.ReplicaID(), s.CommR, s.Seed, k)
}

// PublicInputs are the public inputs of partition k in the circuit's order, without the constant one. It is an error for
// an impossible statement and for k out of range.
func (s *SealStatement) PublicInputs(k int) ([]fr.Element, error) {
	if err := s.Validate(); err != nil {
		return nil, err
	}
	if err := inRange(k, s.Partitions()); err != nil {
		return nil, err
	}
	return s.Proof.Domain().PublicInputs(s.ReplicaID(), s.CommD, s.CommR, s.Seed, k)
}

// PublicInputs are the public inputs of partition k of a PoRep in this domain, without the constant one: replica id,
// comm_d, comm_r, then for each challenge the leaf's path in tree D, the paths of its parents' columns, the challenge, and
// its paths in trees R and C. A path's positions fit one field element: the index of its leaf. It is an error where a
// value is no field element.
func (d PoRepDomain) PublicInputs(replicaID, commD, commR Node, seed [32]byte, k int) ([]fr.Element, error) {
	challenges := d.Challenges(replicaID, commR, seed, k)
	out := make([]fr.Element, 3, 3+len(challenges)*(4+DRGDegree+ExpDegree))
	for i, n := range [3]*Node{&replicaID, &commD, &commR} {
		e, err := n.Element()
		if err != nil {
			return nil, impossible("%s is not a field element", [3]string{"replica id", nameCommD, nameCommR}[i])
		}
		out[i] = e
	}
	graph := d.Graph()
	for _, c := range challenges {
		out = append(out, fr.NewElement(c))
		for _, p := range graph.DRGParents(c) {
			out = append(out, fr.NewElement(uint64(p)))
		}
		for _, p := range graph.ExpParents(c) {
			out = append(out, fr.NewElement(uint64(p)))
		}
		out = append(out, fr.NewElement(c), fr.NewElement(c), fr.NewElement(c))
	}
	return out, nil
}

type named struct {
	name string
	node Node
}

// canonical is an error for the first value that is not below the modulus.
func canonical(values ...named) error {
	for i := range values {
		if _, err := values[i].node.Element(); err != nil {
			return impossible("%s %s is not a field element (32 little-endian bytes below the BLS12-381 scalar modulus)",
				values[i].name, values[i].node)
		}
	}
	return nil
}

func inRange(k, partitions int) error {
	if k < 0 || k >= partitions {
		return impossible("partition %d does not exist: there are %d", k, partitions)
	}
	return nil
}

// Statement is the statement that a C1 output claims for a miner's sector. Whether it is that sector's, only its replica
// id tells: CheckSealCommit compares it.
func (c *SealCommit) Statement(miner, sector uint64) *SealStatement {
	return &SealStatement{Proof: c.Proof, Miner: miner, Sector: sector, CommR: c.CommR, CommD: c.CommD, Ticket: c.Ticket, Seed: c.Seed}
}
