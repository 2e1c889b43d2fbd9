// Package objects stores and reads large inputs and witness blobs in JetStream object stores.
//
// It keeps the stock object store's layout, so that the usual tools can list and read what it wrote, but writes and reads
// chunks itself: with a bound on the bytes in flight (the stock writer overruns the server's ingest buffer when several write
// at once), full chunks whatever the reader gives, deadlines that follow from the size, and data handed out only after
// length and SHA-256 of the whole object agree with what the message announced.
//
// Object names must be unique: an object is written once, read, and deleted. The package starts no goroutine of its own.
package objects
