package objects

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
	"github.com/nats-io/nuid"

	"github.com/proofmill/proofmill/pkg/wire"
)

// Sizes and times of the transfer.
const (
	// ChunkBytes is the size of a stored chunk: half of what a message may hold, as larger ones sync to disk best.
	ChunkBytes = 512 << 10
	// DefaultInFlightBytes bounds what one writer or reader has under way.
	DefaultInFlightBytes = 8 << 20
	// MinBytesPerSecond is the slowest link that a transfer's deadline allows for.
	MinBytesPerSecond = 1 << 20
	// baseTimeout is what a transfer may take beyond its bytes.
	baseTimeout = 15 * time.Second
	// stallTimeout is how long one chunk may take before the transfer is tried again.
	stallTimeout = 10 * time.Second
	// maxTries bounds the tries of one transfer.
	maxTries = 6
)

// Options describe a bucket to its users.
type Options struct {
	InFlightBytes int       // per transfer; 0: DefaultInFlightBytes
	Missing       wire.Code // of the error for an absent object; 0: blob_missing
	Corrupt       wire.Code // of the error for a damaged object; 0: blob_corrupt
}

// Store reads and writes the objects of one bucket. It may be used by many goroutines at once.
type Store struct {
	nc     *nats.Conn
	js     jetstream.JetStream // for management only
	api    string
	bucket string
	opts   Options
}

// New gives access to an existing bucket; it does not speak to the server. Closing the connection is the caller's part.
func New(nc *nats.Conn, js jetstream.JetStream, bucket string, opts Options) *Store {
	if opts.InFlightBytes <= 0 {
		opts.InFlightBytes = DefaultInFlightBytes
	}
	if opts.Missing == 0 {
		opts.Missing = wire.CodeBlobMissing
	}
	if opts.Corrupt == 0 {
		opts.Corrupt = wire.CodeBlobCorrupt
	}
	return &Store{nc: nc, js: js, api: apiPrefix(js), bucket: bucket, opts: opts}
}

// apiPrefix is the subject prefix of the JetStream API for the context's domain.
func apiPrefix(js jetstream.JetStream) string {
	switch o := js.Options(); {
	case o.APIPrefix != "":
		return o.APIPrefix + "."
	case o.Domain != "":
		return "$JS." + o.Domain + ".API."
	default:
		return "$JS.API."
	}
}

// NewName makes a name that no other object has.
func NewName(prefix string) string { return prefix + "." + nuid.Next() }

// Bucket is the bucket's name.
func (s *Store) Bucket() string { return s.bucket }

// Timeout is how long a transfer of size bytes may take: what the slowest allowed link needs, and some more.
func Timeout(size int64) time.Duration {
	return baseTimeout + time.Duration(size)*time.Second/MinBytesPerSecond
}

func (s *Store) stream() string { return "OBJ_" + s.bucket }

func (s *Store) chunkSubject(id string) string { return "$O." + s.bucket + ".C." + id }

func (s *Store) metaSubject(name string) string {
	return "$O." + s.bucket + ".M." + base64.URLEncoding.EncodeToString([]byte(name))
}

// window is how many chunks may be under way.
func (s *Store) window() int { return max(1, s.opts.InFlightBytes/ChunkBytes) }

// Limit is how many bytes the bucket holds at most, 0 or less for no limit.
func (s *Store) Limit(ctx context.Context) (int64, error) {
	stream, err := s.js.Stream(ctx, s.stream())
	if err != nil {
		return 0, s.classify(fmt.Errorf("bucket %s: %w", s.bucket, err))
	}
	return stream.CachedInfo().Config.MaxBytes, nil
}

// Delete removes an object's chunks and metadata. Deleting what is absent is no error.
func (s *Store) Delete(ctx context.Context, name string) error {
	info, err := s.info(ctx, name)
	if errors.Is(err, s.opts.Missing) {
		return nil
	}
	if err != nil {
		return err
	}
	// The metadata goes last: without it nothing would know which chunks to remove after an interruption.
	for _, subject := range []string{s.chunkSubject(info.NUID), s.metaSubject(name)} {
		if err := s.purge(ctx, subject); err != nil {
			return fmt.Errorf("object %s: delete: %w", name, err)
		}
	}
	return nil
}

func (s *Store) purge(ctx context.Context, subject string) error {
	body, err := json.Marshal(map[string]string{"filter": subject})
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, stallTimeout)
	defer cancel()
	resp, err := s.nc.RequestWithContext(ctx, s.api+"STREAM.PURGE."+s.stream(), body)
	if err != nil {
		return wire.Errorf(wire.CodeStoreUnavailable, "purge %s: %w", subject, err)
	}
	var reply struct {
		Error *jetstream.APIError `json:"error"`
	}
	if err := json.Unmarshal(resp.Data, &reply); err != nil {
		return wire.Errorf(wire.CodeStoreUnavailable, "purge %s: %w", subject, err)
	}
	if reply.Error != nil {
		return wire.Errorf(wire.CodeStoreUnavailable, "purge %s: %w", subject, reply.Error)
	}
	return nil
}

// info reads an object's metadata.
func (s *Store) info(ctx context.Context, name string) (*jetstream.ObjectInfo, error) {
	ctx, cancel := context.WithTimeout(ctx, stallTimeout)
	defer cancel()
	msg, err := s.last(ctx, s.metaSubject(name))
	if err != nil {
		return nil, fmt.Errorf("object %s in bucket %s: %w", name, s.bucket, err)
	}
	info := new(jetstream.ObjectInfo)
	if err := json.Unmarshal(msg.Data, info); err != nil {
		return nil, wire.Errorf(s.opts.Corrupt, "object %s in bucket %s: metadata: %w", name, s.bucket, err)
	}
	if info.Deleted || info.NUID == "" {
		return nil, wire.Errorf(s.opts.Missing, "object %s in bucket %s: deleted", name, s.bucket)
	}
	return info, nil
}

// last reads the last message of a subject directly from the stream.
func (s *Store) last(ctx context.Context, subject string) (*nats.Msg, error) {
	msg, err := s.nc.RequestWithContext(ctx, s.api+"DIRECT.GET."+s.stream()+"."+subject, nil)
	if err != nil {
		return nil, wire.Errorf(wire.CodeStoreUnavailable, "read %s: %w", subject, err)
	}
	switch status := msg.Header.Get("Status"); status {
	case "":
		return msg, nil
	case "404":
		return nil, wire.Errorf(s.opts.Missing, "no such object")
	default:
		return nil, wire.Errorf(wire.CodeStoreUnavailable, "read %s: status %s %s", subject, status, msg.Header.Get("Description"))
	}
}

// Collect removes chunks without metadata, which a killed writer left, and objects that keep does not want, both only when
// they are older than grace. It reads each object's metadata and is meant for a rare sweep by one process. It returns how
// many objects it removed. A nil keep keeps all objects.
func (s *Store) Collect(ctx context.Context, grace time.Duration, keep func(name string) bool) (int, error) {
	stream, err := s.js.Stream(ctx, s.stream())
	if err != nil {
		return 0, wire.Errorf(wire.CodeStoreUnavailable, "bucket %s: %w", s.bucket, err)
	}
	info, err := stream.Info(ctx, jetstream.WithSubjectFilter("$O."+s.bucket+".>"))
	if err != nil {
		return 0, wire.Errorf(wire.CodeStoreUnavailable, "bucket %s: list: %w", s.bucket, err)
	}
	chunks, metas := s.chunkSubject(""), "$O."+s.bucket+".M."
	owned := make(map[string]bool)
	removed := 0
	for subject := range info.State.Subjects {
		if len(subject) <= len(metas) || subject[:len(metas)] != metas {
			continue
		}
		msg, err := s.last(ctx, subject)
		if errors.Is(err, s.opts.Missing) {
			continue
		}
		if err != nil {
			return removed, err
		}
		var object jetstream.ObjectInfo
		if err := json.Unmarshal(msg.Data, &object); err != nil {
			continue // not ours to judge
		}
		owned[s.chunkSubject(object.NUID)] = true
		if keep != nil && !keep(object.Name) && age(msg) > grace {
			if err := s.Delete(ctx, object.Name); err != nil {
				return removed, err
			}
			removed++
		}
	}
	for subject := range info.State.Subjects {
		if len(subject) <= len(chunks) || subject[:len(chunks)] != chunks || owned[subject] {
			continue
		}
		msg, err := s.last(ctx, subject)
		if errors.Is(err, s.opts.Missing) {
			continue
		}
		if err != nil {
			return removed, err
		}
		if age(msg) <= grace {
			continue // perhaps still being written
		}
		if err := s.purge(ctx, subject); err != nil {
			return removed, err
		}
		removed++
	}
	return removed, nil
}

// age is how long ago the server stored a message that was read directly.
func age(msg *nats.Msg) time.Duration {
	t, err := time.Parse(time.RFC3339Nano, msg.Header.Get(jetstream.TimeStampHeaer))
	if err != nil {
		return 0
	}
	return time.Since(t)
}

// sequence is a directly read message's place in the stream, 0 if it has none.
func sequence(msg *nats.Msg) uint64 {
	seq, err := strconv.ParseUint(msg.Header.Get(jetstream.SequenceHeader), 10, 64)
	if err != nil {
		return 0
	}
	return seq
}
