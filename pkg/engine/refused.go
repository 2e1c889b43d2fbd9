package engine

import (
	"errors"

	"github.com/proofmill/proofmill/pkg/filecoin"
)

// Refused says whether err is about the request itself: the same request will be refused again.
func Refused(err error) bool {
	if _, ok := errors.AsType[*filecoin.CheckError](err); ok {
		return true
	}
	for _, target := range []error{ErrUnknownProof, ErrSize, ErrTestProof, filecoin.ErrMalformed, filecoin.ErrStatement} {
		if errors.Is(err, target) {
			return true
		}
	}
	return false
}
