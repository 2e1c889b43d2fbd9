package doctor

import (
	"fmt"

	"github.com/proofmill/proofmill/pkg/gpu"
)

// Reading is what a monitor tells of a card; nil is unknown.
type Reading struct {
	TotalBytes      *uint64 `json:"total_bytes,omitempty"`
	FreeBytes       *uint64 `json:"free_bytes,omitempty"`
	ECC             *bool   `json:"ecc,omitempty"`
	Corrected       *uint64 `json:"ecc_corrected,omitempty"`   // since the driver was loaded
	Uncorrected     *uint64 `json:"ecc_uncorrected,omitempty"` // since the driver was loaded
	CorrectedEver   *uint64 `json:"ecc_corrected_ever,omitempty"`
	UncorrectedEver *uint64 `json:"ecc_uncorrected_ever,omitempty"`
	Celsius         *uint32 `json:"celsius,omitempty"`
	Watts           *uint32 `json:"watts,omitempty"`
	WattsLimit      *uint32 `json:"watts_limit,omitempty"`
	SMMHz           *uint32 `json:"sm_mhz,omitempty"`
	SMMaxMHz        *uint32 `json:"sm_max_mhz,omitempty"`
	MemoryMHz       *uint32 `json:"memory_mhz,omitempty"`
}

// Cards lists devices; [gpu.Library] does.
type Cards interface {
	Path() string
	Devices() ([]gpu.Info, error)
}

// Monitor reads a card by its UUID; [NVML] does.
type Monitor interface {
	Driver() (string, error)
	Read(uuid string) (*Reading, error)
}

// Limits of cards.
const (
	leastCompute = 80 // capability, 10 major + minor
	warnCelsius  = 85
)

// Library says whether the CUDA library is there. err is what loading it gave; wanted says that the cuda backend is configured, and
// driver that the machine has an NVIDIA driver.
func Library(cards Cards, err error, wanted, driver bool) Check {
	c := Check{Name: "CUDA library", Status: OK}
	switch {
	case err == nil:
		c.Text = cards.Path()
	case wanted:
		c.Status, c.Text, c.Do = Failed, err.Error(), "run `make -C cuda library` and set gpuprove.library, or choose gpuprove.backend cpu"
	case driver:
		c.Status, c.Text, c.Do = Warning, "not found, though this machine has an NVIDIA driver", "run `make -C cuda library` and set gpuprove.library"
	default:
		c.Status, c.Text = Skipped, "not found; the cpu backend does without"
	}
	return c
}

// Devices looks at all cards: driver and library versions, and each card's memory, errors and clocks. monitorErr is what opening the
// monitor gave; then monitor is not used. The cards are those that can be proved on.
func Devices(cards Cards, wanted bool, monitor Monitor, monitorErr error) (checks []Check, usable []gpu.Info) {
	infos, err := cards.Devices()
	if err != nil {
		c := Check{Name: "CUDA devices", Status: Skipped, Text: err.Error()}
		if wanted {
			c.Status, c.Do = Failed, "install NVIDIA's driver, look at nvidia-smi and at CUDA_VISIBLE_DEVICES, or choose gpuprove.backend cpu"
		}
		return []Check{c}, nil
	}
	checks = append(checks, driver(infos[0], monitor, monitorErr))
	if monitorErr != nil {
		checks = append(checks, Check{
			Name: "NVML", Status: Warning, Text: monitorErr.Error(), Do: "install the driver's " + nvmlLibrary + ": memory errors and clocks cannot be read",
		})
	}
	for _, info := range infos {
		var reading *Reading
		var err error
		if monitorErr == nil {
			reading, err = monitor.Read(info.UUID)
		}
		c := device(info, reading, err)
		checks = append(checks, c)
		if c.Status != Failed {
			usable = append(usable, info)
		}
	}
	return checks, usable
}

func driver(info gpu.Info, monitor Monitor, monitorErr error) Check {
	c := Check{Name: "CUDA driver", Status: OK, Details: map[string]any{"cuda_driver": info.Driver, "cuda_runtime": info.Runtime}}
	c.Text = fmt.Sprintf("CUDA %s, the library's runtime is %s", version(info.Driver), version(info.Runtime))
	if monitorErr == nil {
		if v, err := monitor.Driver(); err == nil {
			c.Text = v + ", " + c.Text
			c.Details["driver"] = v
		}
	}
	// Within one major version any driver runs any library.
	if info.Driver/1000 < info.Runtime/1000 {
		c.Status, c.Do = Failed, fmt.Sprintf("update the driver to one that knows CUDA %d, or build the library with an older nvcc", info.Runtime/1000)
	}
	return c
}

func version(v int) string { return fmt.Sprintf("%d.%d", v/1000, v%1000/10) }

// device judges one card. reading may be nil.
func device(info gpu.Info, reading *Reading, readErr error) Check {
	c := Check{Name: fmt.Sprintf("GPU %d", info.Index), Status: OK, Details: map[string]any{
		"uuid": info.UUID, "name": info.Name, "compute": fmt.Sprintf("%d.%d", info.Compute[0], info.Compute[1]),
		"multiprocessors": info.Multiprocessor, "memory_bytes": info.MemoryBytes,
	}}
	c.Text = fmt.Sprintf("%s, %s, compute %d.%d, %s", info.Name, info.UUID, info.Compute[0], info.Compute[1], gib(info.MemoryBytes))
	if reading != nil {
		c.Text += reading.String()
		c.Details["reading"] = reading
	}
	switch {
	case 10*info.Compute[0]+info.Compute[1] < leastCompute:
		c.Status, c.Do = Failed, "use a card of compute capability 8.0 or above"
	case readErr != nil:
		c.Status, c.Do = Warning, "look at nvidia-smi: "+readErr.Error()
	case reading == nil:
		if !info.ECC {
			c.Status, c.Do = Warning, eccOff
		}
	case reading.Uncorrected != nil && *reading.Uncorrected > 0:
		c.Status, c.Do = Failed, "reset the card, and replace it if the errors come again: its memory gave wrong values"
	case reading.ECC != nil && !*reading.ECC:
		c.Status, c.Do = Warning, eccOff
	case reading.Celsius != nil && *reading.Celsius >= warnCelsius:
		c.Status, c.Do = Warning, "cool it better: it slows down when hot"
	}
	return c
}

const eccOff = "turn ECC on with nvidia-smi -e 1: without it wrong bits show only when a proof does not verify"

// String is the reading as it follows a card's name.
func (r *Reading) String() string {
	text := ""
	if r.FreeBytes != nil {
		text += " (" + gib(*r.FreeBytes) + " free)"
	}
	switch {
	case r.ECC != nil && !*r.ECC:
		text += ", ECC off"
	case r.Corrected != nil && r.Uncorrected != nil:
		text += fmt.Sprintf(", ECC errors %d corrected, %d not", *r.Corrected, *r.Uncorrected)
	}
	if r.SMMHz != nil && r.SMMaxMHz != nil {
		text += fmt.Sprintf(", SM %d of %d MHz", *r.SMMHz, *r.SMMaxMHz)
	}
	if r.MemoryMHz != nil {
		text += fmt.Sprintf(", memory %d MHz", *r.MemoryMHz)
	}
	if r.Watts != nil && r.WattsLimit != nil {
		text += fmt.Sprintf(", %d of %d W", *r.Watts, *r.WattsLimit)
	}
	if r.Celsius != nil {
		text += fmt.Sprintf(", %d C", *r.Celsius)
	}
	return text
}
