package sample

import (
	"context"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strconv"

	"github.com/proofmill/proofmill/pkg/filecoin"
)

// Description is what the JSON file beside a sample's vanilla proofs says: the statement, the names of the files, and
// command lines that prove it and verify a result. 32-byte values are in hex.
type Description struct {
	Kind            string   `json:"kind"`
	SectorSize      uint64   `json:"sector_size"` // bytes
	RegisteredProof string   `json:"registered_proof"`
	ProofNumber     uint64   `json:"registered_proof_number"`
	Miner           uint64   `json:"miner_id,omitempty"`
	Sector          uint64   `json:"sector_number,omitempty"`
	Partitions      int      `json:"partitions"`
	Ticket          string   `json:"ticket,omitempty"`
	Seed            string   `json:"seed,omitempty"`
	CommR           string   `json:"comm_r,omitempty"`
	CommD           string   `json:"comm_d,omitempty"`
	Randomness      string   `json:"randomness,omitempty"`
	CommROld        string   `json:"comm_r_old,omitempty"`
	CommRNew        string   `json:"comm_r_new,omitempty"`
	CommDNew        string   `json:"comm_d_new,omitempty"`
	C1File          string   `json:"c1_file,omitempty"`      // the C1 output, bare
	WrapperFile     string   `json:"wrapper_file,omitempty"` // the same in Curio's wrapper
	Sectors         []Sector `json:"sectors,omitempty"`
	VanillaFiles    []string `json:"vanilla_files,omitempty"` // one for each partition of an update
	Prove           string   `json:"prove"`                   // for a shell in the folder
	Verify          string   `json:"verify"`
}

// Sector is what a Description says of one sector of a PoSt.
type Sector struct {
	Number      uint64 `json:"sector_number"`
	CommR       string `json:"comm_r"`
	VanillaFile string `json:"vanilla_file"`
}

// Name is what the names of a sample's files begin with, such as porep-32GiB.
func (s *Sample) Name() string { return s.Kind.String() + "-" + s.Size.String() }

// Write writes a sample into a folder, which it makes: the vanilla proofs, a file each and named as [Sample.Describe]
// says, then NAME.json with the description. Only one encoded proof is in memory at a time. It returns what it wrote. An
// ended context stops it between files.
func (s *Sample) Write(ctx context.Context, dir string) (*Description, error) {
	d := s.Describe()
	if err := os.MkdirAll(dir, 0o750); err != nil {
		return nil, fmt.Errorf("sample: %w", err)
	}
	write := func(name string, data []byte) error {
		if err := os.WriteFile(filepath.Join(dir, name), data, 0o600); err != nil {
			return fmt.Errorf("sample: %w", err)
		}
		return nil
	}
	for i, name := range d.inputs() {
		if err := ctx.Err(); err != nil {
			return nil, fmt.Errorf("sample: %w", err)
		}
		data, err := s.Input(i)
		if err != nil {
			return nil, err
		}
		if err := write(name, data); err != nil {
			return nil, err
		}
		if s.Kind == filecoin.PoRep {
			wrapped := filecoin.EncodeC1Wrapper(data, filecoin.C1Wrapper{SectorNum: s.Seal.Sector, SectorSize: s.Size})
			if err := write(d.WrapperFile, wrapped); err != nil {
				return nil, err
			}
		}
	}
	data, err := json.MarshalIndent(d, "", "  ")
	if err != nil {
		return nil, fmt.Errorf("sample: %w", err)
	}
	if err := write(s.Name()+".json", append(data, '\n')); err != nil {
		return nil, err
	}
	return d, nil
}

// inputs are the files of the vanilla proofs, in order.
func (d *Description) inputs() []string {
	if d.C1File != "" {
		return []string{d.C1File}
	}
	files := d.VanillaFiles
	for i := range d.Sectors {
		files = append(files, d.Sectors[i].VanillaFile)
	}
	return files
}

// Describe says what the sample is, with the names that [Sample.Write] gives its files.
func (s *Sample) Describe() *Description {
	d := &Description{Kind: s.Kind.String(), SectorSize: uint64(s.Size)}
	var what string
	switch s.Kind {
	case filecoin.PoRep:
		what = s.describeSeal(d)
	case filecoin.Update:
		what = s.describeUpdate(d)
	default:
		what = s.describePoSt(d)
	}
	d.Prove = "proofmill prove " + what + " --out " + s.Name() + ".proof"
	d.Verify = "proofmill verify " + what + " --result " + s.Name() + ".proof"
	return d
}

func (s *Sample) describeSeal(d *Description) string {
	st := s.Seal
	d.RegisteredProof, d.ProofNumber, d.Partitions = st.Proof.String(), uint64(st.Proof), st.Partitions()
	d.Miner, d.Sector, d.CommR, d.CommD = st.Miner, st.Sector, st.CommR.String(), st.CommD.String()
	d.Ticket, d.Seed = hex.EncodeToString(st.Ticket[:]), hex.EncodeToString(st.Seed[:])
	d.C1File, d.WrapperFile = s.Name()+".c1.json", s.Name()+".wrapper.json"
	return fmt.Sprintf("porep --c1 %s --miner %d --sector %d", d.C1File, st.Miner, st.Sector)
}

func (s *Sample) describeUpdate(d *Description) string {
	st := s.Update
	d.RegisteredProof, d.ProofNumber, d.Partitions = st.Proof.String(), uint64(st.Proof), st.Partitions()
	d.CommROld, d.CommRNew, d.CommDNew = st.CommROld.String(), st.CommRNew.String(), st.CommDNew.String()
	width := len(strconv.Itoa(d.Partitions - 1))
	for k := range d.Partitions {
		d.VanillaFiles = append(d.VanillaFiles, fmt.Sprintf("%s.partition-%0*d.vanilla.bin", s.Name(), width, k))
	}
	return fmt.Sprintf("update --proof %s --comm-r-old %s --comm-r-new %s --comm-d-new %s --vanilla %s.partition-*.vanilla.bin",
		d.RegisteredProof, d.CommROld, d.CommRNew, d.CommDNew, s.Name())
}

// describePoSt pads sector numbers in the names of files, so that a shell lists them in their order.
func (s *Sample) describePoSt(d *Description) string {
	st := s.PoSt
	d.RegisteredProof, d.ProofNumber, d.Partitions = st.Proof.String(), uint64(st.Proof), st.Partitions()
	d.Miner, d.Randomness = st.Miner, hex.EncodeToString(st.Randomness[:])
	width := len(strconv.FormatUint(st.Sectors[len(st.Sectors)-1].ID, 10))
	for _, sector := range st.Sectors {
		d.Sectors = append(d.Sectors, Sector{
			Number: sector.ID, CommR: sector.CommR.String(),
			VanillaFile: fmt.Sprintf("%s.sector-%0*d.vanilla.bin", s.Name(), width, sector.ID),
		})
	}
	return fmt.Sprintf("%s --proof %s --randomness %s --miner %d --vanilla %s.sector-*.vanilla.bin",
		d.Kind, d.RegisteredProof, d.Randomness, st.Miner, s.Name())
}
