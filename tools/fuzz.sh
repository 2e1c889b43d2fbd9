#!/bin/sh
# Runs each native fuzz target of the module for FUZZTIME. The list is read from the sources.
set -u
GO=${GO:-go}
FUZZTIME=${FUZZTIME:-5s}

targets=$(grep -rEo --include='*_test.go' '^func Fuzz[A-Za-z0-9_]*' cmd pkg services test 2>/dev/null | sort -u)
[ -n "$targets" ] || { echo "fuzz: no fuzz target found" >&2; exit 1; }

log=$(mktemp)
trap 'rm -f "$log"' EXIT

# fuzz DIR NAME. When its time is over while a worker is still busy, the go command reports "context deadline exceeded" as a failure
# though no input failed (a failing input is always written and named): that is no finding.
fuzz() {
	"$GO" test -run '^$' -fuzz "^$2\$" -fuzztime "$FUZZTIME" "$1" >"$log" 2>&1
	code=$?
	cat "$log"
	[ $code -eq 0 ] && return 0
	grep -q 'context deadline exceeded' "$log" && ! grep -q 'Failing input written' "$log"
}

failed=
count=0
for line in $(echo "$targets" | sed 's/:func /:/'); do
	dir=./$(dirname "${line%%:*}")
	name=${line##*:}
	count=$((count + 1))
	echo "fuzz: $dir $name for $FUZZTIME"
	fuzz "$dir" "$name" || failed="$failed $dir:$name"
done

[ -z "$failed" ] || { echo "fuzz: failed:$failed" >&2; exit 1; }
echo "fuzz: $count targets passed"
