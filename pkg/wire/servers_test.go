package wire

import "testing"

func TestRedactServers(t *testing.T) {
	for list, want := range map[string]string{
		"":                                   "",
		"nats://127.0.0.1:4222":              "nats://127.0.0.1:4222",
		"nats://u:secret@a:1, tls://token@b": "nats://***@a:1, tls://***@b",
		"u:sec@ret@a:1,b":                    "***@a:1,b",
		"nats://u:sec%zzret@a":               "nats://***@a",
	} {
		if got := RedactServers(list); got != want {
			t.Errorf("%q is shown as %q, want %q", list, got, want)
		}
	}
}
