#!/bin/sh
# Runs the short tests under the race detector, for the packages that start goroutines or share state between them.
set -u
GO=${GO:-go}

dirs=$(grep -rlE --include='*.go' '^[[:space:]]*go [A-Za-z_(]|golang.org/x/sync/errgroup|"sync(/atomic)?"' cmd pkg services test 2>/dev/null |
	xargs -n1 dirname | sort -u)
packages=
for dir in $dirs; do
	case $dir in pkg/circuit | pkg/sample) continue ;; esac # below
	ls "$dir"/*_test.go >/dev/null 2>&1 && packages="$packages ./$dir"
done
[ -n "$packages" ] || { echo "race: no package with goroutines found" >&2; exit 1; }

# shellcheck disable=SC2086 # the list is split on purpose
CGO_ENABLED=1 "$GO" test -race -short -timeout 40m $packages || exit 1
# Their other tests evaluate millions of constraints and seal sectors, which takes many minutes under the detector and starts no
# other goroutines than these: workers that fill places of their own.
CGO_ENABLED=1 exec "$GO" test -race -short -timeout 40m -run 'Workers|Context|Cancelled' ./pkg/circuit ./pkg/sample
