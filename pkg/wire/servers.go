package wire

import "strings"

// RedactServers is a comma-separated list of servers for people to read: without what stands before each host, which may be a
// password or a token.
func RedactServers(list string) string {
	servers := strings.Split(list, ",")
	for i, server := range servers {
		start := 0
		if scheme := strings.Index(server, "://"); scheme >= 0 {
			start = scheme + len("://")
		}
		if at := strings.LastIndexByte(server[start:], '@'); at >= 0 {
			servers[i] = server[:start] + "***" + server[start+at:]
		}
	}
	return strings.Join(servers, ",")
}
