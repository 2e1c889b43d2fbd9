package wire

// Limits of the messages between services.
const (
	// MaxPartitions bounds the partitions of one job: non-interactive PoRep has 126.
	MaxPartitions = 256
	// ProofBytes is the size of one partition's proof: A and C compressed in G1, B compressed in G2.
	ProofBytes = 192
	// MaxStages bounds the timed stages of one partition.
	MaxStages = 64
)

// Task is the common part of the messages about one partition of a job.
type Task struct {
	JobKey     `msgpack:",inline"`
	Run        uint32   `msgpack:"run"`   // of the job, counted from 1
	Kind       Kind     `msgpack:"kind"`  //
	Circuit    string   `msgpack:"circ"`  // circuit id, such as porep-32g
	Partition  uint32   `msgpack:"part"`  // counted from 0
	Partitions uint32   `msgpack:"parts"` // of the job
	Attempt    uint32   `msgpack:"try"`   // counted from 1; raised by the gateway when it publishes the partition again
	Priority   Priority `msgpack:"prio"`
	Deadline   Millis   `msgpack:"due,omitempty"`
}

func (t *Task) validate() error {
	if err := t.JobKey.validate(); err != nil {
		return err
	}
	if err := validateToken("circuit", t.Circuit); err != nil {
		return err
	}
	switch {
	case t.Run == 0 || t.Attempt == 0:
		return Errorf(CodeBadRequest, "task of job %s: run %d and attempt %d count from 1", t.ID, t.Run, t.Attempt)
	case !t.Kind.Valid():
		return Errorf(CodeBadRequest, "task of job %s: kind %d is none of 1 to 4", t.ID, uint8(t.Kind))
	case t.Partitions == 0 || t.Partitions > MaxPartitions:
		return Errorf(CodeBadRequest, "task of job %s: %d partitions, want 1 to %d", t.ID, t.Partitions, MaxPartitions)
	case t.Partition >= t.Partitions:
		return Errorf(CodeBadRequest, "task of job %s: partition %d of %d", t.ID, t.Partition, t.Partitions)
	case !t.Priority.Valid():
		return Errorf(CodeBadRequest, "task of job %s: priority %d is none of 1 to 4", t.ID, uint8(t.Priority))
	case t.Deadline < 0:
		return Errorf(CodeBadRequest, "task of job %s: deadline %d is negative", t.ID, int64(t.Deadline))
	}
	return nil
}

// Stage is a timed part of the work, later a span and a line of the timeline.
type Stage struct {
	Name   string `msgpack:"name"`  // such as decode, check, expand, msm_h
	Start  int64  `msgpack:"start"` // Unix microseconds on the worker's clock
	Micros int64  `msgpack:"us"`    // duration in microseconds
}

func validateStages(stages []Stage) error {
	if len(stages) > MaxStages {
		return Errorf(CodeBadMessage, "stages: %d, at most %d", len(stages), MaxStages)
	}
	for i := range stages {
		if err := validateToken("stage", stages[i].Name); err != nil {
			return err
		}
		if stages[i].Micros < 0 {
			return Errorf(CodeBadMessage, "stage %s: negative duration", stages[i].Name)
		}
	}
	return nil
}

// SynthJob asks for the witness of one partition. Inputs are those that this partition needs, which may be fewer than the
// request's.
type SynthJob struct {
	Head      `msgpack:",inline"`
	Task      Task      `msgpack:"task"`
	Statement Statement `msgpack:"st"`
	Inputs    Inputs    `msgpack:"inputs"`
}

// Validate implements Message.
func (j *SynthJob) Validate() error {
	if err := j.Task.validate(); err != nil {
		return err
	}
	if err := j.Statement.Validate(); err != nil {
		return err
	}
	return j.Inputs.Validate()
}

// ProveJob asks for the proof of one partition whose witness blob is stored.
type ProveJob struct {
	Head    `msgpack:",inline"`
	Task    Task      `msgpack:"task"`
	Blob    ObjectRef `msgpack:"blob"`
	R1CS    Digest    `msgpack:"r1cs"` // of the circuit that the witness was made for
	Publics Digest    `msgpack:"pub"`  // SHA-256 of the public inputs, each as 32 bytes little-endian
	Worker  string    `msgpack:"wrk"`  // the synth that made the blob
	Stages  []Stage   `msgpack:"stages,omitempty"`
}

// Validate implements Message.
func (j *ProveJob) Validate() error {
	if err := j.Task.validate(); err != nil {
		return err
	}
	if err := j.Blob.Validate(); err != nil {
		return err
	}
	if err := validateToken("worker", j.Worker); err != nil {
		return err
	}
	return validateStages(j.Stages)
}

// PartitionProof is what one attempt at a partition came to: a proof, which nobody has verified yet, or an error.
type PartitionProof struct {
	Head        `msgpack:",inline"`
	Task        Task    `msgpack:"task"`
	Proof       []byte  `msgpack:"proof,omitempty"` // ProofBytes, empty with an error
	Error       *Error  `msgpack:"err,omitempty"`
	Worker      string  `msgpack:"wrk"` // that proved, or that gave up
	SynthWorker string  `msgpack:"synth,omitempty"`
	Device      string  `msgpack:"dev,omitempty"`    // UUID of the GPU; empty for a CPU
	VK          Digest  `msgpack:"vk"`               // SHA-256 of the verifying key file that the prover holds
	Stages      []Stage `msgpack:"stages,omitempty"` // synthesis and proving
}

// Validate implements Message.
func (p *PartitionProof) Validate() error {
	if err := p.Task.validate(); err != nil {
		return err
	}
	if p.Error != nil {
		if err := p.Error.validate(); err != nil {
			return err
		}
		if len(p.Proof) != 0 {
			return Errorf(CodeBadMessage, "partition proof of job %s: both a proof and an error", p.Task.ID)
		}
	} else if len(p.Proof) != ProofBytes {
		return Errorf(CodeBadMessage, "partition proof of job %s: %d bytes, want %d", p.Task.ID, len(p.Proof), ProofBytes)
	}
	if err := validateToken("worker", p.Worker); err != nil {
		return err
	}
	if p.SynthWorker != "" {
		if err := validateToken("worker", p.SynthWorker); err != nil {
			return err
		}
	}
	if len(p.Device) > 128 {
		return Errorf(CodeBadMessage, "partition proof of job %s: device name of %d bytes", p.Task.ID, len(p.Device))
	}
	return validateStages(p.Stages)
}
