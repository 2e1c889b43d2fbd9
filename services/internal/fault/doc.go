// Package fault gives errors of the mathematics and of files the code and class that travel on the wire, with details such as
// sector, partition and challenge, so that each outcome of a request has one clear reason wherever it arose.
package fault
