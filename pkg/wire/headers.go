package wire

import (
	"context"
	"fmt"
	"net/textproto"
	"strconv"
	"strings"

	"go.opentelemetry.io/otel/propagation"
)

// Headers of work messages, beside those of NATS and the trace context.
const (
	HeaderDeadline  = "Pm-Deadline"  // Unix milliseconds, absent without a deadline
	HeaderRun       = "Pm-Run"       // run of the job, decimal
	HeaderReturns   = "Pm-Returns"   // how often a worker gave the message back without an attempt being counted
	HeaderReason    = "Pm-Reason"    // dead letters: the error's text
	HeaderCode      = "Pm-Code"      // dead letters: the error's code
	HeaderSubject   = "Pm-Subject"   // dead letters: where the message was
	HeaderDelivered = "Pm-Delivered" // dead letters: how often it was delivered
)

// HeaderCarrier carries a trace context in message headers: it writes lower-case names, as W3C does, and reads any case, as
// NATS header names are case-sensitive and other programs write them otherwise. Convert a nats.Header to it.
type HeaderCarrier map[string][]string

// Get gives the first value of the header in whatever case.
func (c HeaderCarrier) Get(key string) string {
	for _, k := range []string{strings.ToLower(key), key, textproto.CanonicalMIMEHeaderKey(key)} {
		if v := c[k]; len(v) > 0 {
			return v[0]
		}
	}
	for k, v := range c {
		if strings.EqualFold(k, key) && len(v) > 0 {
			return v[0]
		}
	}
	return ""
}

// Set replaces the header in whatever case by one with a lower-case name.
func (c HeaderCarrier) Set(key, value string) {
	for k := range c {
		if strings.EqualFold(k, key) {
			delete(c, k)
		}
	}
	c[strings.ToLower(key)] = []string{value}
}

// Keys lists the header names.
func (c HeaderCarrier) Keys() []string {
	keys := make([]string, 0, len(c))
	for k := range c {
		keys = append(keys, k)
	}
	return keys
}

var propagator = propagation.NewCompositeTextMapPropagator(propagation.TraceContext{}, propagation.Baggage{})

// Inject writes the span context and baggage of ctx into header.
func Inject(ctx context.Context, header map[string][]string) {
	propagator.Inject(ctx, HeaderCarrier(header))
}

// Extract adds the span context and baggage in header to ctx, as a remote parent.
func Extract(ctx context.Context, header map[string][]string) context.Context {
	return propagator.Extract(ctx, HeaderCarrier(header))
}

// InjectMap gives the trace context of ctx as it is kept in the ledger; nil without one.
func InjectMap(ctx context.Context) map[string]string {
	m := propagation.MapCarrier{}
	propagator.Inject(ctx, m)
	if len(m) == 0 {
		return nil
	}
	return m
}

// ExtractMap is the inverse of InjectMap.
func ExtractMap(ctx context.Context, m map[string]string) context.Context {
	return propagator.Extract(ctx, propagation.MapCarrier(m))
}

// DeadlineOf reads HeaderDeadline; a missing or malformed one is none.
func DeadlineOf(header map[string][]string) Millis {
	v, err := strconv.ParseInt(HeaderCarrier(header).Get(HeaderDeadline), 10, 64)
	if err != nil || v < 0 {
		return 0
	}
	return Millis(v)
}

// HeaderMsgID is the header by which the server recognizes a repeated message.
const HeaderMsgID = "Nats-Msg-Id"

// TaskHeaders are the headers of a work message: run, deadline, message id, and the trace context of ctx.
func TaskHeaders(ctx context.Context, run uint32, deadline Millis, id string) map[string][]string {
	h := map[string][]string{HeaderRun: {strconv.FormatUint(uint64(run), 10)}}
	if deadline != 0 {
		h[HeaderDeadline] = []string{strconv.FormatInt(int64(deadline), 10)}
	}
	if id != "" {
		h[HeaderMsgID] = []string{id}
	}
	Inject(ctx, h)
	return h
}

// RequestEnvelope is the message by which a client asks for a proof: subject, headers and payload. Its id lets only one of equal
// requests of a run and class in.
func RequestEnvelope(ctx context.Context, names Names, r *Request) (subject string, header map[string][]string, data []byte, err error) {
	if data, err = Encode(r); err != nil {
		return "", nil, nil, err
	}
	key := r.Key()
	id := fmt.Sprintf("%s.%d.%s", key, r.Run, r.Priority)
	return names.Request(r.Priority, key), TaskHeaders(ctx, r.Run, r.Deadline, id), data, nil
}
