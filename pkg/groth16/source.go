package groth16

import "io"

// source is a parameter file's bytes.
type source interface {
	// view returns n bytes from off on, to be read only, valid until Close; io.ErrUnexpectedEOF if
	// the file does not have them.
	view(off, n int64) ([]byte, error)
	io.Closer
}

// viewReader reads a source from its start.
type viewReader struct {
	src       source
	pos, left int64
}

func (r *viewReader) Read(b []byte) (int, error) {
	n := min(int64(len(b)), r.left)
	if n == 0 {
		return 0, io.EOF
	}
	v, err := r.src.view(r.pos, n)
	if err != nil {
		return 0, err
	}
	copy(b, v)
	r.pos += n
	r.left -= n
	return int(n), nil
}
