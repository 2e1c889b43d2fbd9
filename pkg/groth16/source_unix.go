//go:build unix

package groth16

import (
	"fmt"
	"io"
	"os"

	"golang.org/x/sys/unix"
)

// mapped is a file in the address space: reading touches only the pages that are asked for, and
// several processes share them.
type mapped struct{ data []byte }

// openSource maps a file of size > 0.
func openSource(f *os.File, size int64) (source, error) {
	if int64(int(size)) != size {
		return nil, fmt.Errorf("file of %d bytes does not fit the address space", size)
	}
	data, err := unix.Mmap(int(f.Fd()), 0, int(size), unix.PROT_READ, unix.MAP_SHARED)
	if err != nil {
		return nil, fmt.Errorf("mapping into memory: %w", err)
	}
	return &mapped{data}, nil
}

func (m *mapped) view(off, n int64) ([]byte, error) {
	if off < 0 || n < 0 || off > int64(len(m.data)) || n > int64(len(m.data))-off {
		return nil, io.ErrUnexpectedEOF
	}
	return m.data[off : off+n : off+n], nil
}

func (m *mapped) Close() error {
	data := m.data
	m.data = nil
	if data == nil {
		return nil
	}
	return unix.Munmap(data)
}
