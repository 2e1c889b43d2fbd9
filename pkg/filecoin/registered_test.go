package filecoin

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"testing"
)

// The numbers, names and sizes of all proofs that Filecoin registers.
func TestRegisteredNumbers(t *testing.T) {
	sizes := []string{"2KiB", "8MiB", "512MiB", "32GiB", "64GiB"}
	for i, size := range sizes {
		for v, c := range []struct {
			suffix     string
			version    APIVersion
			partitions [2]int
		}{
			{"V1", APIv1_0_0, [2]int{1, 10}},
			{"V1_1", APIv1_1_0, [2]int{1, 10}},
			{"V1_1_Feat_SyntheticPoRep", APIv1_2_0, [2]int{1, 10}},
			{"V1_2_Feat_NonInteractivePoRep", APIv1_2_0, [2]int{13, 126}},
		} {
			p := RegisteredSealProof(5*v + i)
			want := c.partitions[0]
			if i >= 3 {
				want = c.partitions[1]
			}
			if p.String() != "StackedDrg"+size+c.suffix || p.APIVersion() != c.version || p.Partitions() != want || p.TestOnly() || !p.Valid() ||
				p.Size().String() != size || p.PoRepID() != [32]byte{byte(p)} || p.Kind() != PoRep {
				t.Errorf("seal proof %d is %s of %s, API %s, %d partitions", uint64(p), p, p.Size(), p.APIVersion(), p.Partitions())
			}
		}
		for v, c := range []struct {
			prefix, suffix string
			kind           Kind
			version        APIVersion
		}{
			{"StackedDrgWinning", "V1", Winning, APIv1_0_0},
			{"StackedDrgWindow", "V1", Window, APIv1_0_0},
			{"StackedDrgWindow", "V1_1", Window, APIv1_2_0},
		} {
			p := RegisteredPoStProof(5*v + i)
			if p.String() != c.prefix+size+c.suffix || p.Kind() != c.kind || p.APIVersion() != c.version || p.Size().String() != size || p.TestOnly() {
				t.Errorf("PoSt proof %d is %s: %s of %s, API %s", uint64(p), p, p.Kind(), p.Size(), p.APIVersion())
			}
		}
		if p := RegisteredUpdateProof(i); p.String() != "StackedDrg"+size+"V1" || p.Size().String() != size || p.APIVersion() != APIv1_1_0 || p.Kind() != Update || p.TestOnly() {
			t.Errorf("update proof %d is %s of %s", i, p, p.Size())
		}
	}
}

func TestNamesReadBack(t *testing.T) {
	known := 0
	for _, base := range []uint64{0, TestProofBase} {
		for n := base; n < base+30; n++ {
			if p := RegisteredSealProof(n); p.Valid() {
				known++
				if back, err := ParseRegisteredSealProof(p.String()); err != nil || back != p {
					t.Errorf("%s reads back as %s: %v", p, back, err)
				}
			}
			if p := RegisteredPoStProof(n); p.Valid() {
				known++
				for _, name := range []string{p.String(), p.rustName()} {
					if back, err := ParseRegisteredPoStProof(name); err != nil || back != p {
						t.Errorf("%s reads back as %s: %v", name, back, err)
					}
				}
			}
			if p := RegisteredUpdateProof(n); p.Valid() {
				known++
				if back, err := ParseRegisteredUpdateProof(p.String()); err != nil || back != p {
					t.Errorf("%s reads back as %s: %v", p, back, err)
				}
			}
		}
	}
	if known != 2*(20+15+5) {
		t.Errorf("%d proofs are known", known)
	}
	if p, err := ParseRegisteredPoStProof("StackedDrgWindow32GiBV1_2"); err != nil || p != 13 {
		t.Errorf("the reference's name of number 13 reads as %d: %v", uint64(p), err)
	}
	for _, name := range []string{"", "StackedDrg", "StackedDrg3GiBV1", "StackedDrg32GiBV1_3", "stackeddrg32GiBV1"} {
		if _, err := ParseRegisteredSealProof(name); err == nil {
			t.Errorf("seal proof %q reads", name)
		}
		if _, err := ParseRegisteredPoStProof(name); err == nil {
			t.Errorf("PoSt proof %q reads", name)
		}
		if _, err := ParseRegisteredUpdateProof(name); err == nil {
			t.Errorf("update proof %q reads", name)
		}
	}
	for _, kind := range Kinds() {
		if back, err := ParseKind(kind.String()); err != nil || back != kind {
			t.Errorf("kind %s reads back as %s: %v", kind, back, err)
		}
	}
	if _, err := ParseKind("PoRep"); err == nil {
		t.Error("kind PoRep reads")
	}
}

func TestShapes(t *testing.T) {
	for size, want := range map[string]struct {
		nodes   uint64
		shape   string
		arities []int
	}{
		"2KiB":   {64, "8-0-0", []int{8, 8}},
		"4KiB":   {128, "8-2-0", []int{8, 8, 2}},
		"16KiB":  {512, "8-8-0", []int{8, 8, 8}},
		"32KiB":  {1024, "8-8-2", []int{8, 8, 8, 2}},
		"8MiB":   {1 << 18, "8-0-0", []int{8, 8, 8, 8, 8, 8}},
		"16MiB":  {1 << 19, "8-2-0", []int{8, 8, 8, 8, 8, 8, 2}},
		"512MiB": {1 << 24, "8-0-0", []int{8, 8, 8, 8, 8, 8, 8, 8}},
		"1GiB":   {1 << 25, "8-2-0", []int{8, 8, 8, 8, 8, 8, 8, 8, 2}},
		"32GiB":  {1 << 30, "8-8-0", []int{8, 8, 8, 8, 8, 8, 8, 8, 8, 8}},
		"64GiB":  {1 << 31, "8-8-2", []int{8, 8, 8, 8, 8, 8, 8, 8, 8, 8, 2}},
	} {
		s, err := ParseSectorSize(size)
		if err != nil {
			t.Fatal(err)
		}
		if s.Nodes() != want.nodes || s.Shape().String() != want.shape || !slices.Equal(s.Shape().Arities(s), want.arities) || !s.Valid() {
			t.Errorf("%s: %d nodes, shape %s, arities %v", s, s.Nodes(), s.Shape(), s.Shape().Arities(s))
		}
		if d := BinaryTree.Arities(s); len(d) != s.Levels() || 1<<len(d) != s.Nodes() {
			t.Errorf("%s: tree D has %d levels", s, len(d))
		}
		product := uint64(1)
		for _, a := range s.Shape().Arities(s) {
			product *= uint64(a)
		}
		if product != s.Nodes() {
			t.Errorf("%s: arities multiply to %d of %d nodes", s, product, s.Nodes())
		}
	}
	for _, s := range []string{"", "2", "2kib", "1KiB", "128GiB", "34359738368"} {
		if _, err := ParseSectorSize(s); err == nil {
			t.Errorf("sector size %q reads", s)
		}
	}
}

// circuitFile is what the tests use of a golden circuit.
type circuitFile struct {
	Kind            string `json:"kind"`
	Sector          string `json:"sector"`
	CacheIdentifier string `json:"cache_identifier"`
	ParameterSet    string `json:"parameter_set_identifier"`
	NumInputs       int    `json:"num_inputs"`
}

func TestCircuitsOfGolden(t *testing.T) {
	files, err := filepath.Glob(filepath.Join(goldenDir, "circuits", "*.json"))
	if err != nil || len(files) < 21 {
		t.Fatalf("%d golden circuits: %v", len(files), err)
	}
	for _, file := range files {
		raw, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		var c circuitFile
		if err := json.Unmarshal(raw, &c); err != nil {
			t.Fatal(err)
		}
		kind, err := ParseKind(c.Kind)
		if err != nil {
			t.Fatal(err)
		}
		size, err := ParseSectorSize(c.Sector)
		if err != nil {
			t.Fatal(err)
		}
		if set, err := ParameterSet(kind, size); err != nil || set != c.ParameterSet {
			t.Errorf("%s: parameter set %q: %v", file, set, err)
		}
		if name, err := ParamsFile(kind, size); err != nil || name != "v28-"+c.CacheIdentifier+".params" {
			t.Errorf("%s: parameters %s: %v", file, name, err)
		}
		if name, err := VerifyingKeyFile(kind, size); err != nil || name != "v28-"+c.CacheIdentifier+".vk" {
			t.Errorf("%s: verifying key %s: %v", file, name, err)
		}
		if n := publicInputCount(t, kind, size); n+1 != c.NumInputs {
			t.Errorf("%s: %d public inputs, golden has %d with the constant one", file, n, c.NumInputs)
		}
		if _, ok := PublishedFor(kind, size); ok != size.Published() {
			t.Errorf("%s: published files: %v", file, ok)
		}
	}
}

// publicInputCount counts the public inputs of a statement of zeros.
func publicInputCount(t *testing.T, kind Kind, size SectorSize) int {
	t.Helper()
	var st statement
	switch kind {
	case PoRep:
		p, err := SealProofFor(SealV1_1, size)
		if err != nil {
			t.Fatal(err)
		}
		st = &SealStatement{Proof: p}
	case Update:
		p, err := UpdateProofFor(size)
		if err != nil {
			t.Fatal(err)
		}
		st = &UpdateStatement{Proof: p}
	default:
		p, err := PoStProofFor(kind, size, APIv1_2_0)
		if err != nil {
			t.Fatal(err)
		}
		st = &PoStStatement{Proof: p, Sectors: make([]PublicSector, 1)}
	}
	inputs, err := st.PublicInputs(0)
	if err != nil {
		t.Fatal(err)
	}
	return len(inputs)
}

func TestParamsOfNothing(t *testing.T) {
	if _, err := ParamsFile(0, Size2KiB); err == nil {
		t.Error("no kind has a parameter file")
	}
	if _, err := VerifyingKeyFile(PoRep, 1000); err == nil {
		t.Error("no size has a verifying key")
	}
	t.Setenv("FIL_PROOFS_PARAMETER_CACHE", "")
	if ParamsDir() != "/var/tmp/filecoin-proof-parameters" {
		t.Errorf("default directory %s", ParamsDir())
	}
	t.Setenv("FIL_PROOFS_PARAMETER_CACHE", "/elsewhere")
	if ParamsDir() != "/elsewhere" {
		t.Errorf("directory %s", ParamsDir())
	}
}
