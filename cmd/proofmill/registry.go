package main

import (
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/proofmill/proofmill/cmd/proofmill/internal/exit"
)

// Groups of commands in the help.
const (
	groupServices = "services"
	groupProofs   = "proofs"
	groupCircuits = "circuits"
	groupOperate  = "operate"
)

// groups lists the groups that have commands, in the order of the help.
func groups() []*cobra.Group {
	all := []*cobra.Group{
		{ID: groupServices, Title: "Run the pipeline:"},
		{ID: groupProofs, Title: "Make and check proofs:"},
		{ID: groupCircuits, Title: "Circuits, witnesses and parameters:"},
		{ID: groupOperate, Title: "Operate:"},
	}
	return slices.DeleteFunc(all, func(group *cobra.Group) bool {
		return !slices.ContainsFunc(registrations, func(r registration) bool { return r.group == group.ID })
	})
}

// builder makes a command. It declares the command's settings as a section of a.config; the values are read before RunE
// runs, not before.
type builder func(a *app) *cobra.Command

type registration struct {
	group string
	build builder
}

var registrations []registration

// register adds a command to the root, in a group of the help. Files of commands call it from init.
func register(group string, build builder) {
	registrations = append(registrations, registration{group, build})
}

// withoutConfig marks a command that runs even where the configuration is wrong.
const withoutConfig = "proofmill/without-config"

// parent makes a command that only holds others. Without arguments it shows its help; an unknown name is a usage error.
func parent(use, short string, children ...*cobra.Command) *cobra.Command {
	command := &cobra.Command{
		Use: use, Short: short, Annotations: map[string]string{withoutConfig: ""},
		Args: func(command *cobra.Command, args []string) error {
			if len(args) == 0 {
				return nil
			}
			hint := "run `" + command.CommandPath() + " --help`"
			if similar := command.SuggestionsFor(args[0]); len(similar) > 0 {
				hint = "did you mean " + strings.Join(similar, " or ") + "?"
			}
			return exit.Wrap(exit.Usage, fmt.Errorf("unknown command %q for %q", args[0], command.CommandPath()), hint)
		},
		RunE: func(command *cobra.Command, _ []string) error { return command.Help() },
	}
	command.SuggestionsMinimumDistance = 2
	command.AddCommand(children...)
	return command
}
