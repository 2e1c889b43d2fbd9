package config

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/spf13/pflag"
	"pgregory.net/rapid"
)

type gateway struct {
	Listen  string   `toml:"listen" doc:"Address"`
	Wait    Duration `toml:"wait" doc:"Wait"`
	Limit   Size     `toml:"limit" doc:"Limit"`
	Slots   int      `toml:"slots" doc:"Slots"`
	Verify  bool     `toml:"verify" doc:"Verify"`
	Servers []string `toml:"servers" doc:"Servers"`
	Token   string   `toml:"token" doc:"Token" secret:"true"`
}

func (g *gateway) Validate() error {
	if g.Slots > 100 {
		return errors.New("slots: more than 100")
	}
	return nil
}

func newSchema() (*Schema, *gateway) {
	settings := &gateway{Listen: ":9100", Wait: Duration(time.Minute), Limit: 1 << 30, Slots: 2, Servers: []string{"a", "b"}}
	schema := New("PROOFMILL_CONFIG")
	schema.Section("gateway", settings)
	schema.Section("log", &struct {
		Level string `toml:"level" doc:"Level"`
	}{"info"})
	return schema, settings
}

func write(t *testing.T, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "proofmill.toml")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestEachSourceWinsOverTheOneBefore(t *testing.T) {
	schema, settings := newSchema()
	flags := pflag.NewFlagSet("test", pflag.ContinueOnError)
	schema.Flag(flags, "slots", "gateway.slots")
	schema.Flag(flags, "verify", "gateway.verify")
	schema.Flag(flags, "listen", "gateway.listen")
	if err := flags.Parse([]string{"--slots=5", "--verify"}); err != nil {
		t.Fatal(err)
	}
	path := write(t, "[gateway]\nlisten = \":1\"\nwait = \"2m\"\nlimit = \"3MiB\"\nslots = 3\nservers = [\"c\"]\n")
	err := schema.Load(path, []string{
		"PROOFMILL_GATEWAY_SLOTS=4", "PROOFMILL_GATEWAY_SERVERS=d, e", "PROOFMILL_GATEWAY_TOKEN=secret", "PROOFMILL_GATEWAY_WAIT=",
		"PROOFMILL_CONFIG=x", "PROOFMILL_GATEWAY_SLOT=4", "HOME=/",
	})
	if err != nil {
		t.Fatal(err)
	}
	want := gateway{
		Listen: ":1", Wait: Duration(2 * time.Minute), Limit: 3 << 20, Slots: 5, Verify: true,
		Servers: []string{"d", "e"}, Token: "secret",
	}
	if diff := cmp.Diff(want, *settings); diff != "" {
		t.Errorf("settings (-want +got):\n%s", diff)
	}
	origins := make(map[string]string)
	for _, entry := range schema.Entries() {
		origins[entry.Key] = entry.Origin + " " + entry.Value
	}
	wantOrigins := map[string]string{
		"gateway.listen": "file " + path + " :1", "gateway.wait": "file " + path + " 2m0s", "gateway.limit": "file " + path + " 3MiB",
		"gateway.slots": "flag --slots 5", "gateway.verify": "flag --verify true",
		"gateway.servers": "environment PROOFMILL_GATEWAY_SERVERS d,e", "gateway.token": "environment PROOFMILL_GATEWAY_TOKEN ***",
		"log.level": "default info",
	}
	if diff := cmp.Diff(wantOrigins, origins); diff != "" {
		t.Errorf("origins (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]string{"environment variable PROOFMILL_GATEWAY_SLOT sets nothing"}, schema.Warnings()); diff != "" {
		t.Errorf("warnings (-want +got):\n%s", diff)
	}
}

func TestErrorsNameThePlace(t *testing.T) {
	for _, test := range []struct{ file, env, want string }{
		{file: "[gateway]\n\nlistn = 1\n", want: ":3: unknown key gateway.listn; did you mean gateway.listen?"},
		{file: "[gateways]\nlisten = \"x\"\n", want: "unknown key gateways"},
		{file: "stray = 1\n", want: ":1: unknown key stray"},
		{file: "[gateway]\nslots = \"many\"\n", want: ":2: "},
		{file: "[gateway]\nwait = \"soon\"\n", want: "is not a duration such as"},
		{file: "[gateway]\nslots = \n", want: ":2: "},
		{file: "[gateway]\nslots = 101\n", want: "section gateway: slots: more than 100"},
		{file: "gateway = 3\n", want: ":1: "},
		{env: "PROOFMILL_GATEWAY_SLOTS=x", want: `environment PROOFMILL_GATEWAY_SLOTS: gateway.slots: "x" is not a whole number`},
		{env: "PROOFMILL_GATEWAY_VERIFY=maybe", want: "neither true nor false"},
		{env: "PROOFMILL_GATEWAY_LIMIT=9999999TiB", want: "is not a size such as"},
	} {
		schema, _ := newSchema()
		err := schema.Load(write(t, test.file), []string{test.env})
		if err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%q %s: error %v, want %q", test.file, test.env, err, test.want)
		}
	}
	schema, _ := newSchema()
	if err := schema.Load(filepath.Join(t.TempDir(), "none.toml"), nil); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("missing file: %v", err)
	}
	if err := schema.Load(write(t, strings.Repeat("#", MaxFileBytes+1)), nil); err == nil || !strings.Contains(err.Error(), "larger than") {
		t.Errorf("huge file: %v", err)
	}
}

func TestFlagsAreCheckedAtOnce(t *testing.T) {
	schema, _ := newSchema()
	flags := pflag.NewFlagSet("test", pflag.ContinueOnError)
	schema.Flag(flags, "wait", "gateway.wait")
	if err := flags.Parse([]string{"--wait=soon"}); err == nil {
		t.Error("a bad duration was accepted")
	}
}

func TestWrongSectionsPanic(t *testing.T) {
	for name, declare := range map[string]func(*Schema){
		"twice":      func(s *Schema) { s.Section("log", &struct{}{}) },
		"no pointer": func(s *Schema) { s.Section("x", struct{}{}) },
		"no tags":    func(s *Schema) { s.Section("x", &struct{ Field string }{}) },
		"bad type": func(s *Schema) {
			s.Section("x", &struct {
				Field map[string]int `toml:"f" doc:"F"`
			}{})
		},
		"no such key": func(s *Schema) { s.Flag(pflag.NewFlagSet("", pflag.ContinueOnError), "f", "log.none") },
	} {
		t.Run(name, func(t *testing.T) {
			defer func() {
				if recover() == nil {
					t.Error("no panic")
				}
			}()
			schema, _ := newSchema()
			declare(schema)
		})
	}
}

func TestTextRoundTrips(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		size := Size(rapid.Int64Range(0, 1<<62).Draw(t, "size"))
		if rapid.Bool().Draw(t, "round") {
			size = size >> 40 << 40
		}
		duration := Duration(rapid.Int64Range(0, 1<<62).Draw(t, "duration"))
		sizeText, _ := size.MarshalText()
		durationText, _ := duration.MarshalText()
		var gotSize Size
		var gotDuration Duration
		if err := errors.Join(gotSize.UnmarshalText(sizeText), gotDuration.UnmarshalText(durationText)); err != nil {
			t.Fatal(err)
		}
		if gotSize != size || gotDuration != duration {
			t.Fatalf("%s and %s became %d and %d", sizeText, durationText, gotSize, gotDuration)
		}
	})
}

func TestDistance(t *testing.T) {
	for _, test := range []struct {
		a, b string
		want int
	}{{"", "", 0}, {"abc", "", 3}, {"kitten", "sitting", 3}, {"gateway.listn", "gateway.listen", 1}} {
		if got, back := distance(test.a, test.b), distance(test.b, test.a); got != test.want || back != test.want {
			t.Errorf("distance of %q and %q is %d and %d, want %d", test.a, test.b, got, back, test.want)
		}
	}
}

func FuzzLoad(f *testing.F) {
	f.Add([]byte("[gateway]\nlisten = \":1\"\nslots = 3\nservers = [\"c\"]\n[log]\nlevel=\"debug\"\n"))
	f.Add([]byte("gateway.slots = 1\n[[log]]\n"))
	f.Add([]byte("log = {level = \"x\"}\n"))
	f.Add([]byte("[LOG]\nLevel = \"x\"\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		schema, settings := newSchema()
		before := settings.Slots
		if err := schema.loadBytes("fuzz.toml", data); err != nil {
			return
		}
		for _, entry := range schema.Entries() {
			if entry.Key == "gateway.slots" && settings.Slots != before && entry.Origin != "file fuzz.toml" {
				t.Fatalf("a value of the file has the origin %q", entry.Origin)
			}
		}
	})
}
