// Package bus is the services' side of the message system: connection, streams and buckets, work queues with priorities and
// deadlines, the ledger of jobs, results, progress, the fleet, dead letters and the control requests of clients.
//
// The state of the pipeline lives in NATS only. The ledger says what is true of a job; streams carry work and may lose it, in
// which case a reconciler publishes it again; whatever a worker sends is checked against the ledger, so that a worker that
// wakes up late changes nothing. A job's result is decided by who writes it first, once per run.
//
// The package knows jobs, partitions and circuits only by name. docs/protocol.md has the subjects and the state machine,
// docs/concurrency.md the goroutines. Objects are in package objects, the embedded server in package embedded.
package bus
