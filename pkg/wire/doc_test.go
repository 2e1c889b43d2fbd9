package wire

import (
	"fmt"
	"os"
	"strings"
	"testing"
)

// TestProtocolDocument compares docs/protocol.md with the code: the table of errors, and the names of subjects and streams. With
// -update it writes the table.
func TestProtocolDocument(t *testing.T) {
	const path = "../../docs/protocol.md"
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	text := string(data)
	var b strings.Builder
	for _, e := range Table() {
		fmt.Fprintf(&b, "| %d | `%s` | %s | %s | %s |\n", e.Code, e.Name, e.Class, e.Text, e.Do)
	}
	const head = "| code | name | class | what happened | what to do |\n| --- | --- | --- | --- | --- |\n"
	before, rest, ok := strings.Cut(text, head)
	if !ok {
		t.Fatal("the document has no table of errors")
	}
	table, after, ok := strings.Cut(rest, "\n\n")
	if !ok {
		t.Fatal("the table of errors does not end")
	}
	if *update {
		if err := os.WriteFile(path, []byte(before+head+strings.TrimSuffix(b.String(), "\n")+"\n\n"+after), 0o644); err != nil {
			t.Fatal(err)
		}
	} else if table != strings.TrimSuffix(b.String(), "\n") {
		t.Error("the table of errors differs from the code: run go test ./pkg/wire -run TestProtocolDocument -update")
	}

	var n Names
	key := JobKey{Account: "<acct>", ID: "<id>"}
	task := Task{JobKey: key, Circuit: "<circuit>", Priority: Normal}
	subjects := []string{
		n.Request(Normal, key), n.End(key), n.Result(key), n.Progress(key), n.Ask("cancel", key), n.Ask("status", key), n.Stop(key), n.Wake(WorkRequests),
	}
	for _, w := range []Work{WorkSynth, WorkProve, WorkDone} {
		subjects = append(subjects, strings.TrimSuffix(n.Task(w, &task, "<lane>"), ".0")+".<part>")
	}
	for _, s := range subjects {
		if s = strings.Replace(s, ".normal.", ".<prio>.", 1); !strings.Contains(text, "`"+s+"`") {
			t.Errorf("subject %s is not in the document", s)
		}
	}
	for _, s := range []string{
		n.Stream(WorkRequests), n.Stream(WorkSynth), n.Stream(WorkProve), n.Stream(WorkDone), n.StreamResults(), n.StreamProgress(), n.StreamDead(),
		n.StreamAdvisories(), n.BucketJobs(), n.BucketRequests(), n.BucketFleet(), n.BucketInputs(), n.BucketBlobs(),
	} {
		if !strings.Contains(text, s+"`") {
			t.Errorf("name %s is not in the document", s)
		}
	}
	for _, h := range []string{HeaderDeadline, HeaderRun, HeaderReturns, HeaderReason, HeaderCode, HeaderSubject, HeaderDelivered, HeaderMsgID} {
		if !strings.Contains(text, "`"+h+"`") {
			t.Errorf("header %s is not in the document", h)
		}
	}
	for s := JobQueued; s.Valid(); s++ {
		if !strings.Contains(text, fmt.Sprintf("%d %s", s, s)) {
			t.Errorf("state %d %s is not in the document", s, s)
		}
	}
	for s := PartitionQueued; s.Valid(); s++ {
		if !strings.Contains(text, fmt.Sprintf("%d %s", s, s)) {
			t.Errorf("partition state %d %s is not in the document", s, s)
		}
	}
}
