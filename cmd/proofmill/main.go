// Command proofmill is the one binary of the system: its services and the commands of its operators.
//
// Each command is a file of its own that registers itself (see register). Its settings are a section of the
// configuration, its results go to standard output by an output.Printer, its progress and its log to standard error.
package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/signal"
	"sync/atomic"
	"syscall"

	"github.com/proofmill/proofmill/cmd/proofmill/internal/exit"
	"github.com/proofmill/proofmill/cmd/proofmill/internal/output"
)

func main() {
	os.Exit(run(os.Args[1:], os.Environ(), os.Stdin, os.Stdout, os.Stderr))
}

// run executes one command line and gives the exit code of the process.
func run(args, environ []string, stdin io.Reader, stdout, stderr io.Writer) int {
	// A closed pipe is an error of the write that meets it: it must not kill a service whose log reader went away.
	signal.Ignore(syscall.SIGPIPE)
	ctx, caught, stop := notify()
	defer stop()

	app := newApp(environ, stdin, stdout, stderr)
	err := app.execute(ctx, args)
	code := exitCode(err, caught())
	if code != exit.OK && code != exit.BrokenPipe {
		report(stderr, err, code)
	}
	return int(code)
}

// notify gives a context that SIGINT and SIGTERM cancel; a second signal ends the process at once. caught is the signal
// that came, or nil.
func notify() (ctx context.Context, caught func() os.Signal, stop func()) {
	ctx, cancel := context.WithCancel(context.Background())
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, syscall.SIGINT, syscall.SIGTERM)
	var first atomic.Pointer[os.Signal]
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		select {
		case received := <-signals:
			first.Store(&received)
			signal.Stop(signals)
			cancel()
		case <-ctx.Done():
		}
	}()
	caught = func() os.Signal {
		if received := first.Load(); received != nil {
			return *received
		}
		return nil
	}
	stop = func() {
		signal.Stop(signals)
		cancel()
		<-ended
	}
	return ctx, caught, stop
}

func exitCode(err error, caught os.Signal) exit.Code {
	switch {
	case err == nil:
		return exit.OK
	case output.IsBrokenPipe(err):
		return exit.BrokenPipe
	case caught == syscall.SIGINT:
		return exit.Interrupted
	case caught == syscall.SIGTERM:
		return exit.Terminated
	default:
		return exit.CodeOf(err)
	}
}

// report writes the error and its hint. Where nobody reads standard error, there is nothing left to do.
func report(stderr io.Writer, err error, code exit.Code) {
	text := "proofmill: error: " + err.Error() + "\n"
	if code == exit.Interrupted || code == exit.Terminated {
		text = "proofmill: stopped: " + err.Error() + "\n"
	}
	if hint := exit.HintOf(err); hint != "" {
		text += "proofmill: hint: " + hint + "\n"
	}
	_, _ = fmt.Fprint(stderr, text)
}
