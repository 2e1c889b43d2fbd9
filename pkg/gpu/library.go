package gpu

import (
	"bytes"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"unsafe"

	"github.com/ebitengine/purego"
)

// LibraryName is the file name of the CUDA library.
const LibraryName = "libproofmill_cuda.so"

// Library is the CUDA library, loaded. It stays loaded until the process ends. Any number of goroutines may use it.
type Library struct {
	path string
	fn   functions
}

// Open loads the library from path; if that is empty, from the folder of the executable, from its neighbour lib, and then from where the
// system's loader looks. Errors wrap [ErrUnavailable].
func Open(path string) (*Library, error) {
	candidates := []string{path}
	if path == "" {
		candidates = nil
		if exe, err := os.Executable(); err == nil {
			dir := filepath.Dir(exe)
			for _, p := range []string{filepath.Join(dir, LibraryName), filepath.Join(dir, "..", "lib", LibraryName)} {
				if _, err := os.Stat(p); err == nil {
					candidates = append(candidates, p)
				}
			}
		}
		candidates = append(candidates, LibraryName)
	}
	var failures []error
	for _, p := range candidates {
		handle, err := purego.Dlopen(p, purego.RTLD_NOW|purego.RTLD_LOCAL)
		if err != nil {
			failures = append(failures, err)
			continue
		}
		l := &Library{path: p}
		if err := l.fn.bind(handle); err != nil {
			return nil, fmt.Errorf("CUDA library %s: %w: %w", p, ErrUnavailable, err)
		}
		return l, nil
	}
	return nil, fmt.Errorf("CUDA library: %w: %w", ErrUnavailable, errors.Join(failures...))
}

// Path is where the library was loaded from.
func (l *Library) Path() string { return l.path }

// Info describes a device.
type Info struct {
	Index          int    // among those that CUDA_VISIBLE_DEVICES leaves
	UUID           string // GPU-01234567-89ab-..., as nvidia-smi prints it
	Name           string
	Compute        [2]int // capability, major and minor
	Multiprocessor int    // how many
	MemoryBytes    int64
	Driver         int // 1000 major + 10 minor of the CUDA version that the driver knows
	Runtime        int // the same of the library
	ECC            bool
}

// Devices lists the devices that CUDA_VISIBLE_DEVICES leaves. No driver or no device is an error that wraps [ErrUnavailable].
func (l *Library) Devices() ([]Info, error) {
	var e callError
	var n int32
	if err := e.err("list devices", l.fn.deviceCount(&n, &e)); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrUnavailable, err)
	}
	if n == 0 {
		return nil, fmt.Errorf("list devices: %w: there is none, or CUDA_VISIBLE_DEVICES hides it", ErrUnavailable)
	}
	out := make([]Info, n)
	for i := range out {
		d := cDevice{size: uint32(unsafe.Sizeof(cDevice{}))}
		if err := e.err("describe device", l.fn.deviceGet(int32(i), &d, &e)); err != nil {
			return nil, fmt.Errorf("%w: %w", ErrUnavailable, err)
		}
		name, _, _ := bytes.Cut(d.name[:], []byte{0})
		out[i] = Info{
			Index: i, UUID: formatUUID(d.uuid), Name: string(name), Compute: [2]int{int(d.major), int(d.minor)},
			Multiprocessor: int(d.processors), MemoryBytes: int64(d.memory), //nolint:gosec // counts and sizes are far below the limit
			Driver: int(d.driver), Runtime: int(d.runtime), ECC: d.ecc != 0,
		}
	}
	return out, nil
}

func formatUUID(u [16]byte) string {
	h := hex.EncodeToString(u[:])
	return "GPU-" + h[:8] + "-" + h[8:12] + "-" + h[12:16] + "-" + h[16:20] + "-" + h[20:]
}
