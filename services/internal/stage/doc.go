// Package stage times the work of the services: each stage is a span of the request's trace, a line of its timeline and a value of
// a histogram.
//
// A request's trace has one root and single parents: the request's span, under it one for each partition, under that the stages of
// queue, synth, prove and verify. The spans of request and partitions live longer than any process. Their ids are fixed when the
// request is admitted; whoever ends them makes them then, with their real times.
package stage
