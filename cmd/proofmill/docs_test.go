package main

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/proofmill/proofmill/cmd/proofmill/internal/exit"
)

// The page is written by hand; its table must say what the program does.
func TestDocumentedExitCodesAreTheProgramsOwn(t *testing.T) {
	page, err := os.ReadFile("../../docs/cli.md")
	if err != nil {
		t.Fatal(err)
	}
	var table strings.Builder
	for _, meaning := range exit.Table() {
		fmt.Fprintf(&table, "| %d | %s | %s |\n", meaning.Code, meaning.Name, meaning.Text)
	}
	if !strings.Contains(string(page), "| --- | --- | --- |\n"+table.String()+"\n") {
		t.Errorf("docs/cli.md lacks the table\n%s", table.String())
	}
}
