package doctor

import (
	"bytes"
	"errors"
	"fmt"

	"github.com/ebitengine/purego"
)

// nvmlLibrary comes with NVIDIA's driver.
const nvmlLibrary = "libnvidia-ml.so.1"

// NVML is NVIDIA's management library, loaded. Close it after use.
type NVML struct{ fn nvmlCalls }

// Names and numbers are those of nvml.h. Handles are addresses, results NVML_SUCCESS = 0 or an error.
type nvmlCalls struct {
	initialize     func() int32
	shutdown       func() int32
	errorString    func(code int32) string
	driverVersion  func(out *byte, size uint32) int32
	handleByUUID   func(uuid string, out *uintptr) int32
	memoryInfo     func(device uintptr, out *nvmlMemory) int32
	eccMode        func(device uintptr, current, pending *uint32) int32
	totalEccErrors func(device uintptr, kind, counter uint32, out *uint64) int32
	temperature    func(device uintptr, sensor uint32, out *uint32) int32
	powerUsage     func(device uintptr, milliwatts *uint32) int32
	powerLimit     func(device uintptr, milliwatts *uint32) int32
	clock          func(device uintptr, kind uint32, mhz *uint32) int32
	maxClock       func(device uintptr, kind uint32, mhz *uint32) int32
}

type nvmlMemory struct{ total, free, _ uint64 } // the last is what is used

const (
	eccCorrected   = 0
	eccUncorrected = 1
	eccVolatile    = 0 // since the driver was loaded
	eccAggregate   = 1 // since the card was made

	sensorGPU   = 0
	clockSM     = 1
	clockMemory = 2
)

// OpenNVML loads the library and asks it to start.
func OpenNVML() (*NVML, error) {
	handle, err := purego.Dlopen(nvmlLibrary, purego.RTLD_NOW|purego.RTLD_LOCAL)
	if err != nil {
		return nil, fmt.Errorf("NVML: %w", err)
	}
	n := new(NVML)
	for name, target := range map[string]any{
		"nvmlInit_v2":                       &n.fn.initialize,
		"nvmlShutdown":                      &n.fn.shutdown,
		"nvmlErrorString":                   &n.fn.errorString,
		"nvmlSystemGetDriverVersion":        &n.fn.driverVersion,
		"nvmlDeviceGetHandleByUUID":         &n.fn.handleByUUID,
		"nvmlDeviceGetMemoryInfo":           &n.fn.memoryInfo,
		"nvmlDeviceGetEccMode":              &n.fn.eccMode,
		"nvmlDeviceGetTotalEccErrors":       &n.fn.totalEccErrors,
		"nvmlDeviceGetTemperature":          &n.fn.temperature,
		"nvmlDeviceGetPowerUsage":           &n.fn.powerUsage,
		"nvmlDeviceGetPowerManagementLimit": &n.fn.powerLimit,
		"nvmlDeviceGetClockInfo":            &n.fn.clock,
		"nvmlDeviceGetMaxClockInfo":         &n.fn.maxClock,
	} {
		symbol, err := purego.Dlsym(handle, name)
		if err != nil {
			return nil, fmt.Errorf("NVML: %s lacks %s", nvmlLibrary, name)
		}
		purego.RegisterFunc(target, symbol)
	}
	if err := n.err("start", n.fn.initialize()); err != nil {
		return nil, err
	}
	return n, nil
}

// Close ends the use of the library.
func (n *NVML) Close() error { return n.err("end", n.fn.shutdown()) }

func (n *NVML) err(what string, code int32) error {
	if code == 0 {
		return nil
	}
	return fmt.Errorf("NVML: %s: %s", what, n.fn.errorString(code))
}

// Driver is the driver's version, such as 580.159.04.
func (n *NVML) Driver() (string, error) {
	var text [80]byte
	err := n.err("driver version", n.fn.driverVersion(&text[0], uint32(len(text))))
	name, _, _ := bytes.Cut(text[:], []byte{0})
	return string(name), err
}

// Read implements [Monitor]. What the card does not tell stays nil.
func (n *NVML) Read(uuid string) (*Reading, error) {
	var device uintptr
	if err := n.err("find "+uuid, n.fn.handleByUUID(uuid, &device)); err != nil {
		return nil, err
	}
	r := new(Reading)
	var m nvmlMemory
	if n.fn.memoryInfo(device, &m) == 0 {
		r.TotalBytes, r.FreeBytes = &m.total, &m.free
	}
	var current, pending uint32
	if n.fn.eccMode(device, &current, &pending) == 0 {
		on := current != 0
		r.ECC = &on
	}
	for _, counter := range []struct {
		kind, counter uint32
		to            **uint64
	}{
		{eccCorrected, eccVolatile, &r.Corrected}, {eccUncorrected, eccVolatile, &r.Uncorrected},
		{eccCorrected, eccAggregate, &r.CorrectedEver}, {eccUncorrected, eccAggregate, &r.UncorrectedEver},
	} {
		var count uint64
		if n.fn.totalEccErrors(device, counter.kind, counter.counter, &count) == 0 {
			*counter.to = &count
		}
	}
	for _, number := range []struct {
		code  func(out *uint32) int32
		scale uint32
		to    **uint32
	}{
		{func(out *uint32) int32 { return n.fn.temperature(device, sensorGPU, out) }, 1, &r.Celsius},
		{func(out *uint32) int32 { return n.fn.powerUsage(device, out) }, 1000, &r.Watts},
		{func(out *uint32) int32 { return n.fn.powerLimit(device, out) }, 1000, &r.WattsLimit},
		{func(out *uint32) int32 { return n.fn.clock(device, clockSM, out) }, 1, &r.SMMHz},
		{func(out *uint32) int32 { return n.fn.maxClock(device, clockSM, out) }, 1, &r.SMMaxMHz},
		{func(out *uint32) int32 { return n.fn.clock(device, clockMemory, out) }, 1, &r.MemoryMHz},
	} {
		var value uint32
		if number.code(&value) == 0 {
			value /= number.scale
			*number.to = &value
		}
	}
	if r.TotalBytes == nil && r.Celsius == nil && r.SMMHz == nil {
		return nil, errors.New("NVML: it tells nothing of " + uuid)
	}
	return r, nil
}
