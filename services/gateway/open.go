package gateway

import (
	"context"
	"fmt"

	"github.com/consensys/gnark-crypto/ecc/bls12-381/fr"

	"github.com/proofmill/proofmill/pkg/engine"
	"github.com/proofmill/proofmill/pkg/wire"
	"github.com/proofmill/proofmill/services/internal/fault"
	"github.com/proofmill/proofmill/services/internal/inputs"
)

// open decodes a request and derives the public inputs of each of its partitions. What is wrong with the request is told before
// anything large is read: the registered proof and the size, then whether there is a key to verify with, then the inputs.
func (s *Service) open(ctx context.Context, r *wire.Request) (engine.Circuit, [][]fr.Element, error) {
	asked := inputs.Statement(&r.Statement)
	options := engine.Options{TestProofs: s.opts.TestProofs, Workers: s.opts.Workers}
	c, err := asked.Circuit(options)
	if err != nil {
		return c, nil, fault.Of(err, wire.CodeUnknownProof)
	}
	if _, err := s.keys.get(c); err != nil {
		return c, nil, err
	}
	if asked.Vanilla, err = inputs.Fetch(ctx, s.conn.Inputs(), &r.Inputs); err != nil {
		return c, nil, err
	}
	job, err := engine.Open(ctx, asked, options)
	if err != nil {
		return c, nil, fault.Of(err, wire.CodeBadInput)
	}
	if n := job.Partitions(); n > wire.MaxPartitions {
		return c, nil, wire.Errorf(wire.CodeInputTooLarge, "request: %d partitions, at most %d", n, wire.MaxPartitions)
	}
	publics := make([][]fr.Element, job.Partitions())
	for k := range publics {
		if publics[k], err = job.PublicInputs(k); err != nil {
			return c, nil, fault.Of(fmt.Errorf("partition %d: public inputs: %w", k, err), wire.CodeBadInput)
		}
	}
	return c, publics, nil
}

// publicsOf gives the public inputs of a job in the ledger, from memory or from its stored request.
func (s *Service) publicsOf(ctx context.Context, record *wire.JobRecord) ([][]fr.Element, error) {
	if publics := s.publics.get(record.JobKey); publics != nil {
		return publics, nil
	}
	request, err := s.ledger.Request(ctx, record.JobKey)
	if err != nil {
		return nil, err
	}
	_, publics, err := s.open(ctx, request)
	if err != nil {
		return nil, err
	}
	if len(publics) != len(record.Partitions) {
		return nil, wire.Errorf(wire.CodeInternal, "job %s: %d partitions are in the ledger, its request has %d", record.ID.Short(), len(record.Partitions), len(publics))
	}
	s.publics.put(record.JobKey, publics)
	return publics, nil
}
