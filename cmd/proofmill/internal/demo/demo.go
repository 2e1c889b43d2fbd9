// Package demo holds the sealed sector that `proofmill demo` proves: real output of the reference's sealing, small enough
// to be part of the program. Its test parameters are made from published secrets, so that they are the same on every
// machine; they prove nothing.
package demo

import (
	"embed"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/consensys/gnark-crypto/ecc/bls12-381/fr"

	"github.com/proofmill/proofmill/pkg/engine"
	"github.com/proofmill/proofmill/pkg/filecoin"
	"github.com/proofmill/proofmill/pkg/groth16"
)

//go:embed sector
var files embed.FS

// Request is one proof of the sector.
type Request struct {
	*engine.Request
	Circuit engine.Circuit
	Toxic   *groth16.Toxic // the secrets of the circuit's test parameters
	SHA256  string         // of the parameter file that they give
	Golden  *Golden        // the reference's proof, or nil
}

// Golden is the proof that the reference makes of a request of one partition with given randomness. Every correct prover makes the
// same bytes.
type Golden struct {
	R, S  fr.Element
	Proof []byte // 192 bytes: A, B and C, compressed
}

type description struct {
	Requests []struct {
		Kind         string            `json:"kind"`
		Proof        string            `json:"proof"`
		Miner        uint64            `json:"miner"`
		Sector       uint64            `json:"sector"`
		Randomness   string            `json:"randomness"`
		CommROld     string            `json:"comm_r_old"`
		CommRNew     string            `json:"comm_r_new"`
		CommDNew     string            `json:"comm_d_new"`
		Vanilla      []string          `json:"vanilla"`
		Secrets      map[string]string `json:"secrets"`
		ParamsSHA256 string            `json:"params_sha256"`
		Golden       *struct {
			R     string `json:"r"`
			S     string `json:"s"`
			Proof string `json:"proof"`
		} `json:"golden"`
	} `json:"requests"`
}

// Requests are the sector's proofs, one of each kind, the quickest first.
func Requests() ([]Request, error) {
	data, err := files.ReadFile("sector/sector.json")
	if err != nil {
		return nil, err
	}
	var d description
	if err := json.Unmarshal(data, &d); err != nil {
		return nil, fmt.Errorf("sector of the demo: %w", err)
	}
	out := make([]Request, len(d.Requests))
	for i, r := range d.Requests {
		q := &engine.Request{Miner: r.Miner, Sector: r.Sector}
		if q.Kind, err = filecoin.ParseKind(r.Kind); err != nil {
			return nil, err
		}
		if q.RegisteredProof, err = number(q.Kind, r.Proof); err != nil {
			return nil, err
		}
		for _, value := range []struct {
			text string
			to   *[32]byte
		}{{r.Randomness, &q.Randomness}, {r.CommROld, (*[32]byte)(&q.CommROld)}, {r.CommRNew, (*[32]byte)(&q.CommRNew)}, {r.CommDNew, (*[32]byte)(&q.CommDNew)}} {
			if _, err := hex.Decode(value.to[:], []byte(value.text)); err != nil {
				return nil, fmt.Errorf("sector of the demo: %w", err)
			}
		}
		for _, name := range r.Vanilla {
			proof, err := files.ReadFile("sector/" + name)
			if err != nil {
				return nil, err
			}
			q.Vanilla = append(q.Vanilla, proof)
		}
		out[i] = Request{Request: q, Toxic: new(groth16.Toxic), SHA256: r.ParamsSHA256}
		if out[i].Circuit, err = q.Circuit(engine.Options{}); err != nil {
			return nil, err
		}
		if err := secrets(out[i].Toxic, r.Secrets); err != nil {
			return nil, err
		}
		if r.Golden == nil {
			continue
		}
		golden := new(Golden)
		if golden.Proof, err = hex.DecodeString(r.Golden.Proof); err == nil {
			err = errors.Join(scalar(&golden.R, "r", r.Golden.R), scalar(&golden.S, "s", r.Golden.S))
		}
		if err != nil {
			return nil, fmt.Errorf("sector of the demo: golden proof: %w", err)
		}
		out[i].Golden = golden
	}
	return out, nil
}

func number(kind filecoin.Kind, name string) (uint64, error) {
	switch kind {
	case filecoin.PoRep:
		p, err := filecoin.ParseRegisteredSealProof(name)
		return uint64(p), err
	case filecoin.Update:
		p, err := filecoin.ParseRegisteredUpdateProof(name)
		return uint64(p), err
	default:
		p, err := filecoin.ParseRegisteredPoStProof(name)
		return uint64(p), err
	}
}

func secrets(t *groth16.Toxic, text map[string]string) error {
	for name, to := range map[string]*fr.Element{"alpha": &t.Alpha, "beta": &t.Beta, "gamma": &t.Gamma, "delta": &t.Delta, "tau": &t.Tau} {
		if err := scalar(to, name, text[name]); err != nil {
			return fmt.Errorf("sector of the demo: secret %w", err)
		}
	}
	return nil
}

// scalar reads 32 little-endian bytes in hexadecimal.
func scalar(to *fr.Element, name, text string) error {
	b, err := hex.DecodeString(text)
	if err != nil || len(b) != fr.Bytes {
		return fmt.Errorf("%s is not %d bytes in hexadecimal", name, fr.Bytes)
	}
	if *to, err = fr.LittleEndian.Element((*[fr.Bytes]byte)(b)); err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	return nil
}
