package doctor

import (
	"errors"
	"strings"
	"testing"

	"github.com/proofmill/proofmill/pkg/gpu"
)

// rack is a machine's cards, as library and monitor tell of them.
type rack struct {
	infos    []gpu.Info
	err      error
	readings map[string]*Reading
}

func (r *rack) Path() string                 { return "lib.so" }
func (r *rack) Devices() ([]gpu.Info, error) { return r.infos, r.err }
func (r *rack) Driver() (string, error)      { return "580.1", nil }

func (r *rack) Read(uuid string) (*Reading, error) {
	if reading, ok := r.readings[uuid]; ok {
		return reading, nil
	}
	return nil, errors.New("no reading")
}

func card() gpu.Info {
	return gpu.Info{UUID: "GPU-1", Name: "H200", Compute: [2]int{9, 0}, Multiprocessor: 132, MemoryBytes: 140 << 30, Driver: 13000, Runtime: 13000, ECC: true}
}

func healthy() *Reading {
	total, free, none, on := uint64(140<<30), uint64(139<<30), uint64(0), true
	celsius, watts, limit, clock, most, memory := uint32(30), uint32(76), uint32(700), uint32(345), uint32(1980), uint32(3201)
	return &Reading{
		TotalBytes: &total, FreeBytes: &free, ECC: &on, Corrected: &none, Uncorrected: &none, Celsius: &celsius,
		Watts: &watts, WattsLimit: &limit, SMMHz: &clock, SMMaxMHz: &most, MemoryMHz: &memory,
	}
}

func TestCardsAreJudged(t *testing.T) {
	one, off, hot := uint64(1), false, uint32(90)
	for name, test := range map[string]struct {
		info    func(*gpu.Info)
		reading func(*Reading)
		status  Status
		do      string
	}{
		"healthy":     {status: OK},
		"old":         {info: func(i *gpu.Info) { i.Compute = [2]int{7, 5} }, status: Failed, do: "8.0"},
		"uncorrected": {reading: func(r *Reading) { r.Uncorrected = &one }, status: Failed, do: "reset"},
		"corrected":   {reading: func(r *Reading) { r.Corrected = &one }, status: OK},
		"ECC off":     {reading: func(r *Reading) { r.ECC = &off }, status: Warning, do: "ECC"},
		"hot":         {reading: func(r *Reading) { r.Celsius = &hot }, status: Warning, do: "cool"},
		"hidden":      {info: func(i *gpu.Info) { i.UUID = "GPU-2" }, status: Warning, do: "nvidia-smi"},
		"tells least": {reading: func(r *Reading) { *r = Reading{} }, status: OK},
	} {
		info, reading := card(), healthy()
		if test.info != nil {
			test.info(&info)
		}
		if test.reading != nil {
			test.reading(reading)
		}
		r := &rack{infos: []gpu.Info{info}, readings: map[string]*Reading{"GPU-1": reading}}
		checks, usable := Devices(r, true, r, nil)
		if len(checks) != 2 {
			t.Fatalf("%s: %+v", name, checks)
		}
		if c := checks[1]; c.Status != test.status || !strings.Contains(c.Do, test.do) || (c.Do == "") != (test.do == "") {
			t.Errorf("%s: %+v", name, c)
		}
		if (len(usable) == 1) != (test.status != Failed) {
			t.Errorf("%s: usable %v", name, usable)
		}
	}
}

func TestCardsReadAsOneLine(t *testing.T) {
	r := &rack{infos: []gpu.Info{card()}, readings: map[string]*Reading{"GPU-1": healthy()}}
	checks, _ := Devices(r, false, r, nil)
	for i, want := range []string{
		"580.1, CUDA 13.0, the library's runtime is 13.0",
		"H200, GPU-1, compute 9.0, 140.0 GiB (139.0 GiB free), ECC errors 0 corrected, 0 not, SM 345 of 1980 MHz, memory 3201 MHz, 76 of 700 W, 30 C",
	} {
		if checks[i].Text != want || checks[i].Status != OK {
			t.Errorf("%+v, want %q", checks[i], want)
		}
	}
}

func TestWithoutMonitorCardsAreStillUsed(t *testing.T) {
	with, without := card(), card()
	without.Index, without.ECC = 1, false
	checks, usable := Devices(&rack{infos: []gpu.Info{with, without}}, true, nil, errors.New("NVML: absent"))
	if len(checks) != 4 || len(usable) != 2 {
		t.Fatalf("%+v, usable %v", checks, usable)
	}
	for i, want := range []Status{OK, Warning, OK, Warning} {
		if checks[i].Status != want {
			t.Errorf("%+v, want %s", checks[i], want)
		}
	}
}

func TestDriverMustKnowTheRuntime(t *testing.T) {
	for driver, want := range map[int]Status{12080: Failed, 13000: OK, 13010: OK} {
		info := card()
		info.Driver, info.Runtime = driver, 13010
		r := &rack{infos: []gpu.Info{info}, readings: map[string]*Reading{"GPU-1": healthy()}}
		if checks, _ := Devices(r, true, r, nil); checks[0].Status != want {
			t.Errorf("driver %d: %+v", driver, checks[0])
		}
	}
}

func TestWhatIsNotThereMattersWhereItIsWanted(t *testing.T) {
	absent := errors.New("absent")
	for _, test := range []struct {
		err            error
		wanted, driver bool
		want           Status
	}{
		{nil, false, false, OK}, {nil, true, true, OK}, {absent, true, false, Failed}, {absent, true, true, Failed},
		{absent, false, true, Warning}, {absent, false, false, Skipped},
	} {
		if c := Library(&rack{}, test.err, test.wanted, test.driver); c.Status != test.want {
			t.Errorf("%+v: %+v", test, c)
		}
	}
	for wanted, want := range map[bool]Status{true: Failed, false: Skipped} {
		checks, usable := Devices(&rack{err: absent}, wanted, nil, absent)
		if len(checks) != 1 || checks[0].Status != want || usable != nil {
			t.Errorf("wanted %v: %+v", wanted, checks)
		}
	}
}
