package gpu

import (
	"fmt"
	"unsafe"

	"github.com/ebitengine/purego"
)

// abiVersion is the version of the library's interface that this package speaks.
const abiVersion = 1

// Groups of points.
const (
	groupG1 = 1
	groupG2 = 2
)

// The structs of proofmill_cuda.h. Addresses of device memory are plain numbers.

type cDevice struct {
	size                     uint32
	major, minor, processors int32
	memory                   uint64
	driver, runtime          int32
	ecc                      int32
	uuid                     [16]byte
	name                     [96]byte
}

type cStage struct {
	name [28]byte
	ms   float32
}

type cMsmConfig struct {
	size       uint32
	group      int32
	bases      uintptr
	count      uint32
	copies     int32
	bits       int32 // of a window; 0 lets the sizes decide
	maxScalars uint32
	budget     uint64
}

type cPoseidon struct {
	constants            uintptr
	width, full, partial int32
	_                    int32
}

type cRun struct{ operation, hash, variable, bit, element, count uint32 }

type cRuns struct {
	size, repeat           uint32
	auxStart, auxStride    uint32
	wordStart, words       uint64
	elementStart, elements uint64
	plainCount, hashCount  uint32
	plain, hashes          uintptr
}

type cMatrix struct {
	size, rows, repeat, rowStart                 uint32
	auxStart, auxStride, inputStart, inputStride uint32
	longCount                                    uint32
	_                                            uint32
	end, variables, coefficients                 uintptr
	columns, tables, longRows                    uintptr
}

// functions are the calls of the library, each a pm_ function of the same name. Handles are addresses.
type functions struct {
	abiVersion func() int32

	deviceCount   func(count *int32, e *callError) int32
	deviceGet     func(device int32, out *cDevice, e *callError) int32
	contextCreate func(device int32, out *uintptr, e *callError) int32
	contextFree   func(context uintptr)
	contextCheck  func(context uintptr, e *callError) int32
	memoryGet     func(context uintptr, free, total *uint64, e *callError) int32
	deviceAlloc   func(context uintptr, bytes uint64, out *uintptr, e *callError) int32
	deviceRelease func(context, memory uintptr, e *callError) int32
	hostAlloc     func(context uintptr, bytes uint64, out *unsafe.Pointer, e *callError) int32
	hostRelease   func(context uintptr, memory unsafe.Pointer, e *callError) int32

	streamCreate func(context uintptr, out *uintptr, e *callError) int32
	streamFree   func(stream uintptr)
	streamWait   func(stream uintptr, e *callError) int32
	streamStages func(stream uintptr, out *cStage, capacity int32, count *int32, e *callError) int32
	copyToDevice func(stream, device uintptr, host *byte, bytes uint64, e *callError) int32
	copyToHost   func(stream uintptr, host *byte, device uintptr, bytes uint64, e *callError) int32
	clear        func(stream, device uintptr, bytes uint64, e *callError) int32

	msmCopyShift  func(bits, copies int32) int32
	basesMultiply func(stream uintptr, group int32, in, out uintptr, count uint32, shift int32, e *callError) int32

	msmCreate func(context uintptr, config *cMsmConfig, out *uintptr, scratch *uint64, e *callError) int32
	msmFree   func(msm uintptr)
	msmRun    func(msm, stream, scalars, indices uintptr, count uint32, montgomery int32, scratch uintptr, result *byte, e *callError) int32
	sumCreate func(context uintptr, group int32, maxCount uint32, out *uintptr, scratch *uint64, e *callError) int32
	sumFree   func(sum uintptr)
	sumRun    func(sum, stream, points, bits uintptr, count uint32, scratch uintptr, result *byte, e *callError) int32

	expand   func(stream uintptr, runs *cRuns, hashes *cPoseidon, hashCount int32, words, elements, aux uintptr, e *callError) int32
	longRow  func() int32
	evaluate func(stream uintptr, m *cMatrix, coefficients, inputs, aux, out uintptr, e *callError) int32
	choose   func(stream, variables uintptr, count uint32, inputs, aux, ones, indices, scalars, found uintptr, capacity uint32, e *callError) int32

	domainCreate  func(context uintptr, logN int32, out *uintptr, tables *uint64, e *callError) int32
	domainFree    func(domain uintptr)
	domainFill    func(domain, stream, tables uintptr, e *callError) int32
	transform     func(domain, stream, tables uintptr, reversed int32, x uintptr, e *callError) int32
	quotient      func(domain, stream, tables, a, b, c uintptr, e *callError) int32
	pointsReverse func(stream, in, out uintptr, logN int32, first, count uint32, e *callError) int32
}

// table is where each call of the library goes, by its name in C.
func (f *functions) table() map[string]any {
	return map[string]any{
		"pm_abi_version":    &f.abiVersion,
		"pm_device_count":   &f.deviceCount,
		"pm_device_get":     &f.deviceGet,
		"pm_context_create": &f.contextCreate,
		"pm_context_free":   &f.contextFree,
		"pm_context_check":  &f.contextCheck,
		"pm_memory_get":     &f.memoryGet,
		"pm_device_alloc":   &f.deviceAlloc,
		"pm_device_release": &f.deviceRelease,
		"pm_host_alloc":     &f.hostAlloc,
		"pm_host_release":   &f.hostRelease,
		"pm_stream_create":  &f.streamCreate,
		"pm_stream_free":    &f.streamFree,
		"pm_stream_wait":    &f.streamWait,
		"pm_stream_stages":  &f.streamStages,
		"pm_copy_to_device": &f.copyToDevice,
		"pm_copy_to_host":   &f.copyToHost,
		"pm_clear":          &f.clear,
		"pm_msm_copy_shift": &f.msmCopyShift,
		"pm_bases_multiply": &f.basesMultiply,
		"pm_msm_create":     &f.msmCreate,
		"pm_msm_free":       &f.msmFree,
		"pm_msm_run":        &f.msmRun,
		"pm_sum_create":     &f.sumCreate,
		"pm_sum_free":       &f.sumFree,
		"pm_sum_run":        &f.sumRun,
		"pm_expand":         &f.expand,
		"pm_long_row":       &f.longRow,
		"pm_evaluate":       &f.evaluate,
		"pm_select":         &f.choose,
		"pm_domain_create":  &f.domainCreate,
		"pm_domain_free":    &f.domainFree,
		"pm_domain_fill":    &f.domainFill,
		"pm_transform":      &f.transform,
		"pm_quotient":       &f.quotient,
		"pm_points_reverse": &f.pointsReverse,
	}
}

// bind looks up all calls. A library that lacks one is an error.
func (f *functions) bind(handle uintptr) error {
	for name, target := range f.table() {
		symbol, err := purego.Dlsym(handle, name)
		if err != nil {
			return fmt.Errorf("it lacks %s: build it anew from this release", name)
		}
		purego.RegisterFunc(target, symbol)
	}
	if v := f.abiVersion(); v != abiVersion {
		return fmt.Errorf("its interface has version %d, this program wants %d: build it anew from this release", v, abiVersion)
	}
	return nil
}
