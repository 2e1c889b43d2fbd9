package wire

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"strings"
)

// JobID identifies a job: 64 hexadecimal digits in lower case, the SHA-256 of its content.
type JobID string

// Valid reports whether id has the form of a job id.
func (id JobID) Valid() bool {
	if len(id) != 64 {
		return false
	}
	for _, c := range []byte(id) {
		if (c < '0' || c > '9') && (c < 'a' || c > 'f') {
			return false
		}
	}
	return true
}

// Short is the first 12 digits, for people.
func (id JobID) Short() string {
	if len(id) < 12 {
		return string(id)
	}
	return string(id[:12])
}

// JobKey is a job of a tenant: the key of the ledger and part of the subjects. It is embedded in messages.
type JobKey struct {
	Account string `msgpack:"acct"`
	ID      JobID  `msgpack:"job"`
}

// String is "account.id", the ledger's key.
func (k JobKey) String() string { return k.Account + "." + string(k.ID) }

// ParseJobKey is the inverse of String.
func ParseJobKey(s string) (JobKey, error) {
	account, id, _ := strings.Cut(s, ".")
	k := JobKey{Account: account, ID: JobID(id)}
	if err := k.validate(); err != nil {
		return JobKey{}, err
	}
	return k, nil
}

func (k *JobKey) validate() error {
	if err := ValidateAccount(k.Account); err != nil {
		return err
	}
	if !k.ID.Valid() {
		return Errorf(CodeBadRequest, "job id %s: want 64 hexadecimal digits in lower case", fmt.Sprintf("%.80q", string(k.ID)))
	}
	return nil
}

// ContentID hashes what makes two requests the same: the statement and the sizes and SHA-256 of the vanilla proofs in order.
// All integers are little-endian. The sector size is left out, as the registered proof determines it and a caller may omit it.
func ContentID(s *Statement, inputs []Input) JobID {
	h := sha256.New()
	b := []byte("proofmill/job/1\x00")
	b = append(b, byte(s.Kind))
	b = binary.LittleEndian.AppendUint64(b, s.RegisteredProof)
	b = binary.LittleEndian.AppendUint64(b, s.Miner)
	b = binary.LittleEndian.AppendUint64(b, s.Sector)
	b = binary.LittleEndian.AppendUint32(b, s.PartitionIndex)
	b = append(b, s.Randomness[:]...)
	b = append(b, s.CommROld[:]...)
	b = append(b, s.CommRNew[:]...)
	b = append(b, s.CommDNew[:]...)
	b = binary.LittleEndian.AppendUint32(b, uint32(len(inputs))) //nolint:gosec // at most MaxInputs
	h.Write(b)
	for i := range inputs {
		b = binary.LittleEndian.AppendUint64(b[:0], inputs[i].Size)
		b = append(b, inputs[i].SHA256[:]...)
		h.Write(b)
	}
	return JobID(hex.EncodeToString(h.Sum(nil)))
}
