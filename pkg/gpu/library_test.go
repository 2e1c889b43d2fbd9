package gpu

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// testLibrary is the library that PROOFMILL_CUDA_LIBRARY names, or the one that does the same on the host, built by `make -C cuda host-library`.
func testLibrary(t testing.TB) *Library {
	t.Helper()
	path := os.Getenv("PROOFMILL_CUDA_LIBRARY")
	if path == "" {
		path = filepath.Join("..", "..", "build", "cuda", "libproofmill_host.so")
		if _, err := os.Stat(path); err != nil {
			t.Skip("no library to test with: run `make -C cuda host-library`, or set PROOFMILL_CUDA_LIBRARY on a machine with a GPU")
		}
	}
	l, err := Open(path)
	if err != nil {
		t.Fatal(err)
	}
	return l
}

// testDevice is the first device.
func testDevice(t testing.TB) *Device {
	t.Helper()
	l := testLibrary(t)
	infos, err := l.Devices()
	if err != nil {
		t.Fatal(err)
	}
	d, err := l.OpenDevice(infos[0], 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if used := d.Ledger().Used(); used != 0 {
			t.Errorf("%d bytes are still reserved: %v", used, d.Ledger().Reservations())
		}
		if err := d.Close(); err != nil {
			t.Error(err)
		}
	})
	return d
}

func TestDevicesHaveNames(t *testing.T) {
	l := testLibrary(t)
	infos, err := l.Devices()
	if err != nil {
		t.Fatal(err)
	}
	for _, i := range infos {
		t.Logf("%+v", i)
		if i.Name == "" || len(i.UUID) != len("GPU-01234567-89ab-cdef-0123-456789abcdef") || i.MemoryBytes <= 0 || i.Multiprocessor <= 0 {
			t.Errorf("device %+v", i)
		}
	}
}

func TestAbsentLibraryIsAnError(t *testing.T) {
	if _, err := Open(filepath.Join(t.TempDir(), LibraryName)); !errors.Is(err, ErrUnavailable) {
		t.Errorf("error is %v", err)
	}
	foreign := "libc.so.6"
	if _, err := Open(foreign); !errors.Is(err, ErrUnavailable) {
		t.Errorf("%s: error is %v", foreign, err)
	}
}

func TestUUIDIsThatOfTools(t *testing.T) {
	u := [16]byte{0x01, 0x23, 0x45, 0x67, 0x89, 0xab, 0xcd, 0xef, 0xfe, 0xdc, 0xba, 0x98, 0x76, 0x54, 0x32, 0x10}
	if got := formatUUID(u); got != "GPU-01234567-89ab-cdef-fedc-ba9876543210" {
		t.Error(got)
	}
}
