package groth16

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
)

// Marker says that parameters are for tests only, and how they were made. It is a JSON file next to
// the parameters.
type Marker struct {
	Warning  string  `json:"warning"`
	Circuit  string  `json:"circuit"` // for people
	R1CS     string  `json:"r1cs_digest,omitempty"`
	Secrets  string  `json:"secrets"` // where alpha, beta, gamma, delta and tau came from
	Counts   Counts  `json:"counts"`
	Digests  Digests `json:"params"`
	VKSHA256 string  `json:"vk_sha256"`
}

// maxMarkerBytes bounds what is read of a marker.
const maxMarkerBytes = 1 << 16

const markerWarning = "The secrets behind these parameters were known to the program that made them. Proofs made with them prove nothing. For tests only."

// MarkerPath is the path of the marker of a parameter file.
func MarkerPath(params string) string { return params + ".test-only" }

// ReadMarker reads the marker of a parameter file; nil if there is none. A marker that cannot be
// read as JSON marks the file all the same.
func ReadMarker(params string) (*Marker, error) {
	f, err := os.Open(MarkerPath(params))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil //nolint:nilnil // no marker is an answer
	}
	if err != nil {
		return nil, fmt.Errorf("marker of test parameters: %w", err)
	}
	defer f.Close() //nolint:errcheck // only read
	b, err := io.ReadAll(io.LimitReader(f, maxMarkerBytes))
	if err != nil {
		return nil, fmt.Errorf("marker of test parameters: %w", err)
	}
	m := new(Marker)
	if json.Unmarshal(b, m) != nil {
		return &Marker{Warning: markerWarning}, nil
	}
	return m, nil
}

func (m *Marker) write(params string) error {
	b, err := json.MarshalIndent(m, "", "  ")
	if err != nil {
		return fmt.Errorf("marker of test parameters: %w", err)
	}
	if err := writeFile(MarkerPath(params), append(b, '\n')); err != nil {
		return fmt.Errorf("marker of test parameters: %w", err)
	}
	return nil
}
