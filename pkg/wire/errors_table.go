package wire

import "fmt"

// Code is the number of an error. Numbers are never used again for another meaning. 1xxx are terminal, 2xxx transient, 3xxx the
// worker's. A Code is itself an error, to be compared with by errors.Is.
type Code uint16

// The codes. Their table is Table.
const (
	CodeBadMessage         Code = 1001
	CodeUnsupportedVersion Code = 1002
	CodeMessageTooLarge    Code = 1003
	CodeBadRequest         Code = 1004
	CodeUnknownProof       Code = 1005
	CodeUnsupportedCircuit Code = 1006
	CodeSizeContradiction  Code = 1007
	CodeInputTooLarge      Code = 1008
	CodeInputCorrupt       Code = 1009
	CodeInputMissing       Code = 1010
	CodeBadInput           Code = 1011
	CodeBadVanillaProof    Code = 1012
	CodeNoSuchJob          Code = 1013
	CodeNotPermitted       Code = 1014
	CodeCancelled          Code = 1020
	CodeExpired            Code = 1021
	CodeAttemptsExhausted  Code = 1030
	CodeProofRejected      Code = 1031
	CodeParametersMissing  Code = 1032
	CodeParametersForeign  Code = 1033

	CodeInternal          Code = 2001
	CodeBusy              Code = 2002
	CodeStorageFull       Code = 2003
	CodeStoreUnavailable  Code = 2004
	CodeBlobCorrupt       Code = 2005
	CodeBlobMissing       Code = 2006
	CodePartitionRejected Code = 2007
	CodeTimeout           Code = 2008
	CodeConflict          Code = 2009
	CodeNoGateway         Code = 2010

	CodeWorkerGone        Code = 3001
	CodeDeviceLost        Code = 3002
	CodeDeviceMemory      Code = 3003
	CodeInterrupted       Code = 3004
	CodeWorkerUnavailable Code = 3005
)

// TableEntry describes one code.
type TableEntry struct {
	Code  Code
	Name  string
	Class Class
	Text  string // what happened
	Do    string // what the reader does about it
}

var table = []TableEntry{
	{CodeBadMessage, "bad_message", Terminal, "a message is not well formed", "send messages as docs/protocol.md describes, or use pkg/client"},
	{CodeUnsupportedVersion, "unsupported_version", Terminal, "a message has a version that this program does not read", "bring client and services to the same release"},
	{CodeMessageTooLarge, "message_too_large", Terminal, "a message is larger than a message may be", "store inputs over 512 KiB as objects"},
	{CodeBadRequest, "bad_request", Terminal, "a field is missing, out of range or contradicts another", "correct the field that the text names"},
	{CodeUnknownProof, "unknown_proof", Terminal, "the registered proof's number does not exist for this kind", "send the number of docs/protocol.md"},
	{CodeUnsupportedCircuit, "unsupported_circuit", Terminal, "nobody in this fleet serves the circuit", "install its parameters on a worker, or send the request elsewhere"},
	{CodeSizeContradiction, "size_contradiction", Terminal, "sector size and registered proof contradict each other", "send 0 or the size that belongs to the registered proof"},
	{CodeInputTooLarge, "input_too_large", Terminal, "an input is larger than its kind allows", "check that the right file was sent"},
	{CodeInputCorrupt, "input_corrupt", Terminal, "an input differs from its announced digest", "submit again"},
	{CodeInputMissing, "input_missing", Terminal, "an input is no longer in the object store", "submit again"},
	{CodeBadInput, "bad_input", Terminal, "a vanilla proof cannot be decoded", "check that its kind, sector size and encoding are right, and that it is whole"},
	{CodeBadVanillaProof, "bad_vanilla_proof", Terminal, "a vanilla proof does not hold; the text names sector and challenge", "make the vanilla proof again; check the sector's storage"},
	{CodeNoSuchJob, "no_such_job", Terminal, "no job with this id is known", "submit the request; results are kept for 24 hours"},
	{CodeNotPermitted, "not_permitted", Terminal, "the account may not do this", "ask the operator for the permission"},
	{CodeCancelled, "cancelled", Terminal, "the job was cancelled", "submit again if the proof is wanted after all"},
	{CodeExpired, "expired", Terminal, "the deadline passed before the proof was made", "add capacity or submit earlier"},
	{CodeAttemptsExhausted, "attempts_exhausted", Terminal, "a partition failed as often as it may", "see the reasons of its attempts, then retry the job"},
	{CodeProofRejected, "proof_rejected", Terminal, "the proof did not verify, also when made again", "check parameters and devices; keep the inputs for a report"},
	{CodeParametersMissing, "parameters_missing", Terminal, "a parameter file is missing", "fetch the parameters of the circuit that the text names"},
	{CodeParametersForeign, "parameters_foreign", Terminal, "a parameter file is not the one expected", "verify the parameters and fetch them again"},

	{CodeInternal, "internal", Transient, "an unexpected error", "see the text; it is tried again"},
	{CodeBusy, "busy", Transient, "the fleet is full", "wait for the given time, then submit again"},
	{CodeStorageFull, "storage_full", Transient, "a stream or bucket is at its limit", "it is tried again; raise the limit or add workers"},
	{CodeStoreUnavailable, "store_unavailable", Transient, "the message system did not answer in time", "it is tried again; check the servers"},
	{CodeBlobCorrupt, "blob_corrupt", Transient, "a witness blob differs from its digest", "the partition is made again"},
	{CodeBlobMissing, "blob_missing", Transient, "a witness blob is no longer in the object store", "the partition is made again"},
	{CodePartitionRejected, "partition_rejected", Transient, "a partition's proof did not verify", "it is made again once, elsewhere"},
	{CodeTimeout, "timeout", Transient, "a step took longer than it may", "it is tried again"},
	{CodeConflict, "conflict", Transient, "somebody else changed the job at the same time, or its state forbids the change", "read the state again"},
	{CodeNoGateway, "no_gateway", Transient, "no gateway answers", "start one, or check connection and permissions"},

	{CodeWorkerGone, "worker_gone", WorkerGone, "the worker stopped sending heartbeats", "another worker takes the partition"},
	{CodeDeviceLost, "device_lost", WorkerGone, "the GPU failed or vanished", "another worker takes the partition; check the host"},
	{CodeDeviceMemory, "device_memory", WorkerGone, "the GPU's memory does not suffice", "another worker takes the partition; lower the slots"},
	{CodeInterrupted, "interrupted", WorkerGone, "the worker is shutting down", "another worker takes the partition"},
	{CodeWorkerUnavailable, "worker_unavailable", WorkerGone, "the worker cannot do this work now", "another worker takes the partition"},
}

var entries = func() map[Code]*TableEntry {
	m := make(map[Code]*TableEntry, len(table))
	for i := range table {
		m[table[i].Code] = &table[i]
	}
	return m
}()

// Table gives a copy of the table in the order of codes.
func Table() []TableEntry { return append([]TableEntry(nil), table...) }

// Entry finds a code's entry.
func (c Code) Entry() (TableEntry, bool) {
	e, ok := entries[c]
	if !ok {
		return TableEntry{}, false
	}
	return *e, true
}

// Class is the class in the table; unknown codes are classed by their thousand.
func (c Code) Class() Class {
	if e, ok := entries[c]; ok {
		return e.Class
	}
	if k := Class(c / 1000); k.Valid() { //nolint:gosec // at most 65
		return k
	}
	return Transient
}

// String is the code's name.
func (c Code) String() string {
	if e, ok := entries[c]; ok {
		return e.Name
	}
	return fmt.Sprintf("code_%d", uint16(c))
}

// Error makes a Code comparable by errors.Is.
func (c Code) Error() string { return c.String() }
