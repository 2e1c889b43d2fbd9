package gpu

import (
	"bytes"
	"time"
	"unsafe"
)

// stream is a queue of work on a device, used by one goroutine at a time.
type stream struct {
	d      *Device
	handle uintptr
}

func (d *Device) newStream() (*stream, error) {
	s := &stream{d: d}
	err := d.call("make stream", func(e *callError) int32 { return d.lib.fn.streamCreate(d.context, &s.handle, e) })
	if err != nil {
		return nil, err
	}
	return s, nil
}

func (s *stream) free() {
	if s != nil && s.handle != 0 {
		s.d.lib.fn.streamFree(s.handle)
		s.handle = 0
	}
}

// wait blocks until the work given is done.
func (s *stream) wait() error {
	return s.d.call("wait", func(e *callError) int32 { return s.d.lib.fn.streamWait(s.handle, e) })
}

// copyIn copies host memory to the device. The host's memory may be changed after the next wait.
func copyIn[T any](s *stream, to uintptr, from []T) error {
	b := bytesOf(from)
	if len(b) == 0 {
		return nil
	}
	return s.d.call("copy to device", func(e *callError) int32 {
		return s.d.lib.fn.copyToDevice(s.handle, to, &b[0], uint64(len(b)), e)
	})
}

// copyOut copies device memory to the host; it is there after the next wait.
func copyOut[T any](s *stream, to []T, from uintptr) error {
	b := bytesOf(to)
	if len(b) == 0 {
		return nil
	}
	return s.d.call("copy from device", func(e *callError) int32 {
		return s.d.lib.fn.copyToHost(s.handle, &b[0], from, uint64(len(b)), e)
	})
}

func (s *stream) clear(at uintptr, n int64) error {
	if n == 0 {
		return nil
	}
	return s.d.call("clear", func(e *callError) int32 { return s.d.lib.fn.clear(s.handle, at, uint64(n), e) }) //nolint:gosec // counts and sizes are far below the limit
}

// DeviceStage is how long a kind of work kept the device, by its own clock.
type DeviceStage struct {
	Name     string
	Duration time.Duration
}

// stages waits, and returns the device times recorded since the last call.
func (s *stream) stages() ([]DeviceStage, error) {
	buf := make([]cStage, 1<<12)
	var n int32
	err := s.d.call("read stage times", func(e *callError) int32 {
		return s.d.lib.fn.streamStages(s.handle, unsafe.SliceData(buf), int32(len(buf)), &n, e) //nolint:gosec // memory that the library reads or writes
	})
	if err != nil {
		return nil, err
	}
	out := make([]DeviceStage, min(int(n), len(buf)))
	for i := range out {
		name, _, _ := bytes.Cut(buf[i].name[:], []byte{0})
		out[i] = DeviceStage{string(name), time.Duration(float64(buf[i].ms) * float64(time.Millisecond))}
	}
	return out, nil
}
