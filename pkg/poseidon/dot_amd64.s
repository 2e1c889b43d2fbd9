//go:build !purego

#include "textflag.h"

// One pass sums limb OFF/8 of every a times the whole of its b in R8..R13: four limbs, one for the
// high product, one for the carries of up to 2^64 terms. Then the sum goes to t from that limb on;
// the carry beyond it is passed up to the ninth.
#define PASS(OFF, LOOP) \
	XORQ R8, R8 \
	XORQ R9, R9 \
	XORQ R10, R10 \
	XORQ R11, R11 \
	XORQ R12, R12 \
	XORQ R13, R13 \
	MOVQ a+8(FP), SI \
	MOVQ b+16(FP), DI \
	MOVQ n+24(FP), CX \
LOOP: \
	MOVQ  OFF(SI), DX \
	XORQ  R15, R15 \
	MULXQ 0(DI), AX, BX \
	ADCXQ AX, R8 \
	ADOXQ BX, R9 \
	MULXQ 8(DI), AX, BX \
	ADCXQ AX, R9 \
	ADOXQ BX, R10 \
	MULXQ 16(DI), AX, BX \
	ADCXQ AX, R10 \
	ADOXQ BX, R11 \
	MULXQ 24(DI), AX, BX \
	ADCXQ AX, R11 \
	ADOXQ BX, R12 \
	ADCXQ R15, R12 \
	ADOXQ R15, R13 \
	ADCXQ R15, R13 \
	ADDQ  $32, SI \
	ADDQ  $32, DI \
	DECQ  CX \
	JNZ   LOOP

// func addProductsADX(t *[9]uint64, a, b *fr.Element, n int)
TEXT ·addProductsADX(SB), NOSPLIT, $0-32
	PASS(0, first)
	MOVQ t+0(FP), DX
	ADDQ R8, 0(DX)
	ADCQ R9, 8(DX)
	ADCQ R10, 16(DX)
	ADCQ R11, 24(DX)
	ADCQ R12, 32(DX)
	ADCQ R13, 40(DX)
	ADCQ $0, 48(DX)
	ADCQ $0, 56(DX)
	ADCQ $0, 64(DX)

	PASS(8, second)
	MOVQ t+0(FP), DX
	ADDQ R8, 8(DX)
	ADCQ R9, 16(DX)
	ADCQ R10, 24(DX)
	ADCQ R11, 32(DX)
	ADCQ R12, 40(DX)
	ADCQ R13, 48(DX)
	ADCQ $0, 56(DX)
	ADCQ $0, 64(DX)

	PASS(16, third)
	MOVQ t+0(FP), DX
	ADDQ R8, 16(DX)
	ADCQ R9, 24(DX)
	ADCQ R10, 32(DX)
	ADCQ R11, 40(DX)
	ADCQ R12, 48(DX)
	ADCQ R13, 56(DX)
	ADCQ $0, 64(DX)

	PASS(24, fourth)
	MOVQ t+0(FP), DX
	ADDQ R8, 24(DX)
	ADCQ R9, 32(DX)
	ADCQ R10, 40(DX)
	ADCQ R11, 48(DX)
	ADCQ R12, 56(DX)
	ADCQ R13, 64(DX)
	RET
