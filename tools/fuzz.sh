#!/bin/sh
# Runs each native fuzz target of the module for FUZZTIME. The list is read from the sources.
set -u
GO=${GO:-go}
FUZZTIME=${FUZZTIME:-5s}

targets=$(grep -rEo --include='*_test.go' '^func Fuzz[A-Za-z0-9_]*' cmd pkg services test 2>/dev/null | sort -u)
[ -n "$targets" ] || { echo "fuzz: no fuzz target found" >&2; exit 1; }

failed=
count=0
for line in $(echo "$targets" | sed 's/:func /:/'); do
	dir=./$(dirname "${line%%:*}")
	name=${line##*:}
	count=$((count + 1))
	echo "fuzz: $dir $name for $FUZZTIME"
	"$GO" test -run '^$' -fuzz "^$name\$" -fuzztime "$FUZZTIME" "$dir" || failed="$failed $dir:$name"
done

[ -z "$failed" ] || { echo "fuzz: failed:$failed" >&2; exit 1; }
echo "fuzz: $count targets passed"
