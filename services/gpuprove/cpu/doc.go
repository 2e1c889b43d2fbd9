// Package cpu is the backend that proves on processors with package groth16. It is exact and slow: for tests, small sectors and
// checks of other backends.
package cpu
