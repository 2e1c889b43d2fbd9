package e2e

import (
	"syscall"
	"testing"

	"github.com/proofmill/proofmill/pkg/wire"
)

// Whichever service is killed (-9) while a proof is made, starting it again gives the proof, once.
// The moment is the first message that the work of the stage has begun.
func TestKilledServiceGivesTheProofOnce(t *testing.T) {
	for _, kind := range []string{"winning", "porep"} {
		t.Run(kind, func(t *testing.T) {
			if kind == "porep" && testing.Short() {
				t.Skip("takes minutes; run without -short")
			}
			for _, c := range []struct {
				victim string
				moment wire.PartitionState
			}{
				{"gpuprove", wire.PartitionProving},
				{"gateway", wire.PartitionProving},
				{"synth", wire.PartitionSynthesizing},
			} {
				t.Run(c.victim, func(t *testing.T) { killOnce(t, kind, c.victim, c.moment) })
			}
		})
	}
}

func killOnce(t *testing.T, kind, victim string, moment wire.PartitionState) {
	f := newFleet(t, "2KiB/"+kind+"-2KiB")
	f.start("gateway", "synth", "gpuprove")
	s := f.sector(kind)
	id := f.submitUntil(s, func(state wire.PartitionState) bool { return state >= moment })
	f.stop(victim, syscall.SIGKILL)
	f.start(victim)
	f.oneProof(s, id)
}

// submitUntil submits the sector's request and returns when progress tells of a partition in a state
// that was waited for.
func (f *fleet) submitUntil(s *sector, awaited func(wire.PartitionState) bool) wire.JobID {
	f.t.Helper()
	reached := make(chan struct{}, 1)
	unwatch, err := f.client.Watch(s.request.ID(), func(p *wire.Progress) {
		if awaited(p.Part) {
			select {
			case reached <- struct{}{}:
			default:
			}
		}
	})
	if err != nil {
		f.t.Fatal(err)
	}
	defer unwatch()
	id, err := f.client.Submit(f.t.Context(), s.request)
	if err != nil {
		f.t.Fatal(err)
	}
	select {
	case <-reached:
	case <-f.t.Context().Done():
		f.t.Fatal("the test ended")
	}
	return id
}

// A service that is asked to stop while it works finishes what it has in hand and ends with exit
// code 0.
func TestTerminatedServiceDrains(t *testing.T) {
	f := newFleet(t, "2KiB/winning-2KiB")
	f.start("gateway", "synth", "gpuprove")
	s := f.sector("winning")
	id := f.submitUntil(s, func(state wire.PartitionState) bool { return state == wire.PartitionProving })
	p := f.stop("gpuprove", syscall.SIGTERM)
	if code := p.cmd.ProcessState.ExitCode(); code != 0 {
		t.Errorf("exit code %d: %s", code, p.output)
	}
	// Nobody else proves: the result is that of the one that was stopped.
	if result := f.oneProof(s, id); result.Partitions[0].Attempt != 1 {
		t.Errorf("attempt %d", result.Partitions[0].Attempt)
	}
}
