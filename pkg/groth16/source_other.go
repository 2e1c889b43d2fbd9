//go:build !unix

package groth16

import (
	"errors"
	"io"
	"os"
)

// plain reads a file where it cannot be mapped.
type plain struct {
	f    *os.File
	size int64
}

func openSource(f *os.File, size int64) (source, error) {
	again, err := os.Open(f.Name())
	if err != nil {
		return nil, err
	}
	return &plain{again, size}, nil
}

func (p *plain) view(off, n int64) ([]byte, error) {
	if off < 0 || n < 0 || off > p.size || n > p.size-off {
		return nil, io.ErrUnexpectedEOF
	}
	b := make([]byte, n)
	if k, err := p.f.ReadAt(b, off); err != nil && (int64(k) < n || !errors.Is(err, io.EOF)) {
		return nil, err
	}
	return b, nil
}

func (p *plain) Close() error { return p.f.Close() }
