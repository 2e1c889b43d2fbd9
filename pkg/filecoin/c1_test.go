package filecoin

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"reflect"
	"runtime"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

func TestC1RoundTrip(t *testing.T) {
	for _, name := range porepFixtures {
		t.Run(name[1]+"-"+name[0], func(t *testing.T) {
			f := readFixture(t, name[0], name[1])
			raw := f.file(t, f.C1File)
			c, err := DecodeC1(raw, Limits{})
			if err != nil {
				t.Fatal(err)
			}
			again, err := EncodeC1(c)
			if err != nil {
				t.Fatal(err)
			}
			var want, got any
			if err := json.Unmarshal(raw, &want); err != nil {
				t.Fatal(err)
			}
			if err := json.Unmarshal(again, &got); err != nil {
				t.Fatal(err)
			}
			if !reflect.DeepEqual(want, got) {
				t.Error("golden C1 output does not encode to equal JSON")
			}
			// Curio's wrapper holds the same, and says so.
			wrapped, err := json.Marshal(map[string]any{"SectorNum": f.Sector, "Phase1Out": raw, "SectorSize": f.SectorSize})
			if err != nil {
				t.Fatal(err)
			}
			fromWrapper, err := DecodeC1(wrapped, Limits{})
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(&C1Wrapper{f.Sector, SectorSize(f.SectorSize)}, fromWrapper.Wrapper); diff != "" {
				t.Error(diff)
			}
			fromWrapper.Wrapper = nil
			if !reflect.DeepEqual(c, fromWrapper) {
				t.Error("C1 output in the wrapper decodes to another value")
			}
			fromOurs, err := DecodeC1(EncodeC1Wrapper(again, C1Wrapper{f.Sector, SectorSize(f.SectorSize)}), Limits{})
			if err != nil {
				t.Fatal(err)
			}
			fromOurs.Wrapper = nil
			if !reflect.DeepEqual(c, fromOurs) {
				t.Error("C1 output in our wrapper decodes to another value")
			}
		})
	}
}

// shuffled writes a JSON value with its members in any order and white space anywhere.
func shuffled(v any, rng *rand.Rand, out *bytes.Buffer) {
	space := func() { out.WriteString(strings.Repeat(" \n\t\r", 2)[rng.IntN(8):8]) }
	space()
	switch v := v.(type) {
	case map[string]any:
		keys := make([]string, 0, len(v))
		for k := range v {
			keys = append(keys, k)
		}
		rng.Shuffle(len(keys), func(i, j int) { keys[i], keys[j] = keys[j], keys[i] })
		out.WriteByte('{')
		for i, k := range keys {
			if i > 0 {
				out.WriteByte(',')
			}
			space()
			fmt.Fprintf(out, "%q", k)
			space()
			out.WriteByte(':')
			shuffled(v[k], rng, out)
		}
		space()
		out.WriteByte('}')
	case []any:
		out.WriteByte('[')
		for i, e := range v {
			if i > 0 {
				out.WriteByte(',')
			}
			shuffled(e, rng, out)
		}
		space()
		out.WriteByte(']')
	default:
		raw, err := json.Marshal(v)
		if err != nil {
			panic(err)
		}
		out.Write(raw)
	}
	space()
}

func TestC1MembersInAnyOrder(t *testing.T) {
	for _, name := range [][2]string{{"2KiB", "porep"}, {"32KiB", "porep"}} {
		f := readFixture(t, name[0], name[1])
		want := f.c1(t)
		var value any
		if err := json.Unmarshal(f.file(t, f.C1File), &value); err != nil {
			t.Fatal(err)
		}
		for seed := range uint64(4) {
			rng := rand.New(rand.NewPCG(seed, 1))
			var out bytes.Buffer
			shuffled(value, rng, &out)
			got, err := DecodeC1(out.Bytes(), Limits{})
			if err != nil {
				t.Fatal(err)
			}
			if !reflect.DeepEqual(want, got) {
				t.Error("members in another order decode to another value")
			}
			wrapper := fmt.Sprintf(`{"SectorSize": %d, "Phase1Out":%q,"SectorNum" :7}`, f.SectorSize, base64.StdEncoding.EncodeToString(out.Bytes()))
			if got, err = DecodeC1([]byte(wrapper), Limits{}); err != nil {
				t.Fatal(err)
			}
			got.Wrapper = nil
			if !reflect.DeepEqual(want, got) {
				t.Error("members in another order in a wrapper decode to another value")
			}
		}
	}
}

// slowBytes32 is encoding/json's reading of 32 bytes.
func slowBytes32(text []byte) (n [32]byte, ok bool) {
	var values []uint8
	var numbers []json.Number
	if json.Unmarshal(text, &numbers) != nil || len(numbers) != 32 {
		return n, false
	}
	for _, v := range numbers {
		var b uint8
		if json.Unmarshal([]byte(v), &b) != nil {
			return n, false
		}
		values = append(values, b)
	}
	return [32]byte(values), true
}

func TestBytes32EqualsEncodingJSON(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var text []byte
		for i, v := range rapid.SliceOfN(rapid.Byte(), 32, 32).Draw(t, "bytes") {
			text = fmt.Appendf(append(text, "[,"[min(i, 1)]), "%d", v)
		}
		text = append(text, ']')
		if rapid.Bool().Draw(t, "changed") {
			at := rapid.IntRange(0, len(text)-1).Draw(t, "at")
			text[at] = rapid.SampledFrom([]byte("0123456789,[] .-e")).Draw(t, "to")
		}
		want, ok := slowBytes32(text)
		for _, pad := range []int{0, 200} { // the fast reading needs more bytes after the array
			l := &jsonLexer{buf: append(bytes.Clone(text), bytes.Repeat([]byte{' '}, pad)...)}
			var got [32]byte
			l.bytes32(&got)
			l.end()
			if (l.err == nil) != ok {
				t.Fatalf("%s: error %v, encoding/json says %v", text, l.err, ok)
			}
			if ok && got != want {
				t.Fatalf("%s: %v", text, got)
			}
		}
	})
}

func TestMalformedC1(t *testing.T) {
	f := readFixture(t, "2KiB", "porep")
	raw := string(f.file(t, f.C1File))
	wrapper := string(EncodeC1Wrapper([]byte(raw), C1Wrapper{10, Size2KiB}))
	replace := func(s, old, with string) string {
		if !strings.Contains(s, old) {
			t.Fatalf("no %q to replace", old)
		}
		return strings.Replace(s, old, with, 1)
	}
	head := `{"SectorNum":1,"SectorSize":2048,"Phase1Out":"`
	for name, c := range map[string]struct{ data, want string }{
		"empty":                {"", "the input ends"},
		"not JSON":             {"hello", `'h' where '{' is needed`},
		"null":                 {"null", "is needed"},
		"an array":             {"[]", "is needed"},
		"empty object":         {"{}", "without registered_proof"},
		"truncated":            {raw[:len(raw)/2], "the input ends"},
		"trailing bytes":       {raw + "x", "after the end"},
		"trailing value":       {raw + raw, "after the end"},
		"unknown member":       {replace(raw, `"seed"`, `"sead"`), "does not have"},
		"member twice":         {replace(raw, `"seed"`, `"ticket"`), "second time"},
		"missing member":       {replace(raw, `"_h":null,`, ""), ""},
		"unknown proof":        {replace(raw, "StackedDrg2KiBV1_1", "StackedDrg3KiBV1_1"), "unknown"},
		"other size":           {replace(raw, "StackedDrg2KiBV1_1", "StackedDrg8MiBV1_1"), "contradict"},
		"other variant":        {replace(raw, `{"StackedDrg2KiBV1":`, `{"StackedDrg32GiBV1":`), "contradict"},
		"more partitions":      {replace(raw, "StackedDrg2KiBV1_1", "StackedDrg2KiBV1_2_Feat_NonInteractivePoRep"), "1 partitions where"},
		"byte of 256":          {replace(raw, `"comm_d":[27,`, `"comm_d":[256,`), "above 255"},
		"negative byte":        {replace(raw, `"comm_d":[27,`, `"comm_d":[-1,`), "whole number"},
		"fraction":             {replace(raw, `"comm_d":[27,`, `"comm_d":[2.7,`), "whole number"},
		"31 bytes":             {replace(raw, `"comm_d":[27,`, `"comm_d":[`), "31 bytes"},
		"33 bytes":             {replace(raw, `"comm_d":[27,`, `"comm_d":[27,27,`), "more than 32"},
		"position of 8":        {replace(raw, `"index":6`, `"index":8`), "above 7"},
		"position of 2 in D":   {replace(raw, `"index":1`, `"index":2`), "position 2 in arity 2"},
		"unknown form":         {replace(raw, `"Single"`, `"Double"`), "does not have"},
		"other form":           {replace(raw, `"Single"`, `"Sub"`), "does not have"},
		"a name with escapes":  {replace(raw, `"seed"`, `"\u0073eed"`), "no name"},
		"a very long name":     {`{"` + strings.Repeat("a", 1000), "no name"},
		"wrapper of 8MiB":      {replace(wrapper, "2048", "8388608"), "contradicts"},
		"wrapper without size": {replace(wrapper, `,"SectorSize":2048`, ""), "without SectorSize"},
		"wrapper twice":        {replace(wrapper, `"SectorSize"`, `"SectorNum"`), "second time"},
		"wrapper with more":    {replace(wrapper, `"SectorSize"`, `"Sector"`), "does not have"},
		"wrapper truncated":    {wrapper[:len(wrapper)/2], "the input ends"},
		"wrapper of nothing":   {head + `"}`, "the input ends"},
		"wrapper not base64":   {head + `a$!?"}`, "not base64"},
		"wrapper of a wrapper": {string(EncodeC1Wrapper([]byte(wrapper), C1Wrapper{10, Size2KiB})), "does not have"},
		"huge number":          {replace(wrapper, `"SectorNum":10`, `"SectorNum":18446744073709551616`), "above"},
	} {
		_, err := DecodeC1([]byte(c.data), Limits{})
		if name == "missing member" { // the marker may be absent
			if err != nil {
				t.Errorf("%s: %v", name, err)
			}
			continue
		}
		if !errors.Is(err, ErrMalformed) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: error %v, not with %q", name, err, c.want)
		}
	}
	if _, err := DecodeC1([]byte(raw), Limits{MaxBytes: len(raw) - 1}); !errors.Is(err, ErrMalformed) {
		t.Errorf("above the limit: %v", err)
	}
}

// Every truncation of a C1 output, bare and wrapped, is one clear error.
func TestTruncatedC1(t *testing.T) {
	f := readFixture(t, "2KiB", "porep")
	raw := f.file(t, f.C1File)
	wrapper := EncodeC1Wrapper(raw, C1Wrapper{10, Size2KiB})
	rapid.Check(t, func(t *rapid.T) {
		data := rapid.SampledFrom([][]byte{raw, wrapper}).Draw(t, "form")
		n := rapid.IntRange(0, len(data)-1).Draw(t, "length")
		if _, err := DecodeC1(data[:n], Limits{}); !errors.Is(err, ErrMalformed) {
			t.Fatalf("%d of %d bytes: %v", n, len(data), err)
		}
	})
}

// Inputs built to make a decoder take memory or recurse are refused in little of both.
func TestC1Bombs(t *testing.T) {
	const size = 8 << 20
	vanilla := `{"vanilla_proofs":{"StackedDrg32GiBV1":`
	for name, data := range map[string]string{
		"nesting":          strings.Repeat("[", size),
		"nested objects":   strings.Repeat(`{"vanilla_proofs":`, size/18),
		"empty partitions": vanilla + "[" + strings.Repeat("[],", size/3),
		"empty challenges": vanilla + "[[" + strings.Repeat("{},", size/3),
		"empty nodes":      vanilla + `[[{"labeling_proofs":[{"parents":[` + strings.Repeat("[],", size/3),
		"empty rows":       vanilla + `[[{"replica_column_proofs":{"c_x":{"column":{"rows":[` + strings.Repeat("[],", size/3),
		"space":            strings.Repeat(" ", size),
		"a number":         `{"SectorNum":` + strings.Repeat("1", size),
		"a name":           `{"` + strings.Repeat("a", size),
		"base64":           `{"Phase1Out":"` + strings.Repeat("AAAA", size/4) + `"}`,
	} {
		var before, after runtime.MemStats
		input := []byte(data)
		runtime.ReadMemStats(&before)
		_, err := DecodeC1(input, Limits{})
		runtime.ReadMemStats(&after)
		if !errors.Is(err, ErrMalformed) {
			t.Errorf("%s: error %v", name, err)
		}
		if took := after.TotalAlloc - before.TotalAlloc; took > 1<<20 {
			t.Errorf("%s: %d bytes of memory taken", name, took)
		}
	}
}

func FuzzDecodeC1(f *testing.F) {
	fixture := readFixture(f, "2KiB", "porep")
	raw := fixture.file(f, fixture.C1File)
	f.Add(raw)
	f.Add(EncodeC1Wrapper(raw, C1Wrapper{10, Size2KiB}))
	f.Add([]byte(`{"SectorNum":1,"Phase1Out":"e30=","SectorSize":2048}`))
	f.Add([]byte(`{"vanilla_proofs":{"StackedDrg2KiBV1":[[{"comm_d_proofs":{"data":{"Single":{`))
	f.Fuzz(func(t *testing.T, data []byte) {
		c, err := DecodeC1(data, Limits{MaxBytes: 1 << 20})
		if err != nil {
			if !errors.Is(err, ErrMalformed) {
				t.Fatalf("an error that says nothing of the bytes: %v", err)
			}
			return
		}
		again, err := EncodeC1(c)
		if err != nil {
			t.Fatal(err)
		}
		if c.Wrapper != nil {
			again = EncodeC1Wrapper(again, *c.Wrapper)
		}
		d, err := DecodeC1(again, Limits{MaxBytes: 4 << 20})
		if err != nil || !reflect.DeepEqual(c, d) {
			t.Fatalf("what was decoded encodes to something else: %v", err)
		}
	})
}

func BenchmarkDecodeC1(b *testing.B) {
	f := readFixture(b, "2KiB", "porep-ni")
	raw := f.file(b, f.C1File)
	for name, data := range map[string][]byte{"bare": raw, "wrapped": EncodeC1Wrapper(raw, C1Wrapper{10, Size2KiB})} {
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(data)))
			b.ReportAllocs()
			for b.Loop() {
				if _, err := DecodeC1(data, Limits{}); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
