// Package e2e runs the real binary: a NATS server, a process for each service, and what an operator
// or a crash does to them.
package e2e
