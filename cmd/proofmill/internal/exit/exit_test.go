package exit

import (
	"errors"
	"fmt"
	"testing"
)

func TestCodeAndHintAreFoundThroughWrapping(t *testing.T) {
	inner := Wrap(Unavailable, errors.New("no servers"), "start nats-server")
	outer := fmt.Errorf("prove: %w", Wrap(TryAgain, inner, ""))
	if got := CodeOf(outer); got != TryAgain {
		t.Errorf("code %d, want the outermost, %d", got, TryAgain)
	}
	if got := HintOf(outer); got != "start nats-server" {
		t.Errorf("hint %q, want that of the inner error", got)
	}
	if CodeOf(nil) != OK || CodeOf(errors.New("x")) != Failed || HintOf(errors.New("x")) != "" || Wrap(Failed, nil, "") != nil {
		t.Error("nil and plain errors have other codes than 0 and 1")
	}
}

func TestTableIsSortedAndComplete(t *testing.T) {
	last := Code(-1)
	for _, meaning := range Table() {
		if meaning.Code <= last || meaning.Name == "" || meaning.Text == "" {
			t.Errorf("entry %+v after code %d", meaning, last)
		}
		last = meaning.Code
	}
}
