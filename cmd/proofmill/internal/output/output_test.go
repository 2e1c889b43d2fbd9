package output

import (
	"bytes"
	"fmt"
	"os"
	"testing"
)

func TestPrintWritesTextOrJSON(t *testing.T) {
	var out bytes.Buffer
	asJSON := false
	printer := New(&out, &asJSON)
	value := map[string]int{"rows": 2}
	text := func(t *Text) {
		t.Table(Columns("name", ">bytes"), [][]string{{"a", "5"}, {"größer", "12345"}})
		t.Linef("%d rows", 2)
		t.Fields(Field{"id", "x"}, Field{"longer", "y"}, Field{"empty", ""})
	}
	if err := printer.Print(value, text); err != nil {
		t.Fatal(err)
	}
	want := "NAME    BYTES\na           5\ngrößer  12345\n2 rows\nid      x\nlonger  y\nempty\n"
	if out.String() != want {
		t.Errorf("text is\n%swant\n%s", out.String(), want)
	}
	out.Reset()
	asJSON = true
	if err := printer.Print(value, text); err != nil || out.String() != "{\n  \"rows\": 2\n}\n" {
		t.Errorf("JSON is %q, %v", out.String(), err)
	}
}

func TestBrokenPipeIsKnown(t *testing.T) {
	reader, writer, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = writer.Close() }()
	if err := reader.Close(); err != nil {
		t.Fatal(err)
	}
	asJSON := false
	err = New(writer, &asJSON).Print(nil, func(t *Text) { t.Linef("x") })
	if !IsBrokenPipe(fmt.Errorf("wrapped: %w", err)) {
		t.Errorf("error %v is not known as a broken pipe", err)
	}
}
