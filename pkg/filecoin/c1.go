package filecoin

import (
	"bytes"
	"encoding/base64"
)

// DefaultC1Bytes is the size of the largest C1 output that is read where no other limit is given: that of the largest
// message callers send.
const DefaultC1Bytes = 256 << 20

// Limits bound what a decoder accepts.
type Limits struct {
	MaxBytes int // size of the input; 0 means DefaultC1Bytes
}

// C1Wrapper is what Curio puts around a C1 output.
type C1Wrapper struct {
	SectorNum  uint64
	SectorSize SectorSize
}

// Names of members that more than one place reads or writes.
const (
	nameCommR     = "comm_r"
	nameCommD     = "comm_d"
	nameReplicaID = "replica_id"
	nameSeed      = "seed"
	nameTicket    = "ticket"
	nameBase      = "base_proof"
	nameSub       = "sub_proof"
	nameTop       = "top_proof"
)

// Bounds of every list of a C1 output, the largest that any registered proof has.
const (
	maxPartitions = 126
	maxChallenges = 18
	maxLayers     = 11
	maxLevels     = 31
	maxSiblings   = 7
)

// DecodeC1 reads the output of C1: filecoin-proofs-api's SealCommitPhase1Output in serde's JSON, either bare or in
// Curio's wrapper {"SectorNum", "Phase1Out" (base64), "SectorSize"}, of which Wrapper then tells. Members may come in any
// order; unknown, repeated and missing ones are errors. The result has the shape of its registered proof (the counts of
// partitions, challenges, rows, levels and siblings) and does not alias data.
//
// Memory is that of the result and a chunk: base64 is decoded on the way. Lists are bounded while they are read, so that
// no input makes more than a few times its size of memory. Errors wrap ErrMalformed.
func DecodeC1(data []byte, limits Limits) (*SealCommit, error) {
	limit := limits.MaxBytes
	if limit == 0 {
		limit = DefaultC1Bytes
	}
	if len(data) > limit {
		return nil, malformed("C1 output of %d bytes: at most %d are read", len(data), limit)
	}
	l := &jsonLexer{buf: data}
	out := &SealCommit{}
	d := &c1Decoder{l: l, out: out}
	if isWrapper(data) {
		d.wrapper()
	} else {
		d.output()
	}
	l.end()
	if l.err != nil {
		return nil, l.err
	}
	if w := out.Wrapper; w != nil && w.SectorSize != out.Proof.Size() {
		return nil, malformed("C1 wrapper: SectorSize %d contradicts %s", uint64(w.SectorSize), out.Proof)
	}
	if err := out.checkShape(); err != nil {
		return nil, err
	}
	return out, nil
}

// isWrapper looks at the first member's name.
func isWrapper(data []byte) bool {
	probe := jsonLexer{buf: data}
	probe.open('{')
	if !probe.more('}') {
		return false
	}
	switch string(probe.key()) {
	case "SectorNum", "Phase1Out", "SectorSize":
		return true
	}
	return false
}

// wrapper reads Curio's wrapper and the C1 output in it.
func (d *c1Decoder) wrapper() {
	l, w := d.l, &C1Wrapper{}
	d.out.Wrapper = w
	var seen members
	l.open('{')
	for l.more('}') {
		switch string(l.key()) {
		case "SectorNum":
			seen.add(l, 1)
			w.SectorNum = l.uint(1<<64 - 1)
		case "Phase1Out":
			seen.add(l, 2)
			d.base64()
		case "SectorSize":
			seen.add(l, 4)
			w.SectorSize = SectorSize(l.uint(1<<64 - 1))
		default:
			l.unknown("the C1 wrapper")
		}
	}
	seen.all(l, "SectorNum", "Phase1Out", "SectorSize")
}

// base64Chunk is how much base64 is decoded at a time; a multiple of 4.
const base64Chunk = 64 << 10

// base64 reads a C1 output in a base64 string, chunk by chunk.
func (d *c1Decoder) base64() {
	outer := d.l
	outer.expect('"')
	if outer.err != nil {
		return
	}
	end := bytes.IndexByte(outer.buf[outer.pos:], '"')
	if end < 0 {
		outer.failf("the input ends in Phase1Out")
		return
	}
	text := outer.buf[outer.pos : outer.pos+end]
	chunk := make([]byte, min(base64.StdEncoding.DecodedLen(len(text))+3, base64.StdEncoding.DecodedLen(base64Chunk)))
	inner := &jsonLexer{refill: func() ([]byte, error) {
		now := text[:min(base64Chunk, len(text))]
		n, err := base64.StdEncoding.Strict().Decode(chunk, now)
		rest := text[len(now):]
		if err != nil || len(rest) > 0 && n != base64.StdEncoding.DecodedLen(len(now)) {
			return nil, malformed("C1 wrapper: Phase1Out is not base64 within %d bytes of its end", len(text))
		}
		text = rest
		return chunk[:n], nil
	}}
	d.l = inner
	d.output()
	inner.end()
	d.l = outer
	outer.pos += end + 1
	if outer.err == nil {
		outer.err = inner.err
	}
}
