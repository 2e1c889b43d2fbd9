#!/bin/sh
# Prints the path of an nvcc. Uses $NVCC or the one on the PATH; otherwise installs the
# pinned compiler wheels of NVIDIA under .cache/nvcc (no card and no driver needed).
set -eu

CUDA_NVCC=13.0.88
CUDA_CRT=13.0.88
CUDA_NVVM=13.0.88
CUDA_RUNTIME=13.0.96
CUDA_CCCL=13.0.85
CUDA_NVTX=13.0.85

root=$(CDPATH='' cd -- "$(dirname -- "$0")/.." && pwd)
home=$root/.cache/nvcc/$CUDA_NVCC
nvcc=$home/nvidia/cu13/bin/nvcc

if [ -n "${NVCC:-}" ]; then
	echo "$NVCC"
	exit 0
fi
if [ "${NVCC_PINNED:-0}" != 1 ] && command -v nvcc >/dev/null 2>&1; then
	command -v nvcc
	exit 0
fi
if [ ! -e "$home/.complete" ]; then
	rm -rf "$home"
	mkdir -p "$home"
	python3 -m pip install --quiet --disable-pip-version-check --no-deps --only-binary=:all: --target "$home" \
		"nvidia-cuda-nvcc==$CUDA_NVCC" \
		"nvidia-cuda-crt==$CUDA_CRT" \
		"nvidia-nvvm==$CUDA_NVVM" \
		"nvidia-cuda-runtime==$CUDA_RUNTIME" \
		"nvidia-cuda-cccl==$CUDA_CCCL" \
		"nvidia-nvtx==$CUDA_NVTX" >&2 || {
		echo "nvcc: cannot install the pinned wheels; install CUDA and set NVCC" >&2
		exit 1
	}
	# Outside the wheels nvcc looks for its libraries in lib64.
	ln -sfn lib "$home/nvidia/cu13/lib64"
	touch "$home/.complete"
fi
[ -x "$nvcc" ] || { echo "nvcc: $nvcc is missing; remove $home and run again" >&2; exit 1; }
echo "$nvcc"
