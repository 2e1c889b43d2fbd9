package wire

import (
	"fmt"
	"strconv"
	"strings"
	"time"
)

// DefaultPrefix is the first token of all subjects and, in upper case, the first part of all stream and bucket names.
const DefaultPrefix = "pm"

// DefaultAccount is the tenant of a fleet with only one.
const DefaultAccount = "main"

// Work is one of the work queues.
type Work string

// The work queues, in the order in which a request passes them.
const (
	WorkRequests Work = "req"   // from clients to gateways
	WorkSynth    Work = "synth" // from gateways to synth
	WorkProve    Work = "prove" // from synth to gpuprove
	WorkDone     Work = "done"  // partition proofs and failures, from workers to gateways
)

// Works lists the queues.
func Works() []Work { return []Work{WorkRequests, WorkSynth, WorkProve, WorkDone} }

// PerCircuit reports whether the queue's subjects carry lane and circuit, so that workers pull only what they serve.
func (w Work) PerCircuit() bool { return w == WorkSynth || w == WorkProve }

// Lane orders the work of one priority class by how soon its deadline was when it was published. JetStream consumers deliver
// in stream order; lanes give the earliest deadlines their own consumers.
type Lane string

// The lanes in the order of service.
const (
	LaneNow   Lane = "now"   // due within LaneNowSlack
	LaneSoon  Lane = "soon"  // due within LaneSoonSlack
	LaneLater Lane = "later" // due later or never
)

// Slack between publication and deadline that decides the lane.
const (
	LaneNowSlack  = 2 * time.Minute
	LaneSoonSlack = 20 * time.Minute
)

// Lanes lists the lanes in the order of service.
func Lanes() []Lane { return []Lane{LaneNow, LaneSoon, LaneLater} }

// LaneOf chooses the lane for work due at the deadline and published now.
func LaneOf(deadline Millis, now time.Time) Lane {
	if deadline == 0 {
		return LaneLater
	}
	switch slack := deadline.Time().Sub(now); {
	case slack <= LaneNowSlack:
		return LaneNow
	case slack <= LaneSoonSlack:
		return LaneSoon
	default:
		return LaneLater
	}
}

// Names makes the subjects, stream, bucket and consumer names of one deployment. The zero value has the default prefix.
type Names struct{ prefix string }

// NewNames checks the prefix: 1 to 16 lower-case letters or digits.
func NewNames(prefix string) (Names, error) {
	if len(prefix) > 16 || !isToken(prefix) || strings.ToLower(prefix) != prefix || strings.ContainsAny(prefix, "-_") {
		return Names{}, Errorf(CodeBadRequest, "subject prefix %.40q: want 1 to 16 lower-case letters or digits", prefix)
	}
	return Names{prefix: prefix}, nil
}

// Prefix is the first token of all subjects.
func (n Names) Prefix() string {
	if n.prefix == "" {
		return DefaultPrefix
	}
	return n.prefix
}

func (n Names) join(tokens ...string) string { return n.Prefix() + "." + strings.Join(tokens, ".") }

func (n Names) upper(s string) string { return strings.ToUpper(n.Prefix() + "_" + s) }

// Request is <p>.req.<priority>.<account>.<id>.
func (n Names) Request(p Priority, k JobKey) string {
	return n.join(string(WorkRequests), p.String(), k.Account, string(k.ID))
}

// Task is the subject of a partition's message in a queue:
// <p>.synth|prove.<priority>.<lane>.<circuit>.<account>.<id>.<partition>, or <p>.done.<priority>.<account>.<id>.<partition>.
func (n Names) Task(w Work, t *Task, lane Lane) string {
	part := strconv.FormatUint(uint64(t.Partition), 10)
	if w.PerCircuit() {
		return n.join(string(w), t.Priority.String(), string(lane), t.Circuit, t.Account, string(t.ID), part)
	}
	return n.join(string(w), t.Priority.String(), t.Account, string(t.ID), part)
}

// TaskAny matches a partition's messages in a queue whatever their priority, lane and circuit.
func (n Names) TaskAny(w Work, k JobKey, partition uint32) string {
	part := strconv.FormatUint(uint64(partition), 10)
	if w.PerCircuit() {
		return n.join(string(w), "*", "*", "*", k.Account, string(k.ID), part)
	}
	return n.join(string(w), "*", k.Account, string(k.ID), part)
}

// JobAny matches all messages of a job in a queue.
func (n Names) JobAny(w Work, k JobKey) string {
	switch {
	case w == WorkRequests:
		return n.join(string(w), "*", k.Account, string(k.ID))
	case w.PerCircuit():
		return n.join(string(w), "*", "*", "*", k.Account, string(k.ID), ">")
	default:
		return n.join(string(w), "*", k.Account, string(k.ID), ">")
	}
}

// WorkFilter matches what one consumer of a queue delivers. Lane and circuit are for queues with PerCircuit.
func (n Names) WorkFilter(w Work, p Priority, lane Lane, circuit string) string {
	if w.PerCircuit() {
		return n.join(string(w), p.String(), string(lane), circuit, ">")
	}
	return n.join(string(w), p.String(), ">")
}

// WorkSubjects are the subjects that a queue takes: those that one of its consumers may read, and no others, as a message that nobody
// reads would stay for ever.
func (n Names) WorkSubjects(w Work) []string {
	var all []string
	for _, p := range Priorities() {
		switch {
		case w == WorkRequests:
			all = append(all, n.join(string(w), p.String(), "*", "*"))
		case w.PerCircuit():
			for _, lane := range Lanes() {
				all = append(all, n.join(string(w), p.String(), string(lane), "*", "*", "*", "*"))
			}
		default:
			all = append(all, n.join(string(w), p.String(), "*", "*", "*"))
		}
	}
	return all
}

// Consumer is the durable name of the consumer with the WorkFilter of the same arguments.
func (n Names) Consumer(w Work, p Priority, lane Lane, circuit string) string {
	if w.PerCircuit() {
		return strings.Join([]string{string(w), p.String(), string(lane), circuit}, "_")
	}
	return string(w) + "_" + p.String()
}

// End is <p>.end.<account>.<id>: where gateways publish results and under which the stream keeps the one that counts.
func (n Names) End(k JobKey) string { return n.join("end", k.Account, string(k.ID)) }

// Result is <p>.res.<account>.<id>: where the stream publishes each result that it has stored, for those who wait.
func (n Names) Result(k JobKey) string { return n.join("res", k.Account, string(k.ID)) }

// Progress is <p>.prog.<account>.<id>.
func (n Names) Progress(k JobKey) string { return n.join("prog", k.Account, string(k.ID)) }

// Ask is <p>.ask.<verb>.<account>.<id>: requests of clients to any gateway, answered by a Reply. Verbs: cancel, status.
func (n Names) Ask(verb string, k JobKey) string { return n.join("ask", verb, k.Account, string(k.ID)) }

// Stop is <p>.stop.<account>.<id>: gateways tell workers that a job has ended.
func (n Names) Stop(k JobKey) string { return n.join("stop", k.Account, string(k.ID)) }

// Wake is <p>.wake.<work>: an empty message after new work, so that idle workers need not poll fast.
func (n Names) Wake(w Work) string { return n.join("wake", string(w)) }

// Dead is <p>.dead.<work>.<account>.<id>: messages that were given up.
func (n Names) Dead(w Work, k JobKey) string {
	return n.join("dead", string(w), k.Account, string(k.ID))
}

// All matches the subjects of one group, such as res or prog.
func (n Names) All(group string) string { return n.join(group, ">") }

// Stream is the name of the stream of a queue.
func (n Names) Stream(w Work) string { return n.upper(string(w)) }

// StreamResults is the name of the stream with the end of each job's last run.
func (n Names) StreamResults() string { return n.upper("res") }

// StreamProgress is the name of the stream of what goes on in the jobs.
func (n Names) StreamProgress() string { return n.upper("prog") }

// StreamDead is the name of the stream of messages that were given up.
func (n Names) StreamDead() string { return n.upper("dead") }

// StreamAdvisories is the name of the stream of the server's reports that a message was delivered as often as it may.
func (n Names) StreamAdvisories() string { return n.upper("adv") }

// BucketJobs is the name of the ledger's KV bucket of job records.
func (n Names) BucketJobs() string { return n.upper("jobs") }

// BucketRequests is the name of the ledger's KV bucket of the requests that became jobs.
func (n Names) BucketRequests() string { return n.upper("requests") }

// BucketFleet is the name of the KV bucket of the processes' heartbeats.
func (n Names) BucketFleet() string { return n.upper("fleet") }

// BucketInputs is the name of the object store of large inputs.
func (n Names) BucketInputs() string { return n.upper("inputs") }

// BucketBlobs is the name of the object store of witness blobs.
func (n Names) BucketBlobs() string { return n.upper("blobs") }

// Address is what a work subject says.
type Address struct {
	Work      Work
	Priority  Priority
	Lane      Lane   // with PerCircuit
	Circuit   string // with PerCircuit
	Key       JobKey
	Partition uint32 // not for requests
}

// ParseWork reads a subject of a work queue.
func (n Names) ParseWork(subject string) (Address, error) {
	var a Address
	bad := func() (Address, error) {
		return Address{}, Errorf(CodeBadMessage, "subject %.200q is not one of a work queue", subject)
	}
	rest, ok := strings.CutPrefix(subject, n.Prefix()+".")
	if !ok {
		return bad()
	}
	t := strings.Split(rest, ".")
	a.Work = Work(t[0])
	want := map[Work]int{WorkRequests: 4, WorkDone: 5, WorkSynth: 7, WorkProve: 7}[a.Work]
	if want == 0 || len(t) != want {
		return bad()
	}
	p, err := ParsePriority(t[1])
	if err != nil {
		return bad()
	}
	a.Priority = p
	t = t[2:]
	if a.Work.PerCircuit() {
		a.Lane, a.Circuit, t = Lane(t[0]), t[1], t[2:]
	}
	a.Key = JobKey{Account: t[0], ID: JobID(t[1])}
	if err := a.Key.validate(); err != nil {
		return bad()
	}
	if a.Work != WorkRequests {
		v, err := strconv.ParseUint(t[2], 10, 32)
		if err != nil || v >= MaxPartitions {
			return bad()
		}
		a.Partition = uint32(v)
	}
	return a, nil
}

// ParseKey reads account and id from the last two tokens of a result, progress, stop, ask or dead subject.
func (n Names) ParseKey(subject string) (JobKey, error) {
	t := strings.Split(subject, ".")
	if len(t) < 4 || t[0] != n.Prefix() {
		return JobKey{}, Errorf(CodeBadMessage, "subject %.200q does not end in an account and a job", subject)
	}
	k := JobKey{Account: t[len(t)-2], ID: JobID(t[len(t)-1])}
	if err := k.validate(); err != nil {
		return JobKey{}, fmt.Errorf("subject %.200q: %w", subject, err)
	}
	return k, nil
}
