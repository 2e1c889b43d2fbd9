package main

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

const golden = "../../testdata/golden"

// runJSON runs a command line and decodes what it prints.
func runJSON(t *testing.T, out any, args ...string) {
	t.Helper()
	var stdout, stderr bytes.Buffer
	if code := run(append(args, "--json"), environment(t), strings.NewReader(""), &stdout, &stderr); code != 0 {
		t.Fatalf("%v: exit code %d: %s", args, code, stderr.String())
	}
	if err := json.Unmarshal(stdout.Bytes(), out); err != nil {
		t.Fatalf("%v: %v", args, err)
	}
}

func readJSON(t *testing.T, path string, out any) {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(data, out); err != nil {
		t.Fatal(err)
	}
}

// What circuit digest prints is what the reference wrote: every field but those about namespaces.
func TestCircuitDigestIsGolden(t *testing.T) {
	for _, kind := range []string{"winning", "window", "update", "porep"} {
		for _, size := range []string{"2KiB", "16KiB", "32KiB", "8MiB"} {
			t.Run(kind+" "+size, func(t *testing.T) {
				if size != "2KiB" && testing.Short() {
					t.Skip("takes seconds; run without -short")
				}
				var got, want map[string]any
				runJSON(t, &got, "circuit", "digest", kind, size)
				readJSON(t, filepath.Join(golden, "circuits", kind+"-"+size+".json"), &want)
				delete(want, "namespaces")
				if d := cmp.Diff(want, got); d != "" {
					t.Error(d)
				}
			})
		}
	}
}

// goldenSector is a fixture and the flags that name it.
type goldenSector struct {
	Kind       string   `json:"kind"`
	Size       int      `json:"sector_size"`
	API        string   `json:"api_version"`
	Miner      int      `json:"miner_id"`
	Sector     int      `json:"sector_number"`
	Randomness string   `json:"randomness"`
	CommROld   string   `json:"comm_r_old"`
	CommRNew   string   `json:"comm_r_new"`
	CommDNew   string   `json:"comm_d_new"`
	C1         string   `json:"c1_file"`
	Vanilla    []string `json:"vanilla_files"`
	Sectors    []struct {
		File string `json:"vanilla_file"`
	} `json:"sectors"`
	Partitions []struct {
		Partition int            `json:"partition"`
		Witness   map[string]any `json:"witness"`
	} `json:"partitions"`
}

func (s *goldenSector) flags(dir string) []string {
	size := strconv.Itoa(s.Size>>10) + "KiB"
	args := []string{s.Kind}
	switch s.Kind {
	case "porep":
		args = append(args, "--c1", filepath.Join(dir, s.C1), "--miner", strconv.Itoa(s.Miner), "--sector", strconv.Itoa(s.Sector))
	case "update":
		args = append(args, "--proof", "StackedDrg"+size+"V1", "--comm-r-old", s.CommROld, "--comm-r-new", s.CommRNew, "--comm-d-new", s.CommDNew)
	default:
		name := "StackedDrg" + strings.ToUpper(s.Kind[:1]) + s.Kind[1:] + size + "V1"
		if s.API == "1.2.0" {
			name += "_1"
		}
		args = append(args, "--proof", name, "--randomness", s.Randomness, "--miner", strconv.Itoa(s.Miner))
	}
	for _, file := range s.Vanilla {
		args = append(args, "--vanilla", filepath.Join(dir, file))
	}
	for _, sector := range s.Sectors {
		args = append(args, "--vanilla", filepath.Join(dir, sector.File))
	}
	return args
}

// What witness digest prints of every partition of every golden sector is what the reference wrote,
// and witness check says of each that it satisfies the circuit.
func TestWitnessDigestIsGolden(t *testing.T) {
	files, err := filepath.Glob(golden + "/*KiB/*.json")
	if err != nil || len(files) == 0 {
		t.Fatalf("no golden sectors: %v", err)
	}
	for _, file := range files {
		name := strings.TrimSuffix(filepath.Base(file), ".json")
		if strings.HasSuffix(name, ".c1") {
			continue
		}
		t.Run(name, func(t *testing.T) {
			if testing.Short() && !strings.HasPrefix(name, "winning") {
				t.Skip("takes seconds; run without -short")
			}
			var s goldenSector
			readJSON(t, file, &s)
			var got struct {
				Partitions []struct {
					Partition int            `json:"partition"`
					Satisfied bool           `json:"satisfied"`
					Witness   map[string]any `json:"witness"`
				} `json:"partitions"`
			}
			runJSON(t, &got, append([]string{"witness", "digest"}, s.flags(filepath.Dir(file))...)...)
			if len(got.Partitions) != len(s.Partitions) {
				t.Fatalf("%d partitions, want %d", len(got.Partitions), len(s.Partitions))
			}
			for k, p := range s.Partitions {
				if d := cmp.Diff(p.Witness, got.Partitions[k].Witness); d != "" {
					t.Errorf("partition %d: %s", k, d)
				}
			}
			runJSON(t, &got, append([]string{"witness", "check"}, s.flags(filepath.Dir(file))...)...)
			for k, p := range got.Partitions {
				if !p.Satisfied {
					t.Errorf("partition %d is not satisfied", k)
				}
			}
		})
	}
}
