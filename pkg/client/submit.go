package client

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/proofmill/proofmill/pkg/bus/objects"
	"github.com/proofmill/proofmill/pkg/wire"
)

// packBytes is how large an object becomes that holds several small inputs. Larger inputs get objects of their own, so that the
// worker of a partition fetches little else.
const packBytes = 8 << 20

// Request asks for one proof.
type Request struct {
	wire.Statement
	// Label is the caller's own request id, for people; it is not part of the job's identity.
	Label string
	// Priority; 0 means the kind's: critical for WinningPoSt, high for WindowPoSt, else normal.
	Priority wire.Priority
	// Deadline after which the proof is worthless; the zero time means none.
	Deadline time.Time
	// Vanilla proofs in the encoding of the reference: PoRep one, the C1 output as JSON, also in Curio's wrapper; PoSt one bincode
	// per sector; SnapDeals one bincode per partition. They are not changed, and not kept after Submit returns.
	Vanilla [][]byte
}

// ID is the identity that the job of this request has in every fleet.
func (r *Request) ID() wire.JobID {
	inputs := make([]wire.Input, len(r.Vanilla))
	for i, v := range r.Vanilla {
		inputs[i] = wire.Input{Size: uint64(len(v)), SHA256: wire.SumOf(v)}
	}
	return wire.ContentID(&r.Statement, inputs)
}

// Submit hands the request to the fleet and returns the job's id. It blocks until the request is stored there, after which this
// process may die. The same content attaches: to the job under way, or to its stored proof, in which case nothing is sent. Whether
// the request is acceptable is said by the result.
func (c *Client) Submit(ctx context.Context, r Request) (wire.JobID, error) {
	w := &wire.Request{
		Account: c.account, Statement: r.Statement, Label: r.Label, Priority: r.Priority, Deadline: wire.MillisOf(r.Deadline), Run: 1,
	}
	if w.Priority == 0 {
		w.Priority = wire.DefaultPriority(r.Kind)
	}
	total, err := check(w, r.Vanilla)
	if err != nil {
		return r.ID(), err
	}
	w.Inputs.List = make([]wire.Input, len(r.Vanilla))
	for i, v := range r.Vanilla {
		w.Inputs.List[i] = wire.InlineInput(v)
	}
	id := w.Key().ID

	last, err := c.stored(ctx, id)
	if err != nil {
		return id, err
	}
	if last != nil {
		if last.Status == wire.Completed {
			c.expect(id, last.Run)
			return id, nil
		}
		w.Run = last.Run + 1
	}
	c.expect(id, w.Run)
	if total > wire.MaxInlineBytes {
		if c.underWay(ctx, id, w.Run) {
			return id, nil
		}
		if err := c.upload(ctx, id, &w.Inputs, r.Vanilla); err != nil {
			return id, fmt.Errorf("request: inputs: %w", err)
		}
	}
	if err := c.publish(ctx, w); err != nil {
		return id, err
	}
	// Gateways that are idle look at once instead of at their next turn.
	if err := c.nc.Publish(c.names.Wake(wire.WorkRequests), nil); err != nil {
		return id, wire.Errorf(wire.CodeStoreUnavailable, "request: %w", err)
	}
	return id, nil
}

// check finds what no gateway would take before anything of it is stored, and gives the size of all vanilla proofs.
func check(w *wire.Request, vanilla [][]byte) (total int, err error) {
	empty := *w
	empty.Inputs.List = []wire.Input{wire.InlineInput([]byte{0})} // the real ones are looked at here: they may be too large for a message
	if err := empty.Validate(); err != nil {
		return 0, err
	}
	for i, v := range vanilla {
		if len(v) == 0 {
			return 0, wire.Errorf(wire.CodeBadRequest, "request: vanilla proof %d is empty", i)
		}
		total += len(v)
	}
	switch {
	case total == 0:
		return 0, wire.Errorf(wire.CodeBadRequest, "request: no vanilla proof is given")
	case len(vanilla) > wire.MaxInputs:
		return 0, wire.Errorf(wire.CodeBadRequest, "request: %d vanilla proofs, at most %d", len(vanilla), wire.MaxInputs)
	case total > wire.MaxInputBytes:
		return 0, wire.Errorf(wire.CodeInputTooLarge, "request: vanilla proofs of %d bytes in all, at most %d", total, wire.MaxInputBytes)
	}
	return total, nil
}

// expect remembers from which run on a result is an answer to what this process submitted.
func (c *Client) expect(id wire.JobID, run uint32) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.runs[id] = run
}

// forget drops what expect remembered, once a result of that run or a later one is stored: it stays the last one.
func (c *Client) forget(id wire.JobID, run uint32) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.runs[id] == run {
		delete(c.runs, id)
	}
}

// underWay asks a gateway whether the job is under way, so that large inputs need not be stored again. No answer means no.
func (c *Client) underWay(ctx context.Context, id wire.JobID, run uint32) bool {
	ctx, cancel := context.WithTimeout(ctx, attachTimeout)
	defer cancel()
	reply, err := c.Status(ctx, id)
	return err == nil && reply.Live && reply.Run >= run
}

// upload stores the inputs as objects and makes the list refer to them: large ones alone, small ones several to an object.
func (c *Client) upload(ctx context.Context, id wire.JobID, inputs *wire.Inputs, vanilla [][]byte) error {
	for begin := 0; begin < len(vanilla); {
		end, size := begin, 0
		for end < len(vanilla) && (end == begin || size+len(vanilla[end]) <= packBytes) {
			size += len(vanilla[end])
			end++
		}
		ref, err := c.inputs.Put(ctx, objects.NewName("in."+id.Short()), concat(vanilla[begin:end], size), int64(size))
		if err != nil {
			return err
		}
		inputs.Objects = append(inputs.Objects, ref)
		offset := uint64(0)
		for i := begin; i < end; i++ {
			x := &inputs.List[i]
			x.Inline, x.Object, x.Offset = nil, uint32(len(inputs.Objects)), offset //nolint:gosec // at most MaxObjects
			offset += x.Size
		}
		begin = end
	}
	return nil
}

func concat(parts [][]byte, size int) io.ReaderAt {
	if len(parts) == 1 {
		return bytes.NewReader(parts[0])
	}
	all := make([]byte, 0, size)
	for _, p := range parts {
		all = append(all, p...)
	}
	return bytes.NewReader(all)
}

// publish stores the request in the fleet's stream. A repetition is recognized by the server.
func (c *Client) publish(ctx context.Context, r *wire.Request) error {
	subject, header, data, err := wire.RequestEnvelope(ctx, c.names, r)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, submitTimeout)
	defer cancel()
	for {
		answer, err := c.exchange(ctx, &nats.Msg{Subject: subject, Header: header, Data: data})
		if err == nil {
			return storedAck(answer.Data)
		}
		if ctx.Err() != nil || c.nc.IsClosed() {
			return wire.Errorf(wire.CodeStoreUnavailable, "request: not stored: %w", err)
		}
		// The connection broke, or no stream takes it as the fleet is starting.
		timer := time.NewTimer(250 * time.Millisecond)
		select {
		case <-timer.C:
		case <-ctx.Done():
			timer.Stop()
			return wire.Errorf(wire.CodeNoGateway, "request: no fleet with prefix %s takes it: %w", c.names.Prefix(), err)
		}
	}
}

// exchange sends one message and waits for the answer, not so long that an answer lost with the connection holds the caller up.
func (c *Client) exchange(ctx context.Context, msg *nats.Msg) (*nats.Msg, error) {
	ctx, cancel := context.WithTimeout(ctx, requestTimeout/4)
	defer cancel()
	return c.nc.RequestMsgWithContext(ctx, msg)
}

func storedAck(data []byte) error {
	var ack struct {
		Error *jetstream.APIError `json:"error"`
	}
	if err := json.Unmarshal(data, &ack); err != nil {
		return wire.Errorf(wire.CodeStoreUnavailable, "request: answer of the stream: %w", err)
	}
	if ack.Error != nil {
		return wire.Errorf(wire.CodeStorageFull, "request: refused by the stream: %w", ack.Error)
	}
	return nil
}
