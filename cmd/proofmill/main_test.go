package main

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"os"
	"strings"
	"syscall"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
	"github.com/spf13/cobra"

	"github.com/proofmill/proofmill/cmd/proofmill/internal/exit"
	"github.com/proofmill/proofmill/pkg/wire"
)

func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){"proofmill": main})
}

func TestScripts(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Dir: "testdata/script",
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"exit-code": checkExitCode,
		},
	})
}

// checkExitCode runs a command line and compares its exit code: exit-code 78 proofmill config check.
func checkExitCode(ts *testscript.TestScript, _ bool, args []string) {
	err := ts.Exec(args[1], args[2:]...)
	got := "0"
	if err != nil {
		got = strings.TrimPrefix(err.Error(), "exit status ")
	}
	if got != args[0] {
		ts.Fatalf("exit code %s, want %s", got, args[0])
	}
}

// withCommand registers a command for the time of a test.
func withCommand(t *testing.T, build builder) {
	t.Helper()
	before := registrations
	t.Cleanup(func() { registrations = before })
	register(groupOperate, build)
}

func environment(t *testing.T) []string { return []string{"HOME=" + t.TempDir()} }

func TestSignalsEndACommandWithTheirCode(t *testing.T) {
	for signal, want := range map[syscall.Signal]exit.Code{syscall.SIGINT: exit.Interrupted, syscall.SIGTERM: exit.Terminated} {
		reader, writer := io.Pipe()
		withCommand(t, func(a *app) *cobra.Command {
			return &cobra.Command{Use: "linger", RunE: func(command *cobra.Command, _ []string) error {
				if err := a.out.Print("ready", nil); err != nil {
					return err
				}
				<-command.Context().Done()
				return command.Context().Err()
			}}
		})
		var stderr bytes.Buffer
		code := make(chan int)
		go func() { code <- run([]string{"linger", "--json"}, environment(t), nil, writer, &stderr) }()
		if line, err := bufio.NewReader(reader).ReadString('\n'); err != nil || line != "\"ready\"\n" {
			t.Fatalf("read %q, %v", line, err)
		}
		if err := syscall.Kill(os.Getpid(), signal); err != nil {
			t.Fatal(err)
		}
		if got := <-code; got != int(want) {
			t.Errorf("%s: exit code %d, want %d", signal, got, want)
		}
		if !strings.HasPrefix(stderr.String(), "proofmill: stopped: ") {
			t.Errorf("%s: standard error is %q", signal, stderr.String())
		}
		registrations = registrations[:len(registrations)-1]
	}
}

func TestAClosedPipeIsQuiet(t *testing.T) {
	reader, writer, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = writer.Close() }()
	if err := reader.Close(); err != nil {
		t.Fatal(err)
	}
	var stderr bytes.Buffer
	code := run([]string{"version"}, environment(t), nil, writer, &stderr)
	if code != int(exit.BrokenPipe) || stderr.Len() > 0 {
		t.Errorf("exit code %d, standard error %q", code, stderr.String())
	}
}

func TestErrorsOfThePipelineGetTheirCodeAndHint(t *testing.T) {
	final := wire.Errorf(wire.CodeStorageFull, "witness: never fits")
	final.Class = wire.Terminal
	for _, test := range []struct {
		err  error
		want exit.Code
		hint bool
	}{
		{final, exit.Failed, false},
		{wire.Errorf(wire.CodeNoGateway, "gateway: none answered"), exit.Unavailable, true},
		{wire.Errorf(wire.CodeBadVanillaProof, "sector 7: challenge 3"), exit.BadInput, true},
		{wire.Errorf(wire.CodeProofRejected, "proof: does not verify"), exit.Failed, true},
		{wire.Errorf(wire.CodeBusy, "gateway: busy"), exit.TryAgain, true},
		{wire.Errorf(wire.CodeDeviceLost, "gpu 0: lost"), exit.TryAgain, true},
		{errors.New("else"), exit.Failed, false},
	} {
		withCommand(t, func(*app) *cobra.Command {
			return &cobra.Command{Use: "fail", RunE: func(*cobra.Command, []string) error { return test.err }}
		})
		var stdout, stderr bytes.Buffer
		code := run([]string{"fail"}, environment(t), nil, &stdout, &stderr)
		if code != int(test.want) {
			t.Errorf("%v: exit code %d, want %d", test.err, code, test.want)
		}
		text := stderr.String()
		if !strings.HasPrefix(text, "proofmill: error: "+test.err.Error()+"\n") || strings.Contains(text, "proofmill: hint: ") != test.hint {
			t.Errorf("%v: standard error is %q", test.err, text)
		}
		registrations = registrations[:len(registrations)-1]
	}
}

func TestEachCommandIsDocumented(t *testing.T) {
	root := newRoot(newApp(nil, nil, io.Discard, io.Discard))
	var walk func(command *cobra.Command)
	walk = func(command *cobra.Command) {
		if command.Short == "" || strings.HasSuffix(command.Short, ".") {
			t.Errorf("%s: short help %q", command.CommandPath(), command.Short)
		}
		if command.Runnable() && command.RunE == nil && !isCobraOwn(command) {
			t.Errorf("%s: has Run where RunE is wanted", command.CommandPath())
		}
		for _, child := range command.Commands() {
			walk(child)
		}
	}
	walk(root)
}
