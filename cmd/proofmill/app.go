package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/proofmill/proofmill/cmd/proofmill/internal/config"
	"github.com/proofmill/proofmill/cmd/proofmill/internal/exit"
	"github.com/proofmill/proofmill/cmd/proofmill/internal/output"
	"github.com/proofmill/proofmill/cmd/proofmill/internal/version"
	"github.com/proofmill/proofmill/pkg/telemetry"
	"github.com/proofmill/proofmill/pkg/wire"
)

// Variables that begin as settings do and are none. All but the first are read by tests.
const (
	envConfig = "PROOFMILL_CONFIG"
	envSlow   = "PROOFMILL_SLOW"
	envShared = "PROOFMILL_SHARED"
	envOracle = "PROOFMILL_ORACLE"
	envParams = "PROOFMILL_TEST_PARAMS"
)

// systemConfig is read where neither the flag, nor the variable, nor the user's own directory names a file.
const systemConfig = "/etc/proofmill/proofmill.toml"

// app is what commands share: the streams, the settings, the log, the telemetry.
type app struct {
	stdin   io.Reader
	stderr  io.Writer
	environ []string
	out     *output.Printer

	config     *config.Schema
	configFile string
	log        logSettings
	params     paramsSettings
	nats       natsSettings
	fleet      fleetSettings
	up         upSettings

	logs      *telemetry.Logs      // from the start of RunE
	telemetry *telemetry.Telemetry // from the start of RunE

	asJSON  bool
	running bool // whether RunE began: errors before it are of the command line
}

type logSettings struct {
	Level  string `toml:"level" doc:"Least level that is logged: debug, info, warn or error"`
	Format string `toml:"format" doc:"Format of log lines: text, json, or auto (text on a terminal)"`
}

// Validate checks both values together with their names, before a log exists.
func (l *logSettings) Validate() error {
	_, err := telemetry.NewLogs(io.Discard, l.Level, l.Format)
	return err
}

func newApp(environ []string, stdin io.Reader, stdout, stderr io.Writer) *app {
	a := &app{
		stdin: stdin, stderr: stderr, environ: environ,
		config: config.New(envConfig, envSlow, envShared, envOracle, envParams),
		log:    logSettings{Level: "info", Format: telemetry.LogFormatAuto},
		nats:   defaultNATS(),
		fleet:  defaultFleet(),
		up:     upSettings{Listen: "127.0.0.1:4222"},
	}
	a.out = output.New(stdout, &a.asJSON)
	a.config.Section("log", &a.log)
	a.config.Section("params", &a.params)
	a.config.Section("nats", &a.nats)
	a.fleet.declare(a.config)
	a.config.Section("up", &a.up)
	return a
}

// execute runs one command line and ends what it started.
func (a *app) execute(ctx context.Context, args []string) error {
	root := newRoot(a)
	root.SetArgs(args)
	root.SetIn(a.stdin)
	root.SetOut(a.out.Writer())
	root.SetErr(a.stderr)
	command, err := root.ExecuteContextC(ctx)
	if a.telemetry != nil {
		if flushErr := a.telemetry.Shutdown(ctx); flushErr != nil {
			a.logs.Warn("some spans were not sent", "error", flushErr)
		}
	}
	if err == nil {
		return nil
	}
	if _, coded := errors.AsType[*exit.Error](err); !a.running && !coded && !output.IsBrokenPipe(err) {
		text := strings.TrimRight(err.Error(), "\n")
		return exit.Wrap(exit.Usage, errors.New(text), "run `"+command.CommandPath()+" --help`")
	}
	return classify(err)
}

// prepare reads the settings and starts log and telemetry.
func (a *app) prepare(ctx context.Context, command *cobra.Command) error {
	const hint = "`proofmill help environment` lists all settings; the file names them section.key"
	if err := a.config.Load(a.findConfig(), a.environ); err != nil {
		return exit.Wrap(exit.BadConfig, fmt.Errorf("configuration: %w", err), hint)
	}
	logs, err := telemetry.NewLogs(a.stderr, a.log.Level, a.log.Format)
	if err != nil {
		return exit.Wrap(exit.BadConfig, fmt.Errorf("configuration: %w", err), hint)
	}
	a.logs = logs
	for _, warning := range a.config.Warnings() {
		logs.Warn(warning)
	}
	a.telemetry, err = telemetry.Start(ctx, telemetry.Config{
		Service: serviceName(command), Version: version.Get().Version,
		Log: logs.Logger, LogWriteErrors: logs.WriteErrors, Getenv: a.getenv,
	})
	if err != nil {
		return exit.Wrap(exit.BadConfig, fmt.Errorf("telemetry: %w", err), "")
	}
	a.telemetry.SetGlobal()
	slog.SetDefault(logs.Logger)
	return nil
}

// serviceName is the process's name in traces: proofmill-gateway for a service, proofmill for all else.
func serviceName(command *cobra.Command) string {
	if command.GroupID == groupServices {
		return "proofmill-" + command.Name()
	}
	return "proofmill"
}

// findConfig is the file named by flag or variable, which must be there, or else the first default file that is.
func (a *app) findConfig() string {
	if a.configFile != "" {
		return a.configFile
	}
	if path := a.getenv(envConfig); path != "" {
		return path
	}
	for _, path := range a.defaultConfigs() {
		if _, err := os.Stat(path); err == nil {
			return path
		}
	}
	return ""
}

func (a *app) defaultConfigs() []string {
	var paths []string
	if dir := a.getenv("XDG_CONFIG_HOME"); filepath.IsAbs(dir) {
		paths = append(paths, filepath.Join(dir, "proofmill", "proofmill.toml"))
	} else if home := a.getenv("HOME"); home != "" {
		paths = append(paths, filepath.Join(home, ".config", "proofmill", "proofmill.toml"))
	}
	return append(paths, systemConfig)
}

func (a *app) getenv(name string) string {
	value := ""
	for _, variable := range a.environ {
		if text, ok := strings.CutPrefix(variable, name+"="); ok {
			value = text
		}
	}
	return value
}

// classify gives errors of the pipeline the code of their class, and what their code's table says to do about them.
func classify(err error) error {
	if _, ok := errors.AsType[*exit.Error](err); ok {
		return err
	}
	if classified, ok := errors.AsType[*wire.Error](err); ok {
		hint := ""
		if entry, ok := classified.Code.Entry(); ok && (classified.Class == entry.Class || classified.Class != wire.Terminal) {
			hint = entry.Do // which for an error that was made final would promise another try
		}
		return exit.Wrap(wireExitCode(classified), err, hint)
	}
	if errors.Is(err, os.ErrNotExist) {
		return exit.Wrap(exit.BadInput, err, "check the name of the file")
	}
	return err
}

func wireExitCode(err *wire.Error) exit.Code {
	switch err.Code {
	case wire.CodeNoGateway, wire.CodeStoreUnavailable, wire.CodeWorkerUnavailable, wire.CodeParametersMissing:
		return exit.Unavailable
	case wire.CodeBadMessage, wire.CodeUnsupportedVersion, wire.CodeMessageTooLarge, wire.CodeBadRequest, wire.CodeUnknownProof,
		wire.CodeUnsupportedCircuit, wire.CodeSizeContradiction, wire.CodeInputTooLarge, wire.CodeInputCorrupt, wire.CodeInputMissing,
		wire.CodeBadInput, wire.CodeBadVanillaProof, wire.CodeParametersForeign:
		return exit.BadInput
	default:
		if err.Class == wire.Terminal {
			return exit.Failed
		}
		return exit.TryAgain
	}
}
