package wire

// Status is how a job ended. There is no other end.
type Status uint8

// The four ends.
const (
	Completed Status = 1 // with a verified proof
	Failed    Status = 2 // with an error
	Cancelled Status = 3 // on request
	Expired   Status = 4 // its deadline passed
)

var statusNames = [...]string{Completed: "completed", Failed: "failed", Cancelled: "cancelled", Expired: "expired"}

// Valid reports whether s is one of the four ends.
func (s Status) Valid() bool { return s >= Completed && s <= Expired }

// String gives completed, failed, cancelled or expired.
func (s Status) String() string {
	if !s.Valid() {
		return "unknown"
	}
	return statusNames[s]
}

// PartitionTiming tells where and when one partition was made.
type PartitionTiming struct {
	Partition   uint32  `msgpack:"part"`
	Attempt     uint32  `msgpack:"try"`
	SynthWorker string  `msgpack:"synth,omitempty"`
	ProveWorker string  `msgpack:"prove,omitempty"`
	Device      string  `msgpack:"dev,omitempty"`
	Stages      []Stage `msgpack:"stages,omitempty"`
}

// Result is the one end of one run of a job. Results are stored for 24 hours under their subject.
type Result struct {
	Head       `msgpack:",inline"`
	JobKey     `msgpack:",inline"`
	Run        uint32            `msgpack:"run"`
	Kind       Kind              `msgpack:"kind"`           // 0 where the request could not be read
	Circuit    string            `msgpack:"circ,omitempty"` // empty where the request was refused before it was known
	Label      string            `msgpack:"label,omitempty"`
	Status     Status            `msgpack:"status"`
	Proof      []byte            `msgpack:"proof,omitempty"` // partitions in order, ProofBytes each; verified
	Error      *Error            `msgpack:"err,omitempty"`   // unless completed
	VK         Digest            `msgpack:"vk"`              // SHA-256 of the verifying key file that the gateway verified with
	Submitted  Millis            `msgpack:"sub"`
	Finished   Millis            `msgpack:"fin"`
	Partitions []PartitionTiming `msgpack:"parts,omitempty"`
	Stages     []Stage           `msgpack:"stages,omitempty"` // of the gateway: admit, verify, assemble
}

// Validate implements Message.
func (r *Result) Validate() error {
	if err := r.JobKey.validate(); err != nil {
		return err
	}
	if r.Run == 0 || !r.Status.Valid() || !r.Kind.Valid() && (r.Kind != 0 || r.Status != Failed) {
		return Errorf(CodeBadMessage, "result of job %s: run %d, kind %d, status %d", r.ID, r.Run, r.Kind, r.Status)
	}
	if (r.Status == Completed) != (r.Error == nil) {
		return Errorf(CodeBadMessage, "result of job %s: %s, and an error is given: %t", r.ID, r.Status, r.Error != nil)
	}
	if r.Error != nil {
		if err := r.Error.validate(); err != nil {
			return err
		}
	}
	if n := len(r.Proof); r.Status == Completed && (n == 0 || n%ProofBytes != 0 || n > MaxPartitions*ProofBytes) || r.Status != Completed && n != 0 {
		return Errorf(CodeBadMessage, "result of job %s: %s with %d bytes of proof", r.ID, r.Status, n)
	}
	if len(r.Label) > MaxLabelBytes || len(r.Partitions) > MaxPartitions || len(r.Circuit) > 64 {
		return Errorf(CodeBadMessage, "result of job %s: label, circuit or timings are too long", r.ID)
	}
	for i := range r.Partitions {
		if err := validateStages(r.Partitions[i].Stages); err != nil {
			return err
		}
	}
	return validateStages(r.Stages)
}

// Err is nil for a completed result and otherwise the *Error that says why there is no proof.
func (r *Result) Err() error {
	if r.Error == nil {
		return nil
	}
	return r.Error
}
