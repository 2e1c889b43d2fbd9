package gpu

import (
	"context"
	"fmt"
	"unsafe"

	"github.com/consensys/gnark-crypto/ecc/bls12-381/fr"

	"github.com/proofmill/proofmill/pkg/r1cs"
	"github.com/proofmill/proofmill/pkg/witness"
)

// Circuit is a constraint system on a device: the matrices A and B, how witnesses expand, and which variable each point of a key belongs
// to. It is immutable and may be used by any number of goroutines.
type Circuit struct {
	d      *Device
	sys    *r1cs.System
	layout *witness.Layout
	domain *domain
	memory *buffer

	coefficients uintptr
	hashes       []cPoseidon
	blocks       []circuitBlock
	l, a, b      pointList
	dense        int // how many auxiliary variables may be other than zero and one
}

type circuitBlock struct {
	a, b cMatrix
	runs cRuns
}

// pointList is the variables of a section's points on the device; variables is 0 where point i is auxiliary variable i.
type pointList struct {
	count     int
	variables uintptr
}

// upload is an array that goes to the device, and where its address is wanted.
type upload struct {
	data   []byte
	offset int64
	addr   *uintptr
}

// uploads plans a circuit's arrays.
type uploads struct {
	arena
	list []upload
}

func put[T any](u *uploads, s []T, addr *uintptr) {
	data := bytesOf(s)
	u.list = append(u.list, upload{data, u.add(int64(len(data))), addr})
}

// NewCircuit brings a system to the device under a name for the ledger. It blocks until done or ctx ends. Close it after use.
func (d *Device) NewCircuit(ctx context.Context, name string, sys *r1cs.System) (*Circuit, error) {
	c := &Circuit{d: d, sys: sys, layout: witness.NewLayout(sys), dense: dense(sys)}
	if err := c.load(ctx, name); err != nil {
		c.Close()
		return nil, fmt.Errorf("circuit %s: %w", name, err)
	}
	return c, nil
}

func (c *Circuit) load(ctx context.Context, name string) (err error) {
	d, sys := c.d, c.sys
	if c.domain, err = d.takeDomain(logOf(sys.NumConstraints)); err != nil {
		return err
	}
	var u uploads
	put(&u, sys.Coeffs, &c.coefficients)
	var hashes []hashID
	limit := uint32(d.lib.fn.longRow()) //nolint:gosec // counts and sizes are far below the limit
	c.blocks = make([]circuitBlock, len(sys.Blocks))
	for i := range sys.Blocks {
		c.blocks[i].plan(&u, &sys.Blocks[i], &c.layout.Blocks[i], &hashes, limit)
	}
	c.hashes = make([]cPoseidon, len(hashes))
	for i, id := range hashes {
		k := id.constants()
		c.hashes[i] = cPoseidon{width: int32(k.Width), full: int32(k.FullRounds), partial: int32(k.PartialRounds)} //nolint:gosec // counts and sizes are far below the limit
		put(&u, flatten(k), &c.hashes[i].constants)
	}
	densityA, densityB := sys.Density(r1cs.MatrixA), sys.Density(r1cs.MatrixB)
	inputsA, inputsB := inputsWith(sys, densityB.Inputs)
	ofA, ofB := pointsOf(inputsA, densityA.Aux, sys.NumAux), pointsOf(inputsB, densityB.Aux, sys.NumAux)
	c.l.count, c.a.count, c.b.count = sys.NumAux, ofA.count, ofB.count
	atA, atB := u.add(4*int64(ofA.count)), u.add(4*int64(ofB.count))

	if c.memory, err = d.alloc("circuit "+name, u.size); err != nil {
		return err
	}
	s, err := d.newStream()
	if err != nil {
		return err
	}
	defer s.free()
	for _, a := range u.list {
		*a.addr = c.memory.at(a.offset)
		if err := copyIn(s, *a.addr, a.data); err != nil {
			return err
		}
		if err := ctx.Err(); err != nil {
			return err
		}
	}
	c.a.variables, c.b.variables = c.memory.at(atA), c.memory.at(atB)
	for list, p := range map[uintptr]points{c.a.variables: ofA, c.b.variables: ofB} {
		if err := p.copyTo(ctx, s, list); err != nil {
			return err
		}
	}
	return s.wait()
}

// copyTo writes the list of variables to the device piece by piece: it has hundreds of megabytes.
func (p *points) copyTo(ctx context.Context, s *stream, to uintptr) (err error) {
	const piece = 1 << 20
	buf := make([]uint32, 0, min(piece, p.count))
	flush := func() {
		if err == nil {
			err = ctx.Err()
		}
		if err == nil {
			err = copyIn(s, to, buf)
		}
		if err == nil {
			err = s.wait()
		}
		to += uintptr(4 * len(buf))
		buf = buf[:0]
	}
	p.each(func(v uint32) {
		if buf = append(buf, v); len(buf) == cap(buf) {
			flush()
		}
	})
	flush()
	return err
}

// plan adds a block's arrays. The structs get their addresses with them.
func (k *circuitBlock) plan(u *uploads, b *r1cs.Block, l *witness.BlockLayout, hashes *[]hashID, limit uint32) {
	columns, tables := columnsOf(b)
	for _, m := range []struct {
		from *r1cs.Matrix
		to   *cMatrix
	}{{&b.A, &k.a}, {&b.B, &k.b}} {
		long := longRows(m.from, limit)
		*m.to = placeMatrix(b)
		m.to.size = uint32(unsafe.Sizeof(cMatrix{}))
		m.to.longCount = uint32(len(long)) //nolint:gosec // counts and sizes are far below the limit
		put(u, m.from.End, &m.to.end)
		put(u, m.from.Vars, &m.to.variables)
		put(u, m.from.Coeff, &m.to.coefficients)
		put(u, columns, &m.to.columns)
		put(u, tables, &m.to.tables)
		put(u, long, &m.to.longRows)
	}
	plain, hashed := runsOf(b, hashes)
	k.runs = placeRuns(b, l)
	k.runs.size = uint32(unsafe.Sizeof(cRuns{}))
	k.runs.plainCount, k.runs.hashCount = uint32(len(plain)), uint32(len(hashed)) //nolint:gosec // counts and sizes are far below the limit
	put(u, plain, &k.runs.plain)
	put(u, hashed, &k.runs.hashes)
}

// expand computes all auxiliary values from a witness's streams.
func (c *Circuit) expand(s *stream, words, elements, aux uintptr) error {
	for i := range c.blocks {
		err := c.d.call("expand", func(e *callError) int32 {
			return c.d.lib.fn.expand(s.handle, &c.blocks[i].runs, unsafe.SliceData(c.hashes), int32(len(c.hashes)), words, elements, aux, e) //nolint:gosec // memory that the library reads or writes
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// evaluate computes a matrix times the assignment for all points of the domain. host is the inputs, which are on the device too.
func (c *Circuit) evaluate(s *stream, name r1cs.MatrixName, inputs, aux, out uintptr, host []fr.Element) error {
	for i := range c.blocks {
		m := &c.blocks[i].a
		if name == r1cs.MatrixB {
			m = &c.blocks[i].b
		}
		err := c.d.call("evaluate", func(e *callError) int32 { return c.d.lib.fn.evaluate(s.handle, m, c.coefficients, inputs, aux, out, e) })
		if err != nil {
			return err
		}
	}
	// The constraints input_i * 0 = 0, and what the domain has beyond the constraints.
	stored := int64(c.sys.NumConstraints - c.sys.NumInputs)
	if err := s.clear(out+uintptr(stored*fr.Bytes), (c.domain.size()-stored)*fr.Bytes); err != nil { //nolint:gosec // counts and sizes are far below the limit
		return err
	}
	if name == r1cs.MatrixA {
		return copyIn(s, out+uintptr(stored*fr.Bytes), host) //nolint:gosec // counts and sizes are far below the limit
	}
	return nil
}

// Bytes is the device memory of the circuit without its domain's tables.
func (c *Circuit) Bytes() int64 { return c.memory.bytes }

// Close frees the device memory.
func (c *Circuit) Close() {
	c.memory.free()
	c.d.releaseDomain(c.domain)
	c.domain = nil
}
