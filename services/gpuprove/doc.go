// Package gpuprove is the service that turns witnesses into proofs. It takes one prove job at a time in each of its slots, fetches
// and checks the witness blob, lets its backend prove, publishes the partition's proof, deletes the blob and removes the job, in this
// order, so that a process may die at any point: the stream keeps the first outcome of an attempt, and a job whose blob is gone is
// either done already or has its partition made again.
//
// Backends compute; package cpu has the one for processors. There is no silent change from one to another.
package gpuprove
