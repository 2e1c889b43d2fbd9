package groth16

import (
	"errors"
	"os"
	"path/filepath"
)

// atomicFile is written under a temporary name and appears under its own only when complete.
type atomicFile struct {
	*os.File
	path string
}

func createAtomic(path string) (*atomicFile, error) {
	f, err := os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+".*.tmp")
	if err != nil {
		return nil, err
	}
	return &atomicFile{f, path}, nil
}

// commit makes the file durable under its name.
func (f *atomicFile) commit() error {
	if err := errors.Join(f.Chmod(0o644), f.Sync()); err != nil {
		return errors.Join(err, f.abort())
	}
	if err := f.Close(); err != nil {
		return errors.Join(err, os.Remove(f.Name()))
	}
	if err := os.Rename(f.Name(), f.path); err != nil {
		return errors.Join(err, os.Remove(f.Name()))
	}
	return syncDir(filepath.Dir(f.path))
}

// abort removes the temporary file.
func (f *atomicFile) abort() error { return errors.Join(f.Close(), os.Remove(f.Name())) }

// syncDir makes a rename durable, on systems that can.
func syncDir(dir string) error {
	d, err := os.Open(dir) //nolint:gosec // the caller's path
	if err != nil {
		return err
	}
	_ = d.Sync() // not all file systems can
	return d.Close()
}

// writeFile writes a small file as a whole.
func writeFile(path string, b []byte) error {
	f, err := createAtomic(path)
	if err != nil {
		return err
	}
	if _, err := f.Write(b); err != nil {
		return errors.Join(err, f.abort())
	}
	return f.commit()
}
