//go:build unix

package embedded

import (
	"fmt"
	"os"
	"path/filepath"
	"syscall"
)

// lockDir makes this process the only one that uses a store directory; nats-server itself does not look. The lock ends with the
// process, however it dies.
func lockDir(dir string) (*os.File, error) {
	f, err := os.OpenFile(filepath.Join(dir, "proofmill.lock"), os.O_RDWR|os.O_CREATE, 0o600) //nolint:gosec // the operator chose dir
	if err != nil {
		return nil, err
	}
	if err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
		_ = f.Close() // nothing was written
		return nil, fmt.Errorf("store directory %s: another server uses it: stop that one or choose another directory: %w", dir, err)
	}
	return f, nil
}
