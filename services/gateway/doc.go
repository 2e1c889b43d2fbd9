// Package gateway is the service between clients and workers. It reads and checks requests, writes them into the ledger, publishes
// their partition jobs, verifies the partitions' proofs against public inputs that it derives itself, and publishes the one result of
// each run.
//
// Gateways keep no state of their own: any of them may take any message, and several run at once. A step between two effects may be
// cut at any point. What moves a job on is written first (the request and its record, the verified proof, the result), and what
// follows from it is done again by whoever finds it undone: the gateway that gets the message again, or the reconciler. The result's
// stream decides how a run ended; the ledger follows it.
package gateway
