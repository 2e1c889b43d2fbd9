// Package wire holds everything that two processes of Proofmill must agree on: the messages and their encoding, the
// identity of a job, the states of the ledger, the subjects and headers, and the table of errors.
//
// Messages are MessagePack maps with short string keys. Every message starts with its version; fields stand in the order of
// the Go struct, so that equal messages are equal bytes. Encode validates before it writes and Decode validates after it
// reads: a value of this package that came off the wire is well formed. Decoding is strict (unknown, repeated or wrongly
// typed fields are refused) and bounded (bytes, depth, counts) before anything is allocated.
//
// The package knows nothing of NATS connections nor of the mathematics; it imports only the MessagePack codec and the
// OpenTelemetry propagation API. docs/protocol.md is its companion for other languages.
package wire
