package filecoin

import "fmt"

// checkShape is an error where a count of the decoded output is not that of its registered proof. Afterwards no index
// into it can be out of range.
func (c *SealCommit) checkShape() error {
	size := c.Proof.Size()
	if got, want := len(c.Partitions), c.Proof.Partitions(); got != want {
		return malformed("C1 output: %d partitions where %s has %d", got, c.Proof, want)
	}
	formR, formD := newTreePath(size.Shape(), size), newTreePath(BinaryTree, size)
	for k, partition := range c.Partitions {
		if got, want := len(partition), size.PoRepChallenges(); got != want {
			return malformed("C1 output: %d challenges in partition %d where %s has %d", got, k, c.Proof, want)
		}
		for i := range partition {
			if err := partition[i].checkShape(size, &formR, &formD); err != nil {
				return fmt.Errorf("C1 output: partition %d, challenge %d: %w", k, i, err)
			}
		}
	}
	return nil
}

func (c *PoRepChallenge) checkShape(size SectorSize, formR, formD *treePath) error {
	if err := c.CommD.hasForm(formD); err != nil {
		return fmt.Errorf("comm_d path: %w", err)
	}
	if err := c.CommRLast.hasForm(formR); err != nil {
		return fmt.Errorf("comm_r_last path: %w", err)
	}
	if err := c.CX.checkShape(size, formR); err != nil {
		return fmt.Errorf("challenged column: %w", err)
	}
	if len(c.DRGParents) != DRGDegree || len(c.ExpParents) != ExpDegree {
		return malformed("%d and %d parents where %d and %d are needed", len(c.DRGParents), len(c.ExpParents), DRGDegree, ExpDegree)
	}
	for i := range c.DRGParents {
		if err := c.DRGParents[i].checkShape(size, formR); err != nil {
			return fmt.Errorf("column of DRG parent %d: %w", i, err)
		}
	}
	for i := range c.ExpParents {
		if err := c.ExpParents[i].checkShape(size, formR); err != nil {
			return fmt.Errorf("column of expander parent %d: %w", i, err)
		}
	}
	if len(c.Labeling) != size.Layers() {
		return malformed("%d labels where %d layers are needed", len(c.Labeling), size.Layers())
	}
	for i := range c.Labeling {
		if n := len(c.Labeling[i].Parents); n != LabelParents {
			return malformed("label of layer %d: %d parents where %d are needed", i+1, n, LabelParents)
		}
	}
	if n := len(c.Encoding.Parents); n != LabelParents {
		return malformed("encoding: %d parents where %d are needed", n, LabelParents)
	}
	return nil
}

func (c *ColumnProof) checkShape(size SectorSize, form *treePath) error {
	if len(c.Rows) != size.Layers() {
		return malformed("%d rows where %d layers are needed", len(c.Rows), size.Layers())
	}
	return c.Path.hasForm(form)
}
