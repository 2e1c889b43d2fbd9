package main

import (
	"github.com/spf13/cobra"

	"github.com/proofmill/proofmill/cmd/proofmill/internal/config"
	"github.com/proofmill/proofmill/cmd/proofmill/internal/output"
	"github.com/proofmill/proofmill/pkg/wire"
)

func init() { register(groupOperate, newConfigCommand) }

// configReport is what the config commands print as JSON.
type configReport struct {
	File     string         `json:"file,omitempty"`
	Settings []config.Entry `json:"settings,omitempty"`
	Warnings []string       `json:"warnings,omitempty"`
}

func newConfigCommand(a *app) *cobra.Command {
	return parent("config", "Show and check the settings",
		&cobra.Command{
			Use: "show", Short: "Show each setting, its value and where that comes from",
			RunE: func(*cobra.Command, []string) error { return showConfig(a) },
		},
		&cobra.Command{
			Use: "check", Short: "Check the configuration file and the environment, and exit",
			RunE: func(*cobra.Command, []string) error { return checkConfig(a) },
		},
	)
}

func showConfig(a *app) error {
	report := configReport{File: a.config.File(), Settings: a.config.Entries(), Warnings: a.config.Warnings()}
	for i := range report.Settings {
		if entry := &report.Settings[i]; entry.Key == "nats.url" {
			entry.Value = wire.RedactServers(entry.Value)
		}
	}
	return a.out.Print(report, func(t *output.Text) {
		rows := make([][]string, len(report.Settings))
		for i, entry := range report.Settings {
			rows[i] = []string{entry.Key, entry.Value, entry.Origin}
		}
		t.Table(output.Columns("key", "value", "origin"), rows)
	})
}

// checkConfig runs after the settings were read, so that they are known to be right.
func checkConfig(a *app) error {
	report := configReport{File: a.config.File(), Warnings: a.config.Warnings()}
	return a.out.Print(report, func(t *output.Text) {
		source := report.File
		if source == "" {
			source = "no file"
		}
		changed := 0
		for _, entry := range a.config.Entries() {
			if entry.Origin != config.OriginDefault {
				changed++
			}
		}
		t.Linef("configuration is good: %s, %d of %d settings differ in origin from the default", source, changed, len(a.config.Entries()))
	})
}
