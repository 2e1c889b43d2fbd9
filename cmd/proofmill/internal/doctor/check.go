package doctor

import "fmt"

// Status is the outcome of a check.
type Status string

// Statuses. Only Failed makes the whole fail.
const (
	OK      Status = "ok"
	Warning Status = "warning"
	Failed  Status = "failed"
	Skipped Status = "skipped"
)

// Check is one thing that was looked at. Details are for programs: their names are stable.
type Check struct {
	Name    string         `json:"name"`
	Status  Status         `json:"status"`
	Text    string         `json:"text"`
	Do      string         `json:"do,omitempty"`
	Details map[string]any `json:"details,omitempty"`
}

// Report is the outcome of all checks.
type Report struct {
	Status Status  `json:"status"` // failed if one check failed, else warning if one warns, else ok
	Checks []Check `json:"checks"`
}

// Summarize makes the report of checks.
func Summarize(checks []Check) *Report {
	r := &Report{Status: OK, Checks: checks}
	for _, c := range checks {
		if c.Status == Failed || c.Status == Warning && r.Status == OK {
			r.Status = c.Status
		}
	}
	return r
}

// Failures counts the checks that failed.
func (r *Report) Failures() int {
	n := 0
	for _, c := range r.Checks {
		if c.Status == Failed {
			n++
		}
	}
	return n
}

// gib writes a number of bytes for people.
func gib[T int64 | uint64](bytes T) string {
	if bytes < 1<<30 {
		return fmt.Sprintf("%.0f MiB", float64(bytes)/(1<<20))
	}
	return fmt.Sprintf("%.1f GiB", float64(bytes)/(1<<30))
}
