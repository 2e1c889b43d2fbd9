package main

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/proofmill/proofmill/cmd/proofmill/internal/config"
	"github.com/proofmill/proofmill/cmd/proofmill/internal/exit"
	"github.com/proofmill/proofmill/cmd/proofmill/internal/version"
)

const rootLong = `Proofmill makes the Groth16 proofs of Filecoin storage (PoRep, SnapDeals, WindowPoSt, WinningPoSt) as a
pipeline of services over NATS JetStream.

Results go to standard output, as text or with --json as JSON; progress and log go to standard error.
Settings come from flags, PROOFMILL_ variables and a TOML file, in this order.`

// newRoot builds the tree of all registered commands.
func newRoot(a *app) *cobra.Command {
	root := parent("proofmill", "Groth16 proofs of Filecoin storage, as a pipeline of services")
	root.Long = rootLong
	root.Version = version.Get().Version
	root.SilenceErrors, root.SilenceUsage = true, true
	root.AddGroup(groups()...)
	root.SetHelpCommandGroupID(groupOperate)
	root.SetCompletionCommandGroupID(groupOperate)
	flags := root.PersistentFlags()
	flags.BoolVar(&a.asJSON, "json", false, "Write results as JSON")
	flags.StringVar(&a.configFile, "config", "", "Configuration `FILE` (default: "+envConfig+", then proofmill/proofmill.toml in the user's\nconfiguration directory, then "+systemConfig+")")
	a.config.Flag(flags, "log-level", "log.level")
	a.config.Flag(flags, "log-format", "log.format")
	for _, registered := range registrations {
		command := registered.build(a)
		command.GroupID = registered.group
		root.AddCommand(command)
	}
	root.AddCommand(exitCodesTopic(), environmentTopic(a))
	root.PersistentPreRunE = func(command *cobra.Command, _ []string) error {
		if _, skip := command.Annotations[withoutConfig]; skip || isCobraOwn(command) {
			return nil
		}
		return a.prepare(command.Context(), command)
	}
	a.finish(root)
	return root
}

// isCobraOwn reports whether the command is one that cobra adds: help, completion and the hidden ones that shells call.
func isCobraOwn(command *cobra.Command) bool {
	for ; command.HasParent(); command = command.Parent() {
		if name := command.Name(); name == "help" || name == "completion" || strings.HasPrefix(name, "__complete") {
			return true
		}
	}
	return false
}

// finish makes each command strict about its arguments, and notes when its own work begins.
func (a *app) finish(command *cobra.Command) {
	if command.Args == nil && command.Runnable() {
		command.Args = cobra.NoArgs
	}
	if work := command.RunE; work != nil {
		command.RunE = func(command *cobra.Command, args []string) error {
			a.running = true
			return work(command, args)
		}
	}
	for _, child := range command.Commands() {
		a.finish(child)
	}
}

func exitCodesTopic() *cobra.Command {
	var text strings.Builder
	text.WriteString("Exit codes of proofmill:\n\n")
	for _, meaning := range exit.Table() {
		fmt.Fprintf(&text, "  %3d  %-18s %s\n", meaning.Code, meaning.Name, meaning.Text)
	}
	return &cobra.Command{Use: "exit-codes", Short: "What the exit codes mean", Long: text.String()}
}

func environmentTopic(a *app) *cobra.Command {
	topic := &cobra.Command{Use: "environment", Short: "Environment variables that are read"}
	topic.SetHelpFunc(func(command *cobra.Command, _ []string) {
		var text strings.Builder
		text.WriteString("Each setting has a variable; an empty one counts as not set.\n\n")
		fmt.Fprintf(&text, "  %-32s %s\n", envConfig, "Configuration file")
		for _, entry := range a.config.Entries() {
			fmt.Fprintf(&text, "  %-32s %s\n", config.EnvName(entry.Key), entry.Doc)
		}
		text.WriteString("\nTraces follow OpenTelemetry: OTEL_EXPORTER_OTLP_ENDPOINT and its relatives, OTEL_SERVICE_NAME,\n" +
			"OTEL_TRACES_SAMPLER, OTEL_SDK_DISABLED. Without an endpoint nothing is sent.\n")
		command.Print(text.String())
	})
	return topic
}
