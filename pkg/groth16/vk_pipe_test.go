//go:build unix

package groth16

import (
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// A pipe or folder in the place of a key is refused, not waited for.
func TestVerifyingKeyIsAFile(t *testing.T) {
	pipe := filepath.Join(t.TempDir(), "pipe.vk")
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{pipe, t.TempDir()} {
		if _, err := OpenVerifyingKey(path); err == nil || !strings.Contains(err.Error(), "not a regular file") {
			t.Errorf("%s: %v", path, err)
		}
	}
}
