package gpu

import (
	"errors"
	"fmt"
	"sync/atomic"
	"unsafe"
)

// headroom is what stays free for the driver's own needs: code, local memory, events.
const headroom = 768 << 20

// Device is a GPU opened for computing. Any number of goroutines may use it.
type Device struct {
	lib     *Library
	info    Info
	context uintptr
	ledger  *Ledger
	fault   atomic.Pointer[Error] // set once the device has had a fault
	domains domains
}

// OpenDevice opens a device and checks that it computes. budget bounds the memory that is taken on it, in bytes; 0 means all that is free
// now but a little. Close it after use.
func (l *Library) OpenDevice(info Info, budget int64) (*Device, error) {
	d := &Device{lib: l, info: info}
	var e callError
	if err := e.err("open device "+info.UUID, l.fn.contextCreate(int32(info.Index), &d.context, &e)); err != nil { //nolint:gosec // counts and sizes are far below the limit
		return nil, fmt.Errorf("%w: %w", ErrUnavailable, err)
	}
	var free, total uint64
	err := errors.Join(
		d.call("check device", func(e *callError) int32 { return l.fn.contextCheck(d.context, e) }),
		d.call("look at memory", func(e *callError) int32 { return l.fn.memoryGet(d.context, &free, &total, e) }))
	if err != nil {
		l.fn.contextFree(d.context)
		return nil, fmt.Errorf("open device %s: %w", info.UUID, err)
	}
	if budget <= 0 {
		budget = max(int64(free)-headroom, 0)
	}
	d.ledger = NewLedger(budget)
	return d, nil
}

// Info describes the device.
func (d *Device) Info() Info { return d.info }

// Ledger is the account of the device's memory.
func (d *Device) Ledger() *Ledger { return d.ledger }

// Fault is the error with which the device failed, or nil.
func (d *Device) Fault() error {
	if f := d.fault.Load(); f != nil {
		return fmt.Errorf("device %s: %w", d.info.UUID, f)
	}
	return nil
}

// Check runs a short kernel. It blocks until it is done.
func (d *Device) Check() error {
	return d.call("check device", func(e *callError) int32 { return d.lib.fn.contextCheck(d.context, e) })
}

// Close frees the device. Whatever was made on it must be closed before.
func (d *Device) Close() error {
	if d.context != 0 {
		d.lib.fn.contextFree(d.context)
		d.context = 0
	}
	return nil
}

// call runs a call of the library, unless the device had a fault, and notes a fault.
func (d *Device) call(name string, f func(e *callError) int32) error {
	if err := d.Fault(); err != nil {
		return err
	}
	var e callError
	err := e.err(name, f(&e))
	var failed *Error
	if errors.As(err, &failed) && failed.Code == codeDevice {
		d.fault.CompareAndSwap(nil, failed)
	}
	return err
}

// buffer is device memory, entered in the ledger.
type buffer struct {
	d     *Device
	name  string
	addr  uintptr
	bytes int64
}

// alloc takes device memory; none for zero bytes.
func (d *Device) alloc(name string, bytes int64) (*buffer, error) {
	b := &buffer{d: d, name: name, bytes: bytes}
	if bytes == 0 {
		return b, nil
	}
	if err := d.ledger.Reserve(name, bytes); err != nil {
		return nil, err
	}
	err := d.call("allocate "+name, func(e *callError) int32 {
		return d.lib.fn.deviceAlloc(d.context, uint64(bytes), &b.addr, e) //nolint:gosec // counts and sizes are far below the limit
	})
	if err != nil {
		d.ledger.Release(name, bytes)
		return nil, err
	}
	return b, nil
}

// free gives the memory back. It is safe on nil and more than once. After a fault only the account is kept: the process must end or
// the driver be asked to start anew.
func (b *buffer) free() {
	if b == nil || b.addr == 0 {
		return
	}
	_ = b.d.call("free "+b.name, func(e *callError) int32 { return b.d.lib.fn.deviceRelease(b.d.context, b.addr, e) })
	b.d.ledger.Release(b.name, b.bytes)
	b.addr = 0
}

// at is the address of a place in the buffer.
func (b *buffer) at(offset int64) uintptr {
	if offset < 0 || offset > b.bytes {
		panic(fmt.Sprintf("device memory %s: offset %d of %d", b.name, offset, b.bytes))
	}
	return b.addr + uintptr(offset)
}

// bytesOf is the memory of a slice of values without pointers.
func bytesOf[T any](s []T) []byte {
	if len(s) == 0 {
		return nil
	}
	return unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(s))), len(s)*int(unsafe.Sizeof(s[0]))) //nolint:gosec // memory that the library reads or writes
}
