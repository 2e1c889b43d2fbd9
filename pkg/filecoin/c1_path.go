package filecoin

// pathLevels collects the levels of a path until all its parts are read: they may come in any order.
type pathLevels struct {
	base     [maxLevels]PathElement
	sub, top [1]PathElement
	nBase    int
}

// path reads a Merkle proof: {"data": {form: {...}}} with form Single, Sub or Top.
func (d *c1Decoder) path(p *MerklePath) {
	l := d.l
	l.open('{')
	if !l.more('}') || string(l.key()) != "data" {
		l.failf("a Merkle proof without data")
		return
	}
	l.open('{')
	if !l.more('}') {
		l.failf("a Merkle proof without a form")
		return
	}
	var form int
	switch string(l.key()) {
	case "Single":
		form = 1
	case "Sub":
		form = 2
	case "Top":
		form = 3
	default:
		l.unknown("a Merkle proof")
		return
	}
	d.pathParts(p, form)
	l.expect('}')
	l.expect('}')
}

// pathParts reads root, leaf and the parts of a path: one part in form 1, with the sub level in form 2, with the top level
// in form 3.
func (d *c1Decoder) pathParts(p *MerklePath, form int) {
	l := d.l
	var seen members
	var levels pathLevels
	l.open('{')
	for l.more('}') {
		key := string(l.key())
		switch {
		case key == "root":
			seen.add(l, 1)
			l.bytes32((*[32]byte)(&p.Root))
		case key == "leaf":
			seen.add(l, 2)
			l.bytes32((*[32]byte)(&p.Leaf))
		case form == 1 && key == "path" || form > 1 && key == nameBase:
			seen.add(l, 4)
			levels.nBase = d.levels(levels.base[:])
		case form > 1 && key == nameSub:
			seen.add(l, 8)
			d.oneLevel(levels.sub[:])
		case form > 2 && key == nameTop:
			seen.add(l, 16)
			d.oneLevel(levels.top[:])
		default:
			l.unknown("a path")
		}
	}
	seen.all(l, []string{"root", "leaf", "the levels of the base tree", nameSub, nameTop}[:2+form]...)
	if l.err != nil {
		return
	}
	p.Elements = d.elements(levels.nBase + form - 1)
	n := copy(p.Elements, levels.base[:levels.nBase])
	if form > 1 {
		n += copy(p.Elements[n:], levels.sub[:])
	}
	if form > 2 {
		copy(p.Elements[n:], levels.top[:])
	}
}

func (d *c1Decoder) oneLevel(level []PathElement) {
	if n := d.levels(level); n != 1 {
		d.l.failf("%d levels where one is needed", n)
	}
}

// levels reads {"path": [{"hashes": [...], "index": n}, ...]} into dst and tells how many there were.
func (d *c1Decoder) levels(dst []PathElement) int {
	l := d.l
	l.open('{')
	if !l.more('}') || string(l.key()) != "path" {
		l.failf("a part of a path without levels")
		return 0
	}
	n := 0
	l.open('[')
	for l.more(']') {
		if n == len(dst) {
			l.failf("more than %d levels in a part of a path", len(dst))
			return n
		}
		d.level(&dst[n])
		n++
	}
	l.expect('}')
	return n
}

func (d *c1Decoder) level(e *PathElement) {
	l := d.l
	var seen members
	l.open('{')
	for l.more('}') {
		switch string(l.key()) {
		case "hashes":
			seen.add(l, 1)
			e.Siblings = d.nodes(maxSiblings, "siblings of a level")
		case "index":
			seen.add(l, 2)
			e.Index = uint32(l.uint(maxSiblings)) //nolint:gosec // bounded by the lexer
		default:
			l.unknown("a level of a path")
		}
	}
	seen.all(l, "hashes", "index")
}

func (d *c1Decoder) elements(n int) []PathElement {
	if len(d.pathSlab) < n {
		d.pathSlab = make([]PathElement, max(pathSlabSize, n))
	}
	out := d.pathSlab[:n:n]
	d.pathSlab = d.pathSlab[n:]
	return out
}
