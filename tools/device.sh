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

# step NAME COMMAND...: runs it, its output to NAME.log and the terminal; adds a line to steps, and writes the report anew, so
# that what is done counts where time runs out.
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
	"report_$part"
	return $code
}

# counts: passed, failed and skipped tests of a verbose Go test.
counts() {
	grep -q '^=== RUN' "$1" || return 0
	printf ', "passed": %d, "failed": %d, "skipped": %d' "$(grep -c -e '--- PASS' "$1")" "$(grep -c -e '--- FAIL' "$1")" "$(grep -c -e '--- SKIP' "$1")"
}

# watched NAME COMMAND...: a step with clocks and watts in NAME.watch.
watched() {
	nvidia-smi -i 0 --query-gpu=clocks.sm,power.draw --format=csv,noheader,nounits -lms 200 >"$work/$1.watch" 2>/dev/null &
	watcher=$!
	SHOW=20 step "$@"
	kill "$watcher" 2>/dev/null
	wait "$watcher" 2>/dev/null
}

# clocks FILE: what watched saw.
clocks() {
	[ -s "$1" ] || { echo null; return; }
	awk -F', *' '$1 > 0 {n++; if (!lo || $1 < lo) lo = $1; if ($1 > hi) hi = $1; if ($2 > w) w = $2}
		END {printf "{\"samples\": %d, \"sm_mhz_least\": %d, \"sm_mhz_most\": %d, \"watts_most\": %d}", n, lo, hi, w}' "$1"
}

# benchmarks: lines of Go benchmarks as JSON objects.
benchmarks() {
	awk '/^Benchmark/ && NF >= 4 {
		printf "%s    {\"name\": \"%s\", \"runs\": %s", (n++ ? ",\n" : ""), substr($1, 10), $2
		for (i = 3; i < NF; i += 2) printf ", \"%s\": %s", $(i + 1), $i
		printf "}"
	}'
}

library=build/cuda/libproofmill_cuda.so

# gpu ARGUMENT...: the Go tests of pkg/gpu, in their own folder as go test does it.
gpu() {
	(cd pkg/gpu && PROOFMILL_CUDA_LIBRARY="$root/$library" PROOFMILL_TESTDATA="$root/testdata" exec ../../build/gpu.test "$@")
}

go_binaries() {
	if command -v go >/dev/null 2>&1; then
		step go-build make device-carry || return 1
	fi
	[ -x bin/proofmill ] && [ -x build/gpu.test ] && return 0
	echo "device: without Go, carry bin/proofmill and build/gpu.test from make device-carry" >&2
	return 1
}

run_test() {
	step build make -C cuda -j"$JOBS" ARCHS="$arch" NVCC="$nvcc" library device-build && go_binaries || return 1
	step device_field build/cuda/device_field
	step device_msm build/cuda/device_msm
	step device_abi build/cuda/device_abi "$library"
	bin/proofmill doctor --backend cuda --library "$library" --json >"$work/doctor.json" 2>/dev/null
	SHOW=40 step doctor bin/proofmill doctor --backend cuda --library "$library"
	step gpu.test gpu -test.v -test.timeout 10m
}

report_test() {
	{
		printf '{\n%s\n  "steps": [\n%s\n  ],\n  "doctor": ' "$begun" "$(cat "$work/steps")"
		if [ -s "$work/doctor.json" ]; then cat "$work/doctor.json"; else echo null; fi
		printf '}\n'
	} >"$OUT/device-test.json"
}

# The group, the logarithm of the size, bits of a window, copies of the bases.
sums="rates g1,22,20,4 g1,24,22,4 g1,26,24,4 g1,27,24,1 g1,27,24,4 g2,25,22,1 bits"

run_bench() {
	step build make -C cuda -j"$JOBS" ARCHS="$arch" NVCC="$nvcc" library device-build && go_binaries || return 1
	watched transforms gpu -test.run '^$' -test.bench '^BenchmarkTransform$/^(from|to)$/^27$' -test.benchtime 2s
	watched quotient gpu -test.run '^$' -test.bench '^BenchmarkQuotient$/^27$' -test.benchtime 2s
	# shellcheck disable=SC2086 # the list is split on purpose
	SHOW=20 step device_bench build/cuda/device_bench $sums
}

report_bench() {
	{
		printf '{\n%s\n  "steps": [\n%s\n  ],\n  "sums": [\n' "$begun" "$(cat "$work/steps")"
		grep -s '^{"name"' "$work/device_bench.log" | sed 's/^/    /;$!s/$/,/'
		printf '  ],\n  "transforms_clocks": %s,\n  "transforms": [\n' "$(clocks "$work/transforms.watch")"
		cat "$work/transforms.log" "$work/quotient.log" 2>/dev/null | benchmarks
		printf '\n  ]\n}\n'
	} >"$OUT/device-bench.json"
}

run_full() {
	step build make -C cuda -j"$JOBS" ARCHS="$arch" NVCC="$nvcc" library && go_binaries || return 1
	export PROOFMILL_FULL=1
	watched partitions gpu -test.v -test.run '^$' -test.bench "^BenchmarkPartition\$/${KINDS:-.}" -test.benchtime 1x
}

report_full() {
	{
		printf '{\n%s\n  "steps": [\n%s\n  ],\n  "clocks": %s,\n  "partitions": [\n' "$begun" "$(cat "$work/steps")" "$(clocks "$work/partitions.watch")"
		benchmarks <"$work/partitions.log"
		printf '\n  ],\n  "log": %s\n}\n' "$(quote <"$work/partitions.log")"
	} >"$OUT/device-full.json"
}

for part in "$@"; do
	case $part in
	test | bench | full) ;;
	*) fail "unknown part $part: test, bench and full are" ;;
	esac
	rm -rf "$work"
	mkdir -p "$work"
	: >"$work/steps"
	: >"$work/partitions.log"
	begun=$(facts "$part")
	"run_$part" || status=1
done
exit $status
