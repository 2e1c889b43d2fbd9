package wire

import "slices"

// JobState is the state of a job in the ledger.
type JobState uint8

// The states of a job. The last four are ends, with the numbers of Status + 2.
const (
	JobQueued    JobState = 1 // admitted; its partition jobs may not be published yet
	JobRunning   JobState = 2 // its partition jobs are published
	JobCompleted JobState = 3
	JobFailed    JobState = 4
	JobCancelled JobState = 5
	JobExpired   JobState = 6
)

var jobStateNames = [...]string{
	JobQueued: "queued", JobRunning: "running",
	JobCompleted: "completed", JobFailed: "failed", JobCancelled: "cancelled", JobExpired: "expired",
}

// Valid reports whether s is a state.
func (s JobState) Valid() bool { return s >= JobQueued && s <= JobExpired }

// Ended reports whether s is an end.
func (s JobState) Ended() bool { return s >= JobCompleted && s <= JobExpired }

// String gives the state's word.
func (s JobState) String() string {
	if !s.Valid() {
		return "unknown"
	}
	return jobStateNames[s]
}

// StateOf is the end state that belongs to a result's status.
func StateOf(s Status) JobState { return JobState(s) + 2 }

// jobEdges are the allowed moves. An end moves to queued only when a new run begins.
var jobEdges = map[JobState][]JobState{
	JobQueued:    {JobRunning, JobCompleted, JobFailed, JobCancelled, JobExpired},
	JobRunning:   {JobCompleted, JobFailed, JobCancelled, JobExpired},
	JobCompleted: {JobQueued},
	JobFailed:    {JobQueued},
	JobCancelled: {JobQueued},
	JobExpired:   {JobQueued},
}

// PartitionState is the state of one partition in the ledger.
type PartitionState uint8

// The states of a partition, in the order of its way. Within one attempt a partition only moves forward, perhaps by several
// states at once, as progress may be lost. A new attempt begins at queued.
const (
	PartitionQueued       PartitionState = 1 // its synth job is published, or will be by the reconciler
	PartitionSynthesizing PartitionState = 2
	PartitionReady        PartitionState = 3 // blob and prove job are stored
	PartitionProving      PartitionState = 4
	PartitionProved       PartitionState = 5 // a proof arrived, not yet verified
	PartitionVerified     PartitionState = 6 // its proof is in the record; final for the run
)

var partitionStateNames = [...]string{
	PartitionQueued: "queued", PartitionSynthesizing: "synthesizing", PartitionReady: "ready",
	PartitionProving: "proving", PartitionProved: "proved", PartitionVerified: "verified",
}

// Valid reports whether s is a state.
func (s PartitionState) Valid() bool { return s >= PartitionQueued && s <= PartitionVerified }

// String gives the state's word.
func (s PartitionState) String() string {
	if !s.Valid() {
		return "unknown"
	}
	return partitionStateNames[s]
}

// PartitionRecord is one partition in the ledger.
type PartitionRecord struct {
	State     PartitionState  `msgpack:"state"`
	Attempt   uint32          `msgpack:"try"` // the one that counts: what earlier attempts still send is dropped
	Since     Millis          `msgpack:"since"`
	Proof     []byte          `msgpack:"proof,omitempty"` // when verified
	LastError *Error          `msgpack:"err,omitempty"`   // of the attempt before
	Timing    PartitionTiming `msgpack:"time"`
}

// JobRecord is a job in the ledger: the truth about it. The request itself is stored beside it once, as it may be large.
type JobRecord struct {
	Head       `msgpack:",inline"`
	JobKey     `msgpack:",inline"`
	Run        uint32            `msgpack:"run"`
	Statement  Statement         `msgpack:"st"`
	Circuit    string            `msgpack:"circ"`
	Label      string            `msgpack:"label,omitempty"`
	Priority   Priority          `msgpack:"prio"`
	Deadline   Millis            `msgpack:"due,omitempty"`
	State      JobState          `msgpack:"state"`
	Error      *Error            `msgpack:"err,omitempty"` // of an end other than completed
	Submitted  Millis            `msgpack:"sub"`
	Updated    Millis            `msgpack:"upd"`
	Objects    []ObjectRef       `msgpack:"objs,omitempty"`  // inputs, to be deleted at the end
	Trace      map[string]string `msgpack:"trace,omitempty"` // trace context of the request, for jobs published again
	Partitions []PartitionRecord `msgpack:"parts"`
}

// Validate implements Message.
func (r *JobRecord) Validate() error {
	if err := r.JobKey.validate(); err != nil {
		return err
	}
	if err := r.Statement.Validate(); err != nil {
		return err
	}
	if err := validateToken("circuit", r.Circuit); err != nil {
		return err
	}
	if r.Run == 0 || !r.Priority.Valid() || !r.State.Valid() || len(r.Label) > MaxLabelBytes || len(r.Objects) > MaxObjects || len(r.Trace) > 8 {
		return Errorf(CodeBadMessage, "record of job %s: run %d, priority %d, state %d, or a field is too long", r.ID, r.Run, r.Priority, r.State)
	}
	if n := len(r.Partitions); n == 0 || n > MaxPartitions {
		return Errorf(CodeBadMessage, "record of job %s: %d partitions, want 1 to %d", r.ID, n, MaxPartitions)
	}
	if ended := r.State.Ended() && r.State != JobCompleted; ended != (r.Error != nil) {
		return Errorf(CodeBadMessage, "record of job %s: %s, and an error is given: %t", r.ID, r.State, r.Error != nil)
	}
	for i := range r.Partitions {
		p := &r.Partitions[i]
		if !p.State.Valid() || p.Attempt == 0 {
			return Errorf(CodeBadMessage, "record of job %s: partition %d in state %d, attempt %d", r.ID, i, p.State, p.Attempt)
		}
		if verified := p.State == PartitionVerified; verified != (len(p.Proof) == ProofBytes) || !verified && len(p.Proof) != 0 {
			return Errorf(CodeBadMessage, "record of job %s: partition %d is %s with %d bytes of proof", r.ID, i, p.State, len(p.Proof))
		}
		if err := validateStages(p.Timing.Stages); err != nil {
			return err
		}
	}
	return nil
}

// Verified counts the partitions whose proof is verified.
func (r *JobRecord) Verified() int {
	n := 0
	for i := range r.Partitions {
		if r.Partitions[i].State == PartitionVerified {
			n++
		}
	}
	return n
}

// Counts reports whether what a task is about is still wanted: the job is under way in the task's run, and the partition is neither
// verified nor at a later attempt. Whatever arrives for a task that does not count is dropped.
func (r *JobRecord) Counts(t *Task) bool {
	if r.JobKey != t.JobKey || r.Run != t.Run || r.State.Ended() || int(t.Partition) >= len(r.Partitions) {
		return false
	}
	p := &r.Partitions[t.Partition]
	return p.State != PartitionVerified && p.Attempt <= t.Attempt
}

// CheckEdge reports whether the ledger may replace before by after: the same job, a move along an edge of the state machine,
// and partitions that only move forward unless a new attempt or a new run begins.
func CheckEdge(before, after *JobRecord) error {
	if before.JobKey != after.JobKey {
		return Errorf(CodeConflict, "record of job %s: it may not become job %s", before.ID, after.ID)
	}
	if after.Run != before.Run {
		if after.Run < before.Run || !before.State.Ended() || after.State != JobQueued {
			return Errorf(CodeConflict, "job %s: run %d %s may not become run %d %s", before.ID, before.Run, before.State, after.Run, after.State)
		}
		return nil
	}
	if before.State != after.State && !allowed(before.State, after.State) || before.State.Ended() && before.State != after.State {
		return Errorf(CodeConflict, "job %s: it may not move from %s to %s", before.ID, before.State, after.State)
	}
	if after.State == JobCompleted && after.Verified() != len(after.Partitions) {
		return Errorf(CodeConflict, "job %s: completed with %d of %d partitions verified", before.ID, after.Verified(), len(after.Partitions))
	}
	if len(before.Partitions) != len(after.Partitions) {
		return Errorf(CodeConflict, "job %s: %d partitions may not become %d", before.ID, len(before.Partitions), len(after.Partitions))
	}
	for i := range before.Partitions {
		b, a := &before.Partitions[i], &after.Partitions[i]
		switch {
		case b.State == PartitionVerified && (a.State != PartitionVerified || a.Attempt != b.Attempt),
			a.Attempt < b.Attempt,
			a.Attempt == b.Attempt && a.State < b.State:
			return Errorf(CodeConflict, "job %s: partition %d may not move from %s (attempt %d) to %s (attempt %d)",
				before.ID, i, b.State, b.Attempt, a.State, a.Attempt)
		}
	}
	return nil
}

func allowed(from, to JobState) bool {
	return slices.Contains(jobEdges[from], to)
}
