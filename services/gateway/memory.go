package gateway

import (
	"sync"

	"github.com/proofmill/proofmill/pkg/wire"
)

// memorySize bounds the ended jobs that a gateway remembers to have cleared; it reads others again.
const memorySize = 1 << 16

// memory remembers runs that are ended and cleared.
type memory struct {
	mu   sync.Mutex
	runs map[wire.JobKey]uint32
}

func newMemory() *memory { return &memory{runs: make(map[wire.JobKey]uint32)} }

func (m *memory) has(key wire.JobKey, run uint32) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.runs[key] >= run
}

func (m *memory) add(key wire.JobKey, run uint32) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if len(m.runs) >= memorySize {
		for old := range m.runs {
			delete(m.runs, old)
			break
		}
	}
	m.runs[key] = run
}

func (m *memory) remove(key wire.JobKey) {
	m.mu.Lock()
	defer m.mu.Unlock()
	delete(m.runs, key)
}
