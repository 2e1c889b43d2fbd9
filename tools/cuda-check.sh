#!/bin/sh
# Compiles the CUDA library with NVIDIA's pinned compiler for the oldest and the usual architecture, and tests its host code.
# Needs no card. Without Python, whose pip brings the compiler, only the host code is tested.
set -eu
cd "$(dirname -- "$0")/.."
JOBS=${JOBS:-$(nproc)}

command -v "${CXX:-c++}" >/dev/null 2>&1 || {
	echo "cuda-check: skipped, no C++ compiler"
	exit 0
}
make -C cuda -j"$JOBS" host-test
if ! python3 -m pip --version >/dev/null 2>&1; then
	echo "cuda-check: device code not compiled, python3 with pip is needed for the pinned nvcc"
	exit 0
fi
nvcc=$(NVCC='' NVCC_PINNED=1 tools/nvcc.sh) || exit 69 # the registry cannot be reached
make -C cuda -j"$JOBS" BUILD=../build/cuda-check ARCHS="${ARCHS:-80 90}" NVCC="$nvcc" compile
