package witness

// CopyInstance makes instance to of a block equal to instance from: its inputs and its streams.
func (w *Witness) CopyInstance(block, to, from int) {
	words, elements := w.streams(block, to)
	srcWords, srcElements := w.streams(block, from)
	copy(words, srcWords)
	copy(elements, srcElements)
	b := &w.System.Blocks[block]
	inputs := w.Inputs[b.InputStart:]
	copy(inputs[to*b.InputStride:][:b.InputStride], inputs[from*b.InputStride:][:b.InputStride])
}
