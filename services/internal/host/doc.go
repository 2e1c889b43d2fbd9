// Package host is the life cycle that the services share: a process starts, is ready, drains and ends; tells so by HTTP and by its
// entry in the fleet; and ends its goroutines before Run returns.
//
// Two contexts govern a service. When the caller's ends, the service drains: it takes no new work and finishes what it has in hand.
// The context of the work ends when that has taken longer than the drain timeout, or when the connection is gone for good; what is
// in hand then goes back to its queue as interrupted.
package host
