package objects

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/nats-io/nats.go"

	"github.com/proofmill/proofmill/pkg/wire"
)

// errStalled says that the expected chunks did not come in time; the read goes on after the last one that did.
var errStalled = errors.New("the stream stopped answering")

// Get reads a whole object into memory that the caller owns and returns it only if its size and SHA-256 are those of ref. It
// blocks until then, until ctx ends, or Timeout(size) is over. An absent object and a damaged one have the codes of the
// options; both are found out at once, not by waiting.
func (s *Store) Get(ctx context.Context, ref wire.ObjectRef) ([]byte, error) {
	buf := make([]byte, 0, ref.Size)
	return s.GetInto(ctx, ref, buf)
}

// GetInto is Get with a buffer of the caller, which is used if its capacity suffices. Its content is worthless after an error.
func (s *Store) GetInto(ctx context.Context, ref wire.ObjectRef, buf []byte) ([]byte, error) {
	if err := ref.Validate(); err != nil {
		return nil, err
	}
	if ref.Bucket != s.bucket {
		return nil, wire.Errorf(wire.CodeBadRequest, "object %s: it is in bucket %s, not in %s", ref.Name, ref.Bucket, s.bucket)
	}
	if uint64(cap(buf)) < ref.Size {
		buf = make([]byte, 0, ref.Size)
	}
	ctx, cancel := context.WithTimeout(ctx, Timeout(int64(ref.Size))) //nolint:gosec // validated
	defer cancel()
	data, err := s.get(ctx, ref, buf[:0])
	if err != nil {
		return nil, s.classify(fmt.Errorf("object %s in bucket %s: %w", ref.Name, s.bucket, err))
	}
	if got := wire.Digest(sha256.Sum256(data)); got != ref.SHA256 {
		return nil, wire.Errorf(s.opts.Corrupt, "object %s in bucket %s: SHA-256 is %s, announced was %s", ref.Name, s.bucket, got, ref.SHA256)
	}
	return data, nil
}

func (s *Store) get(ctx context.Context, ref wire.ObjectRef, buf []byte) ([]byte, error) {
	info, err := s.info(ctx, ref.Name)
	if err != nil {
		return nil, err
	}
	if info.Size != ref.Size {
		return nil, wire.Errorf(s.opts.Corrupt, "%d bytes are stored, %d were announced", info.Size, ref.Size)
	}
	r := &reader{store: s, subject: s.chunkSubject(info.NUID), chunks: info.Chunks, size: ref.Size, data: buf, next: 1}
	for try := 1; ; try++ {
		err := r.read(ctx)
		if err == nil {
			return r.data, nil
		}
		if !errors.Is(err, errStalled) && !retryable(err) || try == maxTries || ctx.Err() != nil {
			return nil, err
		}
		if err := pause(ctx, try); err != nil {
			return nil, err
		}
	}
}

// reader fetches an object's chunks in windows by direct reads, each asked for only after the one before has arrived.
type reader struct {
	store   *Store
	subject string
	chunks  uint32 // in all
	size    uint64
	got     uint32
	next    uint64 // stream sequence from which the next window begins
	data    []byte
}

func (r *reader) read(ctx context.Context) error {
	nc := r.store.nc
	inbox := nc.NewInbox()
	sub, err := nc.SubscribeSync(inbox)
	if err != nil {
		return err
	}
	defer func() { _ = sub.Unsubscribe() }() // fails only on a closed connection, where nothing is subscribed
	for r.got < r.chunks {
		if err := r.window(ctx, sub, inbox); err != nil {
			return err
		}
	}
	if uint64(len(r.data)) != r.size {
		return wire.Errorf(r.store.opts.Corrupt, "%d bytes in %d chunks, want %d", len(r.data), r.got, r.size)
	}
	return nil
}

// window asks for some chunks and reads the answers up to the one that says that no more come.
func (r *reader) window(ctx context.Context, sub *nats.Subscription, inbox string) error {
	want := min(r.chunks-r.got, uint32(r.store.window())) //nolint:gosec // small
	body, err := json.Marshal(map[string]any{"seq": r.next, "next_by_subj": r.subject, "batch": want})
	if err != nil {
		return err
	}
	if err := r.store.nc.PublishRequest(r.store.api+"DIRECT.GET."+r.store.stream(), inbox, body); err != nil {
		return err
	}
	before := r.got
	for {
		msg, err := next(ctx, sub)
		if err != nil {
			return err
		}
		switch status := msg.Header.Get("Status"); status {
		case "":
		case "204": // end of the batch
			if r.got == before {
				return r.missing()
			}
			return nil
		case "404":
			return r.missing()
		case "503":
			return nats.ErrNoResponders
		default:
			return fmt.Errorf("status %s %s", status, msg.Header.Get("Description"))
		}
		seq := sequence(msg)
		if seq < r.next {
			return wire.Errorf(r.store.opts.Corrupt, "chunk with sequence %d after %d", seq, r.next)
		}
		if uint64(len(r.data)+len(msg.Data)) > r.size {
			return wire.Errorf(r.store.opts.Corrupt, "more than the announced %d bytes", r.size)
		}
		r.data = append(r.data, msg.Data...)
		r.next = seq + 1
		r.got++
	}
}

func (r *reader) missing() error {
	return wire.Errorf(r.store.opts.Corrupt, "%d of %d chunks are there", r.got, r.chunks)
}

// next waits for one answer, but not longer than a chunk may take.
func next(ctx context.Context, sub *nats.Subscription) (*nats.Msg, error) {
	stall, cancel := context.WithTimeout(ctx, stallTimeout)
	defer cancel()
	msg, err := sub.NextMsgWithContext(stall)
	if err != nil && ctx.Err() == nil && errors.Is(err, context.DeadlineExceeded) {
		return nil, errStalled
	}
	return msg, err
}
