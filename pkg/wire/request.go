package wire

import (
	"fmt"
	"strings"
)

// Limits of a request.
const (
	// MaxInlineBytes bounds the inputs that travel inside a request, in all. Larger ones go to the object store first.
	MaxInlineBytes = 512 << 10
	// MaxInputs bounds the number of vanilla proofs: a WindowPoSt partition has 2349.
	MaxInputs = 4096
	// MaxObjects bounds the objects that a request's inputs lie in.
	MaxObjects = 256
	// MaxInputBytes bounds all inputs of a request together.
	MaxInputBytes = 1 << 30
	// MaxLabelBytes bounds the caller's request id.
	MaxLabelBytes = 256
)

// Statement is what a proof is about, without its vanilla proofs. Fields that a kind does not use are zero.
type Statement struct {
	Kind            Kind   `msgpack:"kind"`
	RegisteredProof uint64 `msgpack:"rp"`    // number of the RegisteredSealProof, RegisteredPoStProof or RegisteredUpdateProof
	SectorSize      uint64 `msgpack:"size"`  // bytes; 0: derive it from the registered proof
	Miner           uint64 `msgpack:"miner"` // actor id
	Sector          uint64 `msgpack:"sector"`
	PartitionIndex  uint32 `msgpack:"pidx"` // WindowPoSt
	Randomness      Digest `msgpack:"rand"` // PoSt challenge randomness
	CommROld        Digest `msgpack:"cro"`  // SnapDeals
	CommRNew        Digest `msgpack:"crn"`  // SnapDeals
	CommDNew        Digest `msgpack:"cdn"`  // SnapDeals
}

// Validate checks what needs no knowledge of Filecoin's tables.
func (s *Statement) Validate() error {
	if !s.Kind.Valid() {
		return Errorf(CodeBadRequest, "request: kind %d is none of 1 to 4", uint8(s.Kind))
	}
	if s.SectorSize&(s.SectorSize-1) != 0 {
		return Errorf(CodeBadRequest, "request: sector size %d is not a power of two", s.SectorSize)
	}
	post := s.Kind == KindWindowPoSt || s.Kind == KindWinningPoSt
	if !post && !s.Randomness.IsZero() {
		return Errorf(CodeBadRequest, "request: randomness is given, but a %s proof has none", s.Kind)
	}
	if s.Kind != KindWindowPoSt && s.PartitionIndex != 0 {
		return Errorf(CodeBadRequest, "request: partition index %d is given for a %s proof", s.PartitionIndex, s.Kind)
	}
	if s.Kind != KindUpdate && !(s.CommROld.IsZero() && s.CommRNew.IsZero() && s.CommDNew.IsZero()) {
		return Errorf(CodeBadRequest, "request: update commitments are given for a %s proof", s.Kind)
	}
	return nil
}

// ObjectRef names an object in the object store, with what is needed to check it before use.
type ObjectRef struct {
	Bucket string `msgpack:"bkt"`
	Name   string `msgpack:"name"`
	Size   uint64 `msgpack:"size"` // bytes
	SHA256 Digest `msgpack:"sum"`  // of the whole object
}

// Validate checks names and size.
func (r *ObjectRef) Validate() error {
	if !isToken(r.Bucket) || len(r.Bucket) > 64 {
		return Errorf(CodeBadRequest, "object: bucket name %.80q has characters other than letters, digits, - and _", r.Bucket)
	}
	if r.Name == "" || len(r.Name) > 256 {
		return Errorf(CodeBadRequest, "object in bucket %s: name of %d bytes, want 1 to 256", r.Bucket, len(r.Name))
	}
	if r.Size == 0 || r.Size > MaxInputBytes {
		return Errorf(CodeInputTooLarge, "object %s: size %d, want 1 to %d bytes", r.Name, r.Size, MaxInputBytes)
	}
	return nil
}

// Input is one vanilla proof: inline, or a range of one of the message's objects. SHA256 is that of the vanilla proof itself
// in both cases, and is what counts for the identity of the job.
type Input struct {
	Inline []byte `msgpack:"in,omitempty"`
	Object uint32 `msgpack:"obj,omitempty"` // 1 + index in Inputs.Objects; 0: inline
	Offset uint64 `msgpack:"off,omitempty"` // of the first byte in the object
	Size   uint64 `msgpack:"size"`          // bytes
	SHA256 Digest `msgpack:"sum"`
}

// Inputs are the vanilla proofs of a request or of one of its partitions.
type Inputs struct {
	List    []Input     `msgpack:"list"`
	Objects []ObjectRef `msgpack:"objs,omitempty"`
}

// InlineInput wraps data, which the result keeps.
func InlineInput(data []byte) Input {
	return Input{Inline: data, Size: uint64(len(data)), SHA256: SumOf(data)}
}

// InlineBytes is the size of all inline inputs together.
func (in *Inputs) InlineBytes() uint64 {
	var n uint64
	for i := range in.List {
		n += uint64(len(in.List[i].Inline))
	}
	return n
}

// Validate checks counts, sizes, ranges and the digests of inline inputs.
func (in *Inputs) Validate() error {
	if len(in.List) == 0 || len(in.List) > MaxInputs {
		return Errorf(CodeBadRequest, "request: %d inputs, want 1 to %d", len(in.List), MaxInputs)
	}
	if len(in.Objects) > MaxObjects {
		return Errorf(CodeBadRequest, "request: %d objects, at most %d", len(in.Objects), MaxObjects)
	}
	for i := range in.Objects {
		if err := in.Objects[i].Validate(); err != nil {
			return err
		}
	}
	var total uint64
	for i := range in.List {
		if err := in.validateInput(i); err != nil {
			return err
		}
		if total += in.List[i].Size; total > MaxInputBytes {
			return Errorf(CodeInputTooLarge, "request: inputs of more than %d bytes in all", MaxInputBytes)
		}
	}
	if n := in.InlineBytes(); n > MaxInlineBytes {
		return Errorf(CodeInputTooLarge, "request: %d bytes of inline inputs, at most %d: store them as objects", n, MaxInlineBytes)
	}
	return nil
}

func (in *Inputs) validateInput(i int) error {
	x := &in.List[i]
	if x.Size == 0 || x.Size > MaxInputBytes {
		return Errorf(CodeBadRequest, "input %d: size %d, want 1 to %d bytes", i, x.Size, MaxInputBytes)
	}
	if x.Object == 0 {
		if uint64(len(x.Inline)) != x.Size || x.Offset != 0 {
			return Errorf(CodeBadRequest, "input %d: %d inline bytes, %d announced", i, len(x.Inline), x.Size)
		}
		if SumOf(x.Inline) != x.SHA256 {
			return Errorf(CodeInputCorrupt, "input %d: its SHA-256 is not the announced one", i)
		}
		return nil
	}
	if len(x.Inline) != 0 {
		return Errorf(CodeBadRequest, "input %d: both inline and in object %d", i, x.Object)
	}
	if int(x.Object) > len(in.Objects) {
		return Errorf(CodeBadRequest, "input %d: object %d of %d", i, x.Object, len(in.Objects))
	}
	if size := in.Objects[x.Object-1].Size; x.Offset > size || x.Size > size-x.Offset {
		return Errorf(CodeBadRequest, "input %d: range %d+%d is outside its object of %d bytes", i, x.Offset, x.Size, size)
	}
	return nil
}

// Request asks for one proof. Its identity is ID, the hash of its content; Label, Priority, Deadline, Run and where the
// inputs lie are not part of it.
type Request struct {
	Head `msgpack:",inline"`
	// Account is the tenant, also a token of the subject, whose permission the server enforces; both must agree.
	Account   string    `msgpack:"acct"`
	Statement Statement `msgpack:"st"`
	Label     string    `msgpack:"label,omitempty"` // the caller's request id, for people
	Priority  Priority  `msgpack:"prio"`
	Deadline  Millis    `msgpack:"due,omitempty"` // after it the proof is worthless; 0: none
	// Run counts the times that this content is asked for anew: one more than the run of the last stored result, if that
	// was not completed, and 1 without one. It makes a re-submission after a failure different from a repeated message.
	Run    uint32 `msgpack:"run"`
	Inputs Inputs `msgpack:"inputs"`
}

// Validate implements Message.
func (r *Request) Validate() error {
	if err := ValidateAccount(r.Account); err != nil {
		return err
	}
	if err := r.Statement.Validate(); err != nil {
		return err
	}
	if len(r.Label) > MaxLabelBytes || strings.ContainsFunc(r.Label, isControl) {
		return Errorf(CodeBadRequest, "request: label of %d bytes: at most %d, no control characters", len(r.Label), MaxLabelBytes)
	}
	if !r.Priority.Valid() {
		return Errorf(CodeBadRequest, "request: priority %d is none of 1 to 4", uint8(r.Priority))
	}
	if r.Deadline < 0 {
		return Errorf(CodeBadRequest, "request: deadline %d is negative", int64(r.Deadline))
	}
	if r.Run == 0 {
		return Errorf(CodeBadRequest, "request: run 0, they count from 1")
	}
	return r.Inputs.Validate()
}

// Key is the account and identity of the job that r asks for.
func (r *Request) Key() JobKey {
	return JobKey{Account: r.Account, ID: ContentID(&r.Statement, r.Inputs.List)}
}

func isControl(c rune) bool { return c < 0x20 || c == 0x7f }

// isToken reports whether s is usable as one token of a subject and as part of a bucket key.
func isToken(s string) bool {
	for _, c := range []byte(s) {
		switch {
		case c >= 'a' && c <= 'z', c >= 'A' && c <= 'Z', c >= '0' && c <= '9', c == '-', c == '_':
		default:
			return false
		}
	}
	return s != ""
}

func validateToken(what, s string) error {
	if !isToken(s) || len(s) > 64 {
		return Errorf(CodeBadRequest, "%s %s: want 1 to 64 letters, digits, - or _", what, fmt.Sprintf("%.80q", s))
	}
	return nil
}

// ValidateAccount says what is wrong with a tenant's name: it is a token of subjects.
func ValidateAccount(s string) error { return validateToken("account", s) }

// ValidateWorker says what is wrong with the name of a process: it is a key of the fleet's bucket.
func ValidateWorker(s string) error { return validateToken("worker", s) }
