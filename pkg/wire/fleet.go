package wire

// Limits of a fleet entry.
const (
	maxFleetCircuits = 64
	maxFleetDevices  = 64
	maxFleetJobs     = 256
)

// Device is one GPU of a prover.
type Device struct {
	UUID       string `msgpack:"uuid"`
	Name       string `msgpack:"name"`
	PCI        string `msgpack:"pci,omitempty"`
	TotalBytes uint64 `msgpack:"total"`
	FreeBytes  uint64 `msgpack:"free"`
}

// Key is the digest of one circuit's verifying key as a worker holds it.
type Key struct {
	Circuit string `msgpack:"circ"`
	VK      Digest `msgpack:"vk"` // SHA-256 of the verifying key file
}

// WorkerInfo is a process's entry in the fleet, refreshed by heartbeats and gone without them.
type WorkerInfo struct {
	Head     `msgpack:",inline"`
	Name     string   `msgpack:"name"` // unique in the fleet: a token
	Service  string   `msgpack:"svc"`  // gateway, synth or gpuprove
	Host     string   `msgpack:"host"`
	PID      uint32   `msgpack:"pid"`
	Software string   `msgpack:"sw"` // version of the binary
	Started  Millis   `msgpack:"start"`
	Seen     Millis   `msgpack:"seen"`
	Slots    uint32   `msgpack:"slots"` // partitions at once
	Busy     uint32   `msgpack:"busy"`
	Ready    bool     `msgpack:"ready"`
	Draining bool     `msgpack:"drain"`
	Reason   string   `msgpack:"why,omitempty"`   // why not ready
	Circuits []Key    `msgpack:"circs,omitempty"` // that it serves
	Resident []string `msgpack:"res,omitempty"`   // circuits whose key lies in device memory
	Devices  []Device `msgpack:"devs,omitempty"`
	Jobs     []JobID  `msgpack:"jobs,omitempty"` // under way
	Done     uint64   `msgpack:"done"`           // partitions since the start
	Failed   uint64   `msgpack:"failed"`
}

// Validate implements Message.
func (w *WorkerInfo) Validate() error {
	if err := validateToken("worker", w.Name); err != nil {
		return err
	}
	if err := validateToken("service", w.Service); err != nil {
		return err
	}
	if len(w.Circuits) > maxFleetCircuits || len(w.Resident) > maxFleetCircuits || len(w.Devices) > maxFleetDevices || len(w.Jobs) > maxFleetJobs {
		return Errorf(CodeBadMessage, "worker %s: %d circuits, %d resident, %d devices, %d jobs are too many",
			w.Name, len(w.Circuits), len(w.Resident), len(w.Devices), len(w.Jobs))
	}
	if len(w.Host) > 256 || len(w.Software) > 256 || len(w.Reason) > MaxErrorBytes {
		return Errorf(CodeBadMessage, "worker %s: host, software or reason is too long", w.Name)
	}
	for i := range w.Circuits {
		if err := validateToken("circuit", w.Circuits[i].Circuit); err != nil {
			return err
		}
	}
	for _, c := range w.Resident {
		if err := validateToken("circuit", c); err != nil {
			return err
		}
	}
	for _, id := range w.Jobs {
		if !id.Valid() {
			return Errorf(CodeBadMessage, "worker %s: job id %.80q", w.Name, string(id))
		}
	}
	return nil
}
