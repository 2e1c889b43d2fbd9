#!/bin/sh
# Tests and measures the CUDA library on a machine with a card, and writes what came out as JSON.
#
#   tools/device.sh [test] [bench] [full]      without arguments: test and bench
#
# test   the library's device tests, the Go tests of pkg/gpu (golden proofs byte for byte), proofmill doctor
# bench  sums, arithmetic and transforms, some seconds each
# full   partitions of full-size circuits; needs 80 GB of device memory and some minutes
#
# It needs nvcc (or .cache/nvcc, see nvcc.sh), make and a C++ compiler. Go is used where it is there; elsewhere carry
# bin/proofmill, build/gpu.test and build/device.commit, which `make device-carry` builds. Ends with 1 if a step failed.
#
# OUT   folder of the results (default docs/performance)
# JOBS  compilers at once (default: all processors)
set -u
root=$(CDPATH='' cd -- "$(dirname -- "$0")/.." && pwd)
cd "$root" || exit 1
OUT=${OUT:-docs/performance}
JOBS=${JOBS:-$(nproc)}
[ $# -gt 0 ] || set -- test bench
mkdir -p "$OUT" build/device || exit 1
work=build/device
status=0

fail() {
	echo "device: $*" >&2
	exit 1
}

command -v nvidia-smi >/dev/null 2>&1 || fail "no nvidia-smi: this machine has no NVIDIA driver"

# smi FIELD: what nvidia-smi says of the first card.
smi() { nvidia-smi -i 0 --query-gpu="$1" --format=csv,noheader,nounits 2>/dev/null | sed 's/^ *//;s/ *$//'; }

# quote: standard input as a JSON string.
quote() {
	tr -d '\000-\010\013-\037' | sed 's/\\/\\\\/g; s/"/\\"/g; s/	/\\t/g' | awk 'BEGIN {printf "\""} {printf "%s%s", (NR > 1 ? "\\n" : ""), $0} END {printf "\""}'
}
text() { printf '%s' "$1" | quote; }

arch=$(smi compute_cap | tr -d .)
[ -n "$arch" ] || fail "nvidia-smi names no card"
nvcc=$(tools/nvcc.sh) || exit 1
if command -v git >/dev/null 2>&1 && git rev-parse HEAD >/dev/null 2>&1; then
	commit=$(git rev-parse --short HEAD)
	git diff --quiet HEAD -- cuda pkg cmd || commit=$commit-dirty
else
	commit=$(cat build/device.commit 2>/dev/null || echo unknown)
fi

facts() {
	printf '  "date": "%s",\n  "commit": %s,\n' "$(date -u +%Y-%m-%dT%H:%M:%SZ)" "$(text "$commit")"
	printf '  "command": %s,\n' "$(text "tools/device.sh $1")"
	printf '  "card": {"name": %s, "compute": "%s", "memory_mib": %s, "power_limit_w": %s, "sm_max_mhz": %s, "memory_mhz": %s, "driver": "%s"},\n' \
		"$(text "$(smi name)")" "$(smi compute_cap)" "$(smi memory.total)" "$(smi power.limit)" "$(smi clocks.max.sm)" "$(smi clocks.mem)" "$(smi driver_version)"
	printf '  "host": {"processors": %s, "kernel": %s, "nvcc": %s},\n' "$(nproc)" "$(text "$(uname -sr)")" "$(text "$("$nvcc" --version | sed -n 's/.*\(V[0-9.]*\)$/\1/p')")"
}

# step NAME COMMAND...: runs it, its output to NAME.log and the terminal; adds a line to steps.
step() {
	name=$1 begin=$(date +%s)
	shift
	printf '== %s: %s\n' "$name" "$*"
	"$@" >"$work/$name.log" 2>&1
	code=$?
	took=$(($(date +%s) - begin))
	tail -n "${SHOW:-4}" "$work/$name.log"
	[ $code = 0 ] || { status=1; tail -n 40 "$work/$name.log"; }
	printf '== %s: exit code %d after %d s\n' "$name" $code $took
	[ ! -s "$work/steps" ] || printf ',\n' >>"$work/steps"
	printf '    {"name": "%s", "command": %s, "exit_code": %d, "seconds": %d%s}' "$name" "$(text "$*")" $code $took "$(counts "$work/$name.log")" >>"$work/steps"
	return $code
}

# counts: passed, failed and skipped tests of a verbose Go test.
counts() {
	grep -q '^=== RUN' "$1" || return 0
	printf ', "passed": %d, "failed": %d, "skipped": %d' "$(grep -c -e '--- PASS' "$1")" "$(grep -c -e '--- FAIL' "$1")" "$(grep -c -e '--- SKIP' "$1")"
}

# watch / unwatch: clocks and watts while something runs.
watch() {
	nvidia-smi -i 0 --query-gpu=clocks.sm,power.draw --format=csv,noheader,nounits -lms 200 >"$work/watch.csv" 2>/dev/null &
	watcher=$!
}
unwatch() {
	kill "$watcher" 2>/dev/null
	wait "$watcher" 2>/dev/null
	awk -F', *' '$1 > 0 {n++; if (!lo || $1 < lo) lo = $1; if ($1 > hi) hi = $1; if ($2 > w) w = $2} END {printf "{\"samples\": %d, \"sm_mhz_least\": %d, \"sm_mhz_most\": %d, \"watts_most\": %d}", n, lo, hi, w}' "$work/watch.csv"
}

# benchmarks: lines of Go benchmarks as JSON objects.
benchmarks() {
	awk '/^Benchmark/ && NF >= 4 {
		printf "%s    {\"name\": \"%s\", \"runs\": %s", (n++ ? ",\n" : ""), substr($1, 10), $2
		for (i = 3; i < NF; i += 2) printf ", \"%s\": %s", $(i + 1), $i
		printf "}"
	}' "$@"
}

export PROOFMILL_CUDA_LIBRARY="$root/build/cuda/libproofmill_cuda.so" PROOFMILL_TESTDATA="$root/testdata"

go_binaries() {
	if command -v go >/dev/null 2>&1; then
		step go-build make device-carry || return 1
	fi
	[ -x bin/proofmill ] && [ -x build/gpu.test ] && return 0
	echo "device: without Go, carry bin/proofmill and build/gpu.test from make device-carry" >&2
	return 1
}

run_test() {
	: >"$work/steps"
	begun=$(facts test)
	if step build make -C cuda -j"$JOBS" ARCHS="$arch" NVCC="$nvcc" library device-build && go_binaries; then
		step device_field build/cuda/device_field
		step device_msm build/cuda/device_msm
		step device_abi build/cuda/device_abi "$PROOFMILL_CUDA_LIBRARY"
		# Tests of pkg/gpu run in their own folder, as go test does it.
		step gpu.test sh -c 'cd pkg/gpu && exec ../../build/gpu.test -test.v -test.timeout 10m'
		SHOW=40 step doctor bin/proofmill doctor --backend cuda --library "$PROOFMILL_CUDA_LIBRARY"
		bin/proofmill doctor --backend cuda --library "$PROOFMILL_CUDA_LIBRARY" --json >"$work/doctor.json" 2>/dev/null
	else
		status=1
	fi
	{
		printf '{\n%s\n  "steps": [\n%s\n  ],\n  "doctor": ' "$begun" "$(cat "$work/steps")"
		if [ -s "$work/doctor.json" ]; then cat "$work/doctor.json"; else echo null; fi
		printf '}\n'
	} >"$OUT/device-test.json"
}

# Sums: G or 2, the logarithm of the size, bits of a window, copies of the bases.
sums="rates g1,22,20,4 g1,24,22,4 g1,26,24,4 g1,27,24,1 g1,27,24,4 g2,25,22,1 bits"

run_bench() {
	: >"$work/steps"
	begun=$(facts bench)
	lines=$work/device_bench.log
	if step build make -C cuda -j"$JOBS" ARCHS="$arch" NVCC="$nvcc" library device-build && go_binaries; then
		# shellcheck disable=SC2086 # the list is split on purpose
		SHOW=20 step device_bench build/cuda/device_bench $sums
		watch
		SHOW=10 step transforms sh -c 'cd pkg/gpu && exec ../../build/gpu.test -test.run "^$" -test.bench "^BenchmarkTransform$/^(from|to)$/^27$" -test.benchtime 2s'
		SHOW=10 step quotient sh -c 'cd pkg/gpu && exec ../../build/gpu.test -test.run "^$" -test.bench "^BenchmarkQuotient$/^27$" -test.benchtime 2s'
		clocks=$(unwatch)
	else
		status=1
		clocks=null
	fi
	{
		printf '{\n%s\n  "steps": [\n%s\n  ],\n  "sums": [\n' "$begun" "$(cat "$work/steps")"
		grep '^{"name"' "$lines" 2>/dev/null | sed 's/^/    /;$!s/$/,/'
		printf '  ],\n  "transforms_clocks": %s,\n  "transforms": [\n' "$clocks"
		benchmarks "$work/transforms.log" "$work/quotient.log" 2>/dev/null
		printf '\n  ]\n}\n'
	} >"$OUT/device-bench.json"
}

run_full() {
	: >"$work/steps"
	begun=$(facts full)
	if step build make -C cuda -j"$JOBS" ARCHS="$arch" NVCC="$nvcc" library && go_binaries; then
		watch
		SHOW=60 step partitions sh -c 'cd pkg/gpu && exec env PROOFMILL_FULL=1 ../../build/gpu.test -test.v -test.run "^$" -test.bench "^BenchmarkPartition$/'"${KINDS:-.}"'" -test.benchtime 1x'
		clocks=$(unwatch)
	else
		status=1
		clocks=null
	fi
	{
		printf '{\n%s\n  "steps": [\n%s\n  ],\n  "clocks": %s,\n  "partitions": [\n' "$begun" "$(cat "$work/steps")" "$clocks"
		benchmarks "$work/partitions.log" 2>/dev/null
		printf '\n  ],\n  "log": %s\n}\n' "$(quote <"$work/partitions.log")"
	} >"$OUT/device-full.json"
}

for part in "$@"; do
	case $part in
	test) run_test ;;
	bench) run_bench ;;
	full) run_full ;;
	*) fail "unknown part $part: test, bench and full are" ;;
	esac
done
exit $status
