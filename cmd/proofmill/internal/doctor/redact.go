package doctor

import (
	"net/url"
	"strings"
	"time"
)

// redacted is a list of servers without passwords and tokens.
func redacted(servers string) string {
	list := strings.Split(servers, ",")
	for i, s := range list {
		s = strings.TrimSpace(s)
		if u, err := url.Parse(s); err == nil && u.User != nil {
			u.User = url.User("xxxxx")
			s = u.String()
		}
		list[i] = s
	}
	return strings.Join(list, ",")
}

// untilDeadline is the time left, at least a moment.
func untilDeadline(deadline time.Time) time.Duration {
	return max(time.Until(deadline), time.Millisecond)
}
