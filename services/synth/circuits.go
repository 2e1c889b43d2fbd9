package synth

import (
	"context"
	"slices"
	"time"

	"github.com/proofmill/proofmill/pkg/bus"
	"github.com/proofmill/proofmill/pkg/engine"
	"github.com/proofmill/proofmill/services/internal/host"
)

// followSoon is the interval at which the fleet is read while no prover is known.
const followSoon = 250 * time.Millisecond

// noProver is why a synth is not ready that was started first.
const noProver = "no prover has announced a circuit"

// follow serves the circuits of the fleet's provers. It blocks until pull ends.
func (s *Service) follow(pull context.Context, q *bus.Queue) error {
	var served []string
	said := false // that it waits
	for {
		circuits, err := s.fleetCircuits(pull)
		switch {
		case err != nil && pull.Err() == nil:
			s.host.Log.Warn("fleet not read, it is tried again", "err", err)
		case err == nil && len(circuits) > 0 && !slices.Equal(circuits, served):
			if err := q.SetCircuits(pull, circuits); err != nil {
				s.host.Log.Warn("circuits not changed, it is tried again", "err", err)
				break
			}
			served = circuits
			s.host.Log.Info("serving", "circuits", served)
			s.host.SetReady()
		case err == nil && len(served) == 0:
			s.host.Health.Set(host.Starting, noProver)
			if !said {
				s.host.Log.Info("waiting: " + noProver)
				said = true
			}
		}
		pause := bus.FleetBeat
		if len(served) == 0 {
			pause = followSoon
		}
		timer := time.NewTimer(pause)
		select {
		case <-timer.C:
		case <-pull.Done():
			timer.Stop()
			return nil
		}
	}
}

// fleetCircuits are the circuits that provers announce, sorted. Those of provers that went away stay served until others come: work
// for them may still lie in the queue.
func (s *Service) fleetCircuits(ctx context.Context) ([]string, error) {
	fleet, err := s.host.Conn.Fleet(ctx)
	if err != nil {
		return nil, err
	}
	var circuits []string
	for _, info := range fleet {
		if info.Service != "gpuprove" {
			continue
		}
		for _, key := range info.Circuits {
			if _, err := engine.ParseCircuit(key.Circuit); err == nil {
				circuits = append(circuits, key.Circuit)
			}
		}
	}
	slices.Sort(circuits)
	return slices.Compact(circuits), nil
}
