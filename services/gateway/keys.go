package gateway

import (
	"slices"
	"strings"
	"sync"

	"github.com/proofmill/proofmill/pkg/engine"
	"github.com/proofmill/proofmill/pkg/wire"
)

// keys are the verifying keys, read when they are first needed and kept. A file that is absent is looked for again each time.
type keys struct {
	dir ParamsDir

	mu    sync.Mutex
	known map[engine.Circuit]*verifyingKey
}

func newKeys(dir ParamsDir) *keys {
	return &keys{dir: dir, known: make(map[engine.Circuit]*verifyingKey)}
}

// get gives a circuit's key. Without its file the circuit is not supported here, whoever might prove it: what cannot be verified is
// not asked for.
func (k *keys) get(c engine.Circuit) (*verifyingKey, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if vk := k.known[c]; vk != nil {
		return vk, nil
	}
	vk, err := k.dir.VerifyingKey(c)
	if err != nil {
		e := wire.AsError(err)
		if e.Code == wire.CodeParametersMissing {
			refusal := wire.Errorf(wire.CodeUnsupportedCircuit, "circuit %s is not served: %w", c.ID(), err)
			for name, value := range e.Detail {
				refusal = refusal.With(name, value)
			}
			return nil, refusal
		}
		return nil, e
	}
	k.known[c] = vk
	return vk, nil
}

// list is what is known so far, sorted.
func (k *keys) list() []wire.Key {
	k.mu.Lock()
	defer k.mu.Unlock()
	all := make([]wire.Key, 0, len(k.known))
	for c, vk := range k.known {
		all = append(all, wire.Key{Circuit: c.ID(), VK: vk.SHA256})
	}
	slices.SortFunc(all, func(a, b wire.Key) int { return strings.Compare(a.Circuit, b.Circuit) })
	return all
}
