#!/bin/sh
# Looks for known vulnerabilities that the code can reach. Ends with 0 where there are none, 3 where there are, 69 where
# the database could not be read (GOVULNDB names another, also file:///DIR), 1 for all else.
set -u
VULN=${VULN:-.cache/bin/govulncheck}
DB=${GOVULNDB:-https://vuln.go.dev}

log=$(mktemp)
trap 'rm -f "$log"' EXIT
"$VULN" -db "$DB" "$@" >"$log" 2>&1
code=$?
cat "$log"
if [ $code -eq 1 ] && grep -qE 'vuln.*(dial tcp|no such host|timeout|connection refused|proxyconnect|HTTP)' "$log"; then
	echo "vuln: NOT CHECKED: the vulnerability database $DB cannot be reached" >&2
	exit 69
fi
exit $code
