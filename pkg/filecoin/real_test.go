package filecoin

import (
	"bytes"
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"testing"
)

// realFile opens one of the files of Filecoin's own data, which are not copied into the project: in $PROOFMILL_SHARED, or
// beside the repository.
func realFile(t *testing.T, name string) []byte {
	t.Helper()
	shared := os.Getenv("PROOFMILL_SHARED")
	if shared == "" {
		shared = "../../../shared"
	}
	raw, err := os.ReadFile(filepath.Join(shared, "golden", "real", name))
	if os.IsNotExist(err) {
		t.Skipf("no Filecoin data of the network: set PROOFMILL_SHARED to the folder that has golden/real (%s is absent)", name)
	}
	if err != nil {
		t.Fatal(err)
	}
	return raw
}

// sealRecord is a regression record of the reference: a seal proof with its statement.
type sealRecord struct {
	Config struct {
		Size       SectorSize `json:"sector_size"`
		Partitions int        `json:"partitions"`
		PoRepID    [32]byte   `json:"porep_id"`
		Version    string     `json:"api_version"`
		Features   []string   `json:"api_features"`
	} `json:"porep_config"`
	CommR    Node     `json:"comm_r"`
	CommD    Node     `json:"comm_d"`
	ProverID [32]byte `json:"prover_id"`
	Sector   uint64   `json:"sector_id"`
	Ticket   [32]byte `json:"ticket"`
	Seed     [32]byte `json:"seed"`
	Proof    []uint16 `json:"proof"`
}

func (r *sealRecord) domain() PoRepDomain {
	d := PoRepDomain{Size: r.Config.Size, ID: r.Config.PoRepID}
	d.Version = map[string]APIVersion{"V1_0_0": APIv1_0_0, "V1_1_0": APIv1_1_0, "V1_2_0": APIv1_2_0}[r.Config.Version]
	if d.Version != APIv1_0_0 {
		d.Variant = SealV1_1
	}
	for _, f := range r.Config.Features {
		d.Variant = map[string]SealVariant{"SyntheticPoRep": SealSynthetic, "NonInteractivePoRep": SealNonInteractive}[f]
	}
	return d
}

func TestRealSealRecords(t *testing.T) {
	const partition = 192
	for name, want := range map[string]int{"seal-records-v16.json": 448, "seal-records-v18.json": 113} {
		decoder := json.NewDecoder(bytes.NewReader(realFile(t, name)))
		records := 0
		for ; ; records++ {
			var r sealRecord
			if err := decoder.Decode(&r); err == io.EOF {
				break
			} else if err != nil {
				t.Fatalf("%s: record %d: %v", name, records, err)
			}
			d := r.domain()
			proof, err := SealProofFor(d.Variant, d.Size)
			if err != nil {
				t.Fatal(err)
			}
			if proof.Partitions() != r.Config.Partitions {
				t.Errorf("%s: record %d: %s has %d partitions, the record %d", name, records, proof, proof.Partitions(), r.Config.Partitions)
			}
			// A non-interactive proof is aggregated, all others are one proof after another.
			if d.Variant != SealNonInteractive && len(r.Proof) != partition*proof.Partitions() {
				t.Errorf("%s: record %d: %d bytes of proof of %s", name, records, len(r.Proof), proof)
			}
			replicaID := ReplicaID(r.ProverID, r.Sector, r.Ticket, r.CommD, d.ID)
			for _, k := range []int{0, proof.Partitions() - 1} {
				inputs, err := d.PublicInputs(replicaID, r.CommD, r.CommR, r.Seed, k)
				if err != nil {
					t.Fatalf("%s: record %d: %v", name, records, err)
				}
				if got, want := len(inputs), 3+d.Size.PoRepChallenges()*18; got != want {
					t.Errorf("%s: record %d: %d public inputs, not %d", name, records, got, want)
				}
			}
		}
		if records != want {
			t.Errorf("%s: %d records, not %d", name, records, want)
		}
	}
}

func TestRealWindowSector(t *testing.T) {
	raw := realFile(t, "window-post-sector.vanilla.bin")
	const proof = RegisteredPoStProof(8)
	p, err := DecodePoStSectorProof(raw, proof)
	if err != nil {
		t.Fatal(err)
	}
	again, err := EncodePoStSectorProof(p, proof)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(raw, again) {
		t.Error("the vanilla proof of a real sector encodes to other bytes")
	}
	s := site{kind: Window, sector: p.SectorID, partition: 0, challenge: -1}
	if err := checkCommR(s, &p.CommR, &p.CommC, &p.CommRLast, "comm_r"); err != nil {
		t.Error(err)
	}
	tree := newPoseidonTree(Size32GiB)
	for i := range p.Paths {
		path := &p.Paths[i]
		if err := tree.check(s.at(i), path, path.Challenge(), "comm_r_last path"); err != nil {
			t.Error(err)
		}
		if path.Root != p.CommRLast {
			t.Errorf("path %d has root %s, the sector %s", i, path.Root, p.CommRLast)
		}
	}
}

func TestRealParameterManifest(t *testing.T) {
	var manifest map[string]struct {
		CID    string     `json:"cid"`
		Digest string     `json:"digest"`
		Size   SectorSize `json:"sector_size"`
	}
	if err := json.Unmarshal(realFile(t, "parameters.json"), &manifest); err != nil {
		t.Fatal(err)
	}
	seen := 0
	for _, kind := range Kinds() {
		for _, size := range SectorSizes() {
			p, ok := PublishedFor(kind, size)
			if ok != size.Published() {
				t.Errorf("%s %s: published files: %v", kind, size, ok)
			}
			params, err := ParamsFile(kind, size)
			if err != nil {
				t.Fatal(err)
			}
			key, err := VerifyingKeyFile(kind, size)
			if err != nil {
				t.Fatal(err)
			}
			for name, file := range map[string]PublishedFile{params: p.Params, key: p.VK} {
				entry, listed := manifest[name]
				if listed != ok || listed && (entry.CID != file.CID || entry.Digest != file.Digest || entry.Size != size) {
					t.Errorf("%s: the manifest has %v, our table %v", name, entry, file)
				}
				if listed {
					seen++
				}
			}
		}
	}
	if seen != 40 {
		t.Errorf("%d files of the manifest are named", seen)
	}
}
