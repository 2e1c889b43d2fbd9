// Package output writes a command's results to standard output: as text for people, or as JSON for programs.
package output

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"syscall"
	"unicode/utf8"
)

// Printer writes results. It is not safe for several goroutines.
type Printer struct {
	w    io.Writer
	json *bool
}

// New gives a printer to w that writes JSON where *asJSON is true at the time of writing.
func New(w io.Writer, asJSON *bool) *Printer { return &Printer{w: w, json: asJSON} }

// JSON reports whether results are written as JSON.
func (p *Printer) JSON() bool { return *p.json }

// Writer is where results go, for a command whose result is neither table nor JSON.
func (p *Printer) Writer() io.Writer { return p.w }

// Print writes value as indented JSON, or what text builds. All of it goes out in one write, so that a result is there
// whole or not at all.
func (p *Printer) Print(value any, text func(*Text)) error {
	if !*p.json {
		var out Text
		text(&out)
		return p.write(out.b.String())
	}
	data, err := json.MarshalIndent(value, "", "  ")
	if err != nil {
		return fmt.Errorf("output: %w", err)
	}
	return p.write(string(data) + "\n")
}

func (p *Printer) write(text string) error {
	if _, err := io.WriteString(p.w, text); err != nil {
		return fmt.Errorf("standard output: %w", err)
	}
	return nil
}

// IsBrokenPipe reports whether err says that the reader of the output went away.
func IsBrokenPipe(err error) bool { return errors.Is(err, syscall.EPIPE) }

// Text builds a result for people.
type Text struct{ b strings.Builder }

// Linef adds a line.
func (t *Text) Linef(format string, args ...any) { fmt.Fprintf(&t.b, format+"\n", args...) }

// Column is a column of a table.
type Column struct {
	Title string
	Right bool // for numbers
}

// Columns gives left-aligned columns; a title that begins with ">" is right-aligned.
func Columns(titles ...string) []Column {
	columns := make([]Column, len(titles))
	for i, title := range titles {
		name, right := strings.CutPrefix(title, ">")
		columns[i] = Column{Title: name, Right: right}
	}
	return columns
}

// Table adds a table; each row has a cell for each column.
func (t *Text) Table(columns []Column, rows [][]string) {
	widths := make([]int, len(columns))
	titles := make([]string, len(columns))
	for i, column := range columns {
		titles[i] = strings.ToUpper(column.Title)
		widths[i] = utf8.RuneCountInString(column.Title)
		for _, row := range rows {
			widths[i] = max(widths[i], utf8.RuneCountInString(row[i]))
		}
	}
	for _, row := range append([][]string{titles}, rows...) {
		var line strings.Builder
		for i, cell := range row {
			padding := strings.Repeat(" ", widths[i]-utf8.RuneCountInString(cell))
			if columns[i].Right {
				line.WriteString(padding + cell + "  ")
			} else {
				line.WriteString(cell + padding + "  ")
			}
		}
		t.b.WriteString(strings.TrimRight(line.String(), " ") + "\n")
	}
}

// Field is one fact with its name.
type Field struct{ Name, Value string }

// Fields adds one line for each fact, the values below each other.
func (t *Text) Fields(fields ...Field) {
	width := 0
	for _, field := range fields {
		width = max(width, utf8.RuneCountInString(field.Name))
	}
	for _, field := range fields {
		padding := strings.Repeat(" ", width-utf8.RuneCountInString(field.Name))
		t.b.WriteString(strings.TrimRight(field.Name+padding+"  "+field.Value, " ") + "\n")
	}
}
