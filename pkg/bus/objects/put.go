package objects

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
	"github.com/nats-io/nuid"

	"github.com/proofmill/proofmill/pkg/wire"
)

// Error codes of the server that a writer meets.
const (
	codeStreamFull  = 10077 // at its limit of messages or bytes
	codeTooBusy     = 10167 // too many unprocessed messages
	codeNoResources = 10023
	codeNoStorage   = 10047
)

// Put stores size bytes of r under a name that was never used and returns the reference by which they can be read. It blocks
// until the server has stored everything, ctx ends, or Timeout(size) is over. At most the options' InFlightBytes are under
// way. When the server is overrun or the connection breaks it starts anew, which is why r is an io.ReaderAt; a full bucket is
// an error with code storage_full at once.
func (s *Store) Put(ctx context.Context, name string, r io.ReaderAt, size int64) (wire.ObjectRef, error) {
	ref := wire.ObjectRef{Bucket: s.bucket, Name: name, Size: uint64(size)} //nolint:gosec // validated below
	if err := ref.Validate(); err != nil {
		return wire.ObjectRef{}, err
	}
	ctx, cancel := context.WithTimeout(ctx, Timeout(size))
	defer cancel()
	for try := 1; ; try++ {
		sum, err := s.putOnce(ctx, name, r, size)
		if err == nil {
			ref.SHA256 = sum
			return ref, nil
		}
		if !retryable(err) || try == maxTries || ctx.Err() != nil {
			return wire.ObjectRef{}, s.classify(fmt.Errorf("object %s in bucket %s: %w", name, s.bucket, err))
		}
		if err := pause(ctx, try); err != nil {
			return wire.ObjectRef{}, s.classify(fmt.Errorf("object %s in bucket %s: %w", name, s.bucket, err))
		}
	}
}

// putOnce writes the chunks under a new id and then the metadata, which makes the object visible.
func (s *Store) putOnce(ctx context.Context, name string, r io.ReaderAt, size int64) (wire.Digest, error) {
	id := nuid.Next()
	sum, chunks, err := s.putChunks(ctx, s.chunkSubject(id), r, size)
	if err == nil {
		err = s.putMeta(ctx, name, id, size, chunks, sum)
	}
	if err != nil {
		// The chunks are orphans now. Removing them is best effort; the collector finds what is left.
		clean, cancel := context.WithTimeout(context.WithoutCancel(ctx), stallTimeout)
		defer cancel()
		if perr := s.purge(clean, s.chunkSubject(id)); perr != nil {
			err = errors.Join(err, perr)
		}
		return wire.Digest{}, err
	}
	return sum, nil
}

func (s *Store) putChunks(ctx context.Context, subject string, r io.ReaderAt, size int64) (wire.Digest, uint32, error) {
	inbox := s.nc.NewInbox()
	sub, err := s.nc.SubscribeSync(inbox)
	if err != nil {
		return wire.Digest{}, 0, err
	}
	defer func() { _ = sub.Unsubscribe() }() // fails only on a closed connection, where nothing is subscribed

	hash := sha256.New()
	buf := make([]byte, min(size, ChunkBytes))
	var sent, acked uint32
	for offset := int64(0); offset < size; {
		chunk := buf[:min(size-offset, int64(len(buf)))]
		if _, err := io.ReadFull(io.NewSectionReader(r, offset, int64(len(chunk))), chunk); err != nil {
			return wire.Digest{}, 0, fmt.Errorf("read at %d: %w", offset, err)
		}
		hash.Write(chunk)
		if int(sent-acked) == s.window() {
			if err := nextAck(ctx, sub); err != nil {
				return wire.Digest{}, 0, err
			}
			acked++
		}
		// The client library copies the chunk before it returns.
		if err := s.nc.PublishRequest(subject, inbox, chunk); err != nil {
			return wire.Digest{}, 0, err
		}
		sent++
		offset += int64(len(chunk))
	}
	for ; acked < sent; acked++ {
		if err := nextAck(ctx, sub); err != nil {
			return wire.Digest{}, 0, err
		}
	}
	return wire.Digest(hash.Sum(nil)), sent, nil
}

func (s *Store) putMeta(ctx context.Context, name, id string, size int64, chunks uint32, sum wire.Digest) error {
	info := jetstream.ObjectInfo{
		ObjectMeta: jetstream.ObjectMeta{Name: name, Opts: &jetstream.ObjectMetaOptions{ChunkSize: ChunkBytes}},
		Bucket:     s.bucket,
		NUID:       id,
		Size:       uint64(size), //nolint:gosec // positive
		Chunks:     chunks,
		Digest:     "SHA-256=" + base64.URLEncoding.EncodeToString(sum[:]),
	}
	msg := nats.NewMsg(s.metaSubject(name))
	msg.Header.Set(jetstream.MsgRollup, jetstream.MsgRollupSubject)
	var err error
	if msg.Data, err = json.Marshal(info); err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, stallTimeout)
	defer cancel()
	reply, err := s.nc.RequestMsgWithContext(ctx, msg)
	if err != nil {
		return err
	}
	return checkAck(reply)
}

// nextAck waits for the server's answer to one chunk. Which one does not matter: all must be stored.
func nextAck(ctx context.Context, sub *nats.Subscription) error {
	ctx, cancel := context.WithTimeout(ctx, stallTimeout)
	defer cancel()
	msg, err := sub.NextMsgWithContext(ctx)
	if err != nil {
		return err
	}
	return checkAck(msg)
}

func checkAck(msg *nats.Msg) error {
	if msg.Header.Get("Status") == "503" {
		return nats.ErrNoResponders
	}
	var ack struct {
		Error *jetstream.APIError `json:"error"`
	}
	if err := json.Unmarshal(msg.Data, &ack); err != nil {
		return fmt.Errorf("answer of the stream: %w", err)
	}
	if ack.Error != nil {
		return ack.Error
	}
	return nil
}

// retryable reports whether the same transfer may succeed if it starts again soon.
func retryable(err error) bool {
	if api, ok := errors.AsType[*jetstream.APIError](err); ok {
		return api.ErrorCode == codeTooBusy
	}
	return errors.Is(err, nats.ErrTimeout) || errors.Is(err, context.DeadlineExceeded) || errors.Is(err, nats.ErrNoResponders) ||
		errors.Is(err, nats.ErrDisconnected) || errors.Is(err, nats.ErrReconnectBufExceeded) || errors.Is(err, nats.ErrConnectionReconnecting)
}

// classify gives err its code unless it has one.
func (s *Store) classify(err error) error {
	if _, ok := errors.AsType[*wire.Error](err); ok {
		return err
	}
	if api, ok := errors.AsType[*jetstream.APIError](err); ok {
		switch api.ErrorCode {
		case codeStreamFull, codeNoResources, codeNoStorage:
			return wire.Errorf(wire.CodeStorageFull, "%w", err)
		}
	}
	if errors.Is(err, context.Canceled) {
		return err
	}
	return wire.Errorf(wire.CodeStoreUnavailable, "%w", err)
}

// pause waits with exponential back-off and full jitter before the next try.
func pause(ctx context.Context, try int) error {
	limit := min(100*time.Millisecond<<try, 5*time.Second)
	timer := time.NewTimer(50*time.Millisecond + rand.N(limit))
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
