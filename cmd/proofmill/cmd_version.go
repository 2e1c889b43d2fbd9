package main

import (
	"github.com/spf13/cobra"

	"github.com/proofmill/proofmill/cmd/proofmill/internal/output"
	"github.com/proofmill/proofmill/cmd/proofmill/internal/version"
)

func init() { register(groupOperate, newVersionCommand) }

func newVersionCommand(a *app) *cobra.Command {
	return &cobra.Command{
		Use: "version", Short: "Show which build this is",
		Annotations: map[string]string{withoutConfig: ""},
		RunE: func(*cobra.Command, []string) error {
			info := version.Get()
			return a.out.Print(info, func(t *output.Text) {
				fields := []output.Field{{Name: "proofmill", Value: info.Version}}
				if info.Commit != "" {
					fields = append(fields, output.Field{Name: "commit", Value: info.Commit})
				}
				t.Fields(append(fields, output.Field{Name: "go", Value: info.Go}, output.Field{Name: "platform", Value: info.Platform})...)
			})
		},
	}
}
