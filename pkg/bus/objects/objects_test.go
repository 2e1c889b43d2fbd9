package objects

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
	"go.uber.org/goleak"

	"github.com/proofmill/proofmill/pkg/bus/embedded"
	"github.com/proofmill/proofmill/pkg/wire"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

type bundle struct {
	nc    *nats.Conn
	js    jetstream.JetStream
	store *Store
}

func setup(t testing.TB, maxBytes int64) bundle {
	t.Helper()
	s, err := embedded.Start(t.Context(), embedded.Config{StoreDir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Shutdown)
	closed := make(chan struct{})
	nc, err := nats.Connect("", s.Option(), nats.ClosedHandler(func(*nats.Conn) { close(closed) }))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { nc.Close(); <-closed })
	js, err := jetstream.New(nc)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := js.CreateObjectStore(t.Context(), jetstream.ObjectStoreConfig{Bucket: "B", MaxBytes: maxBytes}); err != nil {
		t.Fatal(err)
	}
	return bundle{nc: nc, js: js, store: New(nc, js, "B", Options{})}
}

func (b bundle) stream(t testing.TB) jetstream.Stream {
	t.Helper()
	s, err := b.js.Stream(t.Context(), "OBJ_B")
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// random makes size bytes that depend on the seed.
func random(seed byte, size int) []byte {
	data := make([]byte, size)
	r := rand.NewChaCha8([32]byte{seed})
	_, _ = r.Read(data) // never fails
	return data
}

func TestRoundTrip(t *testing.T) {
	b := setup(t, -1)
	stock, err := b.js.ObjectStore(t.Context(), "B")
	if err != nil {
		t.Fatal(err)
	}
	for i, size := range []int{1, ChunkBytes - 1, ChunkBytes, ChunkBytes + 1, 3 * ChunkBytes, DefaultInFlightBytes + 2*ChunkBytes + 5} {
		data := random(byte(i), size)
		ref, err := b.store.Put(t.Context(), NewName("blob"), bytes.NewReader(data), int64(size))
		if err != nil {
			t.Fatal(err)
		}
		got, err := b.store.Get(t.Context(), ref)
		if err != nil || !bytes.Equal(got, data) {
			t.Fatalf("%d bytes: not read back: %v", size, err)
		}
		// Stock tools see the same object, in full chunks.
		info, err := stock.GetInfo(t.Context(), ref.Name)
		if err != nil {
			t.Fatal(err)
		}
		if want := (size + ChunkBytes - 1) / ChunkBytes; int(info.Chunks) != want {
			t.Errorf("%d bytes: %d chunks, want %d", size, info.Chunks, want)
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		theirs, err := stock.GetBytes(ctx, ref.Name)
		cancel()
		if err != nil || !bytes.Equal(theirs, data) {
			t.Errorf("%d bytes: the stock client reads other bytes: %v", size, err)
		}
		if err := b.store.Delete(t.Context(), ref.Name); err != nil {
			t.Fatal(err)
		}
		if _, err := b.store.Get(t.Context(), ref); !errors.Is(err, wire.CodeBlobMissing) {
			t.Errorf("a deleted object gives %v", err)
		}
		if err := b.store.Delete(t.Context(), ref.Name); err != nil {
			t.Errorf("deleting again: %v", err)
		}
	}
	info, err := b.stream(t).Info(t.Context())
	if err != nil || info.State.Msgs != 0 {
		t.Errorf("%d messages are left, %v", info.State.Msgs, err)
	}
}

// TestReadsStock reads what the stock client wrote with its own chunk size.
func TestReadsStock(t *testing.T) {
	b := setup(t, -1)
	stock, err := b.js.ObjectStore(t.Context(), "B")
	if err != nil {
		t.Fatal(err)
	}
	data := random(1, 3<<20+17)
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	if _, err := stock.PutBytes(ctx, "theirs", data); err != nil {
		t.Fatal(err)
	}
	got, err := b.store.Get(t.Context(), wire.ObjectRef{Bucket: "B", Name: "theirs", Size: uint64(len(data)), SHA256: wire.SumOf(data)})
	if err != nil || !bytes.Equal(got, data) {
		t.Errorf("not read: %v", err)
	}
}

func TestDamageIsFound(t *testing.T) {
	b := setup(t, -1)
	data := random(2, 5*ChunkBytes)
	put := func(t *testing.T) wire.ObjectRef {
		ref, err := b.store.Put(t.Context(), NewName("blob"), bytes.NewReader(data), int64(len(data)))
		if err != nil {
			t.Fatal(err)
		}
		return ref
	}
	chunks := func(t *testing.T, ref wire.ObjectRef) (subject string, first *jetstream.RawStreamMsg) {
		info, err := b.store.info(t.Context(), ref.Name)
		if err != nil {
			t.Fatal(err)
		}
		subject = b.store.chunkSubject(info.NUID)
		first, err = b.stream(t).GetMsg(t.Context(), 1, jetstream.WithGetMsgSubject(subject))
		if err != nil {
			t.Fatal(err)
		}
		return subject, first
	}
	check := func(t *testing.T, ref wire.ObjectRef) {
		t.Helper()
		// Found by counting and hashing, not by waiting for what does not come.
		ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
		defer cancel()
		if got, err := b.store.Get(ctx, ref); !errors.Is(err, wire.CodeBlobCorrupt) || got != nil {
			t.Errorf("got %d bytes, %v", len(got), err)
		}
	}
	t.Run("chunk deleted", func(t *testing.T) {
		ref := put(t)
		_, first := chunks(t, ref)
		if err := b.stream(t).DeleteMsg(t.Context(), first.Sequence+2); err != nil {
			t.Fatal(err)
		}
		check(t, ref)
	})
	t.Run("chunk changed", func(t *testing.T) {
		ref := put(t)
		subject, first := chunks(t, ref)
		// The first chunk goes and a forged one of the same size comes last.
		if err := b.stream(t).DeleteMsg(t.Context(), first.Sequence); err != nil {
			t.Fatal(err)
		}
		first.Data[100] ^= 1
		if _, err := b.js.Publish(t.Context(), subject, first.Data); err != nil {
			t.Fatal(err)
		}
		check(t, ref)
	})
	t.Run("chunk added", func(t *testing.T) {
		ref := put(t)
		subject, first := chunks(t, ref)
		if err := b.stream(t).DeleteMsg(t.Context(), first.Sequence+4); err != nil {
			t.Fatal(err)
		}
		if _, err := b.js.Publish(t.Context(), subject, append(first.Data, 0)); err != nil {
			t.Fatal(err)
		}
		check(t, ref)
	})
	t.Run("other digest", func(t *testing.T) {
		ref := put(t)
		ref.SHA256[0] ^= 1
		check(t, ref)
	})
	t.Run("other size", func(t *testing.T) {
		ref := put(t)
		ref.Size--
		check(t, ref)
	})
}

// TestManyWriters stores 16 objects at once, each larger than its window; all succeed and read back.
func TestManyWriters(t *testing.T) {
	b := setup(t, -1)
	var wg sync.WaitGroup
	for i := range 16 {
		wg.Go(func() {
			data := random(byte(i), DefaultInFlightBytes+i*1000+1)
			ref, err := b.store.Put(t.Context(), NewName("blob"), bytes.NewReader(data), int64(len(data)))
			if err != nil {
				t.Error(err)
				return
			}
			if got, err := b.store.Get(t.Context(), ref); err != nil || !bytes.Equal(got, data) {
				t.Errorf("writer %d: not read back: %v", i, err)
			}
		})
	}
	wg.Wait()
}

func TestFullBucket(t *testing.T) {
	b := setup(t, 4<<20)
	data := random(3, 3<<20)
	ref, err := b.store.Put(t.Context(), NewName("blob"), bytes.NewReader(data), int64(len(data)))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := b.store.Put(t.Context(), NewName("blob"), bytes.NewReader(data), int64(len(data))); !errors.Is(err, wire.CodeStorageFull) {
		t.Fatalf("a full bucket gives %v", err)
	}
	// What was stored of it is gone, and there is room again after a delete.
	if err := b.store.Delete(t.Context(), ref.Name); err != nil {
		t.Fatal(err)
	}
	if _, err := b.store.Put(t.Context(), NewName("blob"), bytes.NewReader(data), int64(len(data))); err != nil {
		t.Error(err)
	}
}

func TestBadArguments(t *testing.T) {
	b := setup(t, -1)
	if _, err := b.store.Put(t.Context(), "", bytes.NewReader(nil), 0); wire.ClassOf(err) != wire.Terminal {
		t.Errorf("an empty object gives %v", err)
	}
	if _, err := b.store.Put(t.Context(), "short", bytes.NewReader(make([]byte, 10)), 20); err == nil {
		t.Error("a reader that is too short is stored")
	}
	if _, err := b.store.Get(t.Context(), wire.ObjectRef{Bucket: "OTHER", Name: "x", Size: 1}); !errors.Is(err, wire.CodeBadRequest) {
		t.Errorf("another bucket's object gives %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := b.store.Put(ctx, "late", bytes.NewReader(make([]byte, 10)), 10); !errors.Is(err, context.Canceled) {
		t.Errorf("an ended context gives %v", err)
	}
}

func TestCollect(t *testing.T) {
	b := setup(t, -1)
	var refs []wire.ObjectRef
	for i := range 3 {
		data := random(byte(i), 2*ChunkBytes)
		ref, err := b.store.Put(t.Context(), fmt.Sprintf("blob.%d", i), bytes.NewReader(data), int64(len(data)))
		if err != nil {
			t.Fatal(err)
		}
		refs = append(refs, ref)
	}
	// A writer that was killed: chunks without metadata.
	if _, err := b.js.Publish(t.Context(), b.store.chunkSubject("ORPHAN"), random(9, 100)); err != nil {
		t.Fatal(err)
	}
	keep := func(name string) bool { return name != "blob.1" }
	if n, err := b.store.Collect(t.Context(), time.Hour, keep); err != nil || n != 0 {
		t.Fatalf("young objects: %d removed, %v", n, err)
	}
	if n, err := b.store.Collect(t.Context(), 0, keep); err != nil || n != 2 {
		t.Fatalf("%d removed, %v; want the orphan and the unwanted one", n, err)
	}
	for i, ref := range refs {
		if _, err := b.store.Get(t.Context(), ref); (err == nil) != (i != 1) {
			t.Errorf("object %d: %v", i, err)
		}
	}
	info, err := b.stream(t).Info(t.Context())
	if err != nil || info.State.Msgs != 2*3 {
		t.Errorf("%d messages are left, %v; want 2 objects of 2 chunks and metadata", info.State.Msgs, err)
	}
}

func BenchmarkPut(b *testing.B) { benchmark(b, false) }
func BenchmarkGet(b *testing.B) { benchmark(b, true) }

func benchmark(b *testing.B, get bool) {
	s := setup(b, -1)
	data := random(1, 25<<20)
	b.SetBytes(int64(len(data)))
	for b.Loop() {
		b.StopTimer()
		name := NewName("blob")
		if !get {
			b.StartTimer()
		}
		ref, err := s.store.Put(b.Context(), name, bytes.NewReader(data), int64(len(data)))
		if err != nil {
			b.Fatal(err)
		}
		if get {
			b.StartTimer()
			if _, err := s.store.Get(b.Context(), ref); err != nil {
				b.Fatal(err)
			}
		}
		b.StopTimer()
		if err := s.store.Delete(b.Context(), name); err != nil {
			b.Fatal(err)
		}
		b.StartTimer()
	}
}

// BenchmarkManyWriters stores 16 blobs of 64 MiB at once, as 16 synths do.
func BenchmarkManyWriters(b *testing.B) {
	s := setup(b, -1)
	data := random(1, 64<<20)
	b.SetBytes(16 * int64(len(data)))
	for b.Loop() {
		var wg sync.WaitGroup
		refs := make([]wire.ObjectRef, 16)
		for i := range refs {
			wg.Go(func() {
				var err error
				if refs[i], err = s.store.Put(b.Context(), NewName("blob"), bytes.NewReader(data), int64(len(data))); err != nil {
					b.Error(err)
				}
			})
		}
		wg.Wait()
		b.StopTimer()
		for i := range refs {
			if err := s.store.Delete(b.Context(), refs[i].Name); err != nil {
				b.Fatal(err)
			}
		}
		b.StartTimer()
	}
}
