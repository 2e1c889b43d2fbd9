package filecoin

// Degrees of the stacked graph: each node has DRGDegree parents in its own layer and ExpDegree parents in the layer
// before; a label hashes LabelParents of them, repeated.
const (
	DRGDegree    = 6
	ExpDegree    = 8
	LabelParents = 37
)

// Challenges of PoSt: a winning proof asks one sector WinningChallenges times, a window proof each sector
// WindowChallenges times.
const (
	WinningChallenges = 66
	WindowChallenges  = 10
)

func (s SectorSize) production() bool { return s == Size32GiB || s == Size64GiB }

// Layers is the number of layers of a replica.
func (s SectorSize) Layers() int {
	if s.production() {
		return 11
	}
	return 2
}

// PoRepChallenges is the number of challenges of each partition of a PoRep, interactive or not.
func (s SectorSize) PoRepChallenges() int {
	if s.production() {
		return 18
	}
	return 2
}

// WindowSectors is the number of sectors of a WindowPoSt partition.
func (s SectorSize) WindowSectors() int {
	switch s {
	case Size32GiB:
		return 2349
	case Size64GiB:
		return 2300
	default:
		return 2
	}
}

// UpdatePartitions is the number of partitions of an update proof.
func (s SectorSize) UpdatePartitions() int {
	switch {
	case s <= 8<<10:
		return 1
	case s <= Size32KiB:
		return 2
	case s <= Size16MiB:
		return 4
	}
	return 16
}

// UpdateChallenges is the number of challenges of a partition of an update proof.
func (s SectorSize) UpdateChallenges() int {
	if s <= Size16MiB {
		return 10
	}
	return 86
}

// ApexLeaves is the number of leaves of the apex tree of an update partition: the nodes of tree D that a partition's
// challenged paths pass through.
func (s SectorSize) ApexLeaves() int {
	if s <= 8<<10 {
		return 8
	}
	return 128
}

// UpdateHs are the numbers of high challenge bits that the update circuit can select a rho by.
func (s SectorSize) UpdateHs() [6]int {
	if s <= Size32KiB {
		return [6]int{1, 1, 1, 1, 1, 1}
	}
	return [6]int{7, 8, 9, 10, 11, 12}
}

// UpdateH is the number of high bits of a challenge that choose its rho; the reference uses the fourth of the six that
// the circuit knows.
func (s SectorSize) UpdateH() int { return s.UpdateHs()[3] }

// UpdateHSelect is the public input that tells the circuit which of the six numbers of high bits is used: one bit, at
// the first place where the number occurs.
func (s SectorSize) UpdateHSelect() uint64 {
	for i, h := range s.UpdateHs() {
		if h == s.UpdateH() {
			return 1 << i
		}
	}
	return 0
}

// Partitions is the number of partitions of a seal proof.
func (p RegisteredSealProof) Partitions() int {
	switch {
	case p.Variant() == SealNonInteractive && p.Size().production():
		return 126
	case p.Variant() == SealNonInteractive:
		return 13
	case p.Size().production():
		return 10
	}
	return 1
}

// SectorsPerPartition is the number of sectors of one proof: 1 for Winning, WindowSectors of the size for Window.
func (p RegisteredPoStProof) SectorsPerPartition() int {
	if p.Kind() == Window {
		return p.Size().WindowSectors()
	}
	return 1
}

// Challenges is the number of challenges of a sector.
func (p RegisteredPoStProof) Challenges() int {
	if p.Kind() == Window {
		return WindowChallenges
	}
	return WinningChallenges
}
