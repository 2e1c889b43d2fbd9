/* Proofmill's CUDA library: the C ABI.
 *
 * Conventions
 *  - Every call returns a pm_code and, where it is not PM_OK, fills the caller's pm_error (which may be
 *    null). Nothing is thrown, no callback is taken, no global state is kept between calls.
 *  - The caller owns all memory: results and texts go to memory it names; device memory for keys and
 *    scratch comes from pm_device_alloc, in sizes that the library is asked for first. Handles are made
 *    and freed in pairs.
 *  - Work goes to the stream given and is asynchronous unless a call says that it blocks. A stream is
 *    used by one thread at a time; different streams may be used at once. Any thread may call.
 *  - Field elements are little-endian 32-bit limbs in the Montgomery domain (Fr: R = 2^256, 32 bytes; Fp:
 *    R = 2^384, 48 bytes; Fp2: c0, c1), reduced, as gnark-crypto keeps them. Points are affine (x, y),
 *    (0, 0) for infinity: 96 bytes in G1, 192 in G2. They must lie in the prime-order subgroup; this is not checked.
 *  - Structs that may grow start with struct_size, set by the caller to sizeof of what it knows.
 *  - Nothing is constant-time.
 */
#ifndef PROOFMILL_CUDA_H
#define PROOFMILL_CUDA_H

#include <stdint.h>

#if defined(_WIN32)
#define PM_API __declspec(dllexport)
#else
#define PM_API __attribute__((visibility("default")))
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* Changes whenever a call or struct changes so that an older caller would go wrong. */
#define PM_ABI_VERSION 1

typedef enum pm_code {
    PM_OK = 0,
    PM_ERROR_ARGUMENT = 1, /* the caller's mistake: nothing was started */
    PM_ERROR_MEMORY = 2,   /* device memory or scratch too small: the context stays usable */
    PM_ERROR_DEVICE = 3,   /* a CUDA call or a kernel failed: give up the context, or the process */
    PM_ERROR_INTERNAL = 4  /* a defect of the library */
} pm_code;

typedef struct pm_error {
    int32_t code; /* pm_code */
    int32_t cuda; /* cudaError_t, 0 where CUDA had no part */
    char text[504]; /* "stage: expression at file:line: CUDA's name: CUDA's text" */
} pm_error;

typedef enum pm_group { PM_G1 = 1, PM_G2 = 2 } pm_group;

typedef struct pm_context pm_context;
typedef struct pm_stream pm_stream;
typedef struct pm_msm pm_msm;
typedef struct pm_sum pm_sum;
typedef struct pm_domain pm_domain;

PM_API int32_t pm_abi_version(void);

/* ---- devices ---- */

typedef struct pm_device {
    uint32_t struct_size;
    int32_t compute_major, compute_minor;
    int32_t multiprocessors;
    uint64_t memory_bytes;
    int32_t driver_version, runtime_version; /* 1000 * major + 10 * minor */
    int32_t ecc;                             /* 1 if on */
    uint8_t uuid[16];
    char name[96];
} pm_device;

/* How many devices CUDA_VISIBLE_DEVICES leaves. PM_ERROR_DEVICE where there is no usable driver. */
PM_API int32_t pm_device_count(int32_t *count, pm_error *error);
PM_API int32_t pm_device_get(int32_t device, pm_device *out, pm_error *error);

PM_API int32_t pm_context_create(int32_t device, pm_context **out, pm_error *error);
PM_API void pm_context_free(pm_context *context);
/* Runs a short kernel on the device and checks its result: a context that a fault has poisoned fails. Blocks. */
PM_API int32_t pm_context_check(pm_context *context, pm_error *error);

/* ---- memory ---- */

PM_API int32_t pm_memory_get(pm_context *context, uint64_t *free_bytes, uint64_t *total_bytes, pm_error *error);
PM_API int32_t pm_device_alloc(pm_context *context, uint64_t bytes, void **out, pm_error *error);
PM_API int32_t pm_device_release(pm_context *context, void *memory, pm_error *error);
/* Pinned host memory: copies from it run at the bus's speed and beside kernels. */
PM_API int32_t pm_host_alloc(pm_context *context, uint64_t bytes, void **out, pm_error *error);
PM_API int32_t pm_host_release(pm_context *context, void *memory, pm_error *error);

/* ---- streams ---- */

PM_API int32_t pm_stream_create(pm_context *context, pm_stream **out, pm_error *error);
PM_API void pm_stream_free(pm_stream *stream);
/* Blocks until all work given to the stream is done. */
PM_API int32_t pm_stream_wait(pm_stream *stream, pm_error *error);
/* Asynchronous if host is pinned, otherwise it may block. */
PM_API int32_t pm_copy_to_device(pm_stream *stream, void *device, const void *host, uint64_t bytes, pm_error *error);
PM_API int32_t pm_copy_to_host(pm_stream *stream, void *host, const void *device, uint64_t bytes, pm_error *error);

/* Device time of a stage; stages of one call may repeat, and may lie inside each other. */
typedef struct pm_stage {
    char name[28];
    float milliseconds;
} pm_stage;

/* Copies the stages recorded on the stream since the last call, at most capacity, and forgets them all.
 * count gets how many there were. Blocks until the stream is idle. */
PM_API int32_t pm_stream_stages(pm_stream *stream, pm_stage *out, int32_t capacity, int32_t *count, pm_error *error);

/* ---- sums ---- */

typedef struct pm_msm_config {
    uint32_t struct_size;
    int32_t group;        /* pm_group */
    const void *bases;    /* device: copies tables of base_count points, see pm_bases_multiply */
    uint32_t base_count;
    int32_t copies;       /* 1 or more; base_count * copies <= 2^30 */
    int32_t window_bits;  /* 2 to 26; 0 (only with one copy) lets the sizes decide */
    uint32_t max_scalars; /* of one run */
    uint64_t budget_bytes; /* scratch may not exceed this; smaller budgets cost more passes */
} pm_msm_config;

/* Doublings between two copies of the bases, for these window bits and this number of copies. */
PM_API int32_t pm_msm_copy_shift(int32_t window_bits, int32_t copies);

/* Plans sums over fixed bases. scratch_bytes gets what pm_msm_run needs. */
PM_API int32_t pm_msm_create(pm_context *context, const pm_msm_config *config, pm_msm **out, uint64_t *scratch_bytes, pm_error *error);
PM_API void pm_msm_free(pm_msm *msm);

/* The sum of scalar i times base indices[i], or times base i where indices is null. scalars (32 bytes
 * each; montgomery 1, plain integers below r 0), indices and scratch are device memory; scratch is
 * divisible by 256. Blocks, and writes one affine point to the host. */
PM_API int32_t pm_msm_run(pm_msm *msm, pm_stream *stream, const void *scalars, const uint32_t *indices, uint32_t count,
                          int32_t montgomery, void *scratch, void *result, pm_error *error);

/* out[i] = 2^shift * in[i]; both device memory. Asynchronous. */
PM_API int32_t pm_bases_multiply(pm_stream *stream, int32_t group, const void *in, void *out, uint32_t count, int32_t shift, pm_error *error);

/* Plans sums of points picked by bits. */
PM_API int32_t pm_sum_create(pm_context *context, int32_t group, uint32_t max_count, pm_sum **out, uint64_t *scratch_bytes, pm_error *error);
PM_API void pm_sum_free(pm_sum *sum);

/* The sum of the points whose bit is one; bits are packed, the lowest of each 32-bit word first. points,
 * bits and scratch are device memory. Blocks, and writes one affine point to the host. */
PM_API int32_t pm_sum_run(pm_sum *sum, pm_stream *stream, const void *points, const uint32_t *bits, uint32_t count,
                          void *scratch, void *result, pm_error *error);

/* ---- values of the assignment ---- */

/* One Poseidon instance: device memory with elements in this order: the domain tag behind the first S-box
 * and its round constant; the compressed round constants (width * full_rounds + partial_rounds); the MDS matrix
 * and the pre-sparse matrix by rows; for each partial round the first column (width elements) and the rest of the
 * first row (width - 1). width is 3, 5, 9 or 12. */
typedef struct pm_poseidon {
    const void *constants;
    int32_t width, full_rounds, partial_rounds;
    int32_t reserved;
} pm_poseidon;

/* A run of an instance's variables that one operation makes. */
typedef struct pm_run {
    uint32_t operation; /* 0 bits, 1 elements, 2 hash, 3 Merkle step, 4 Merkle step with index and siblings given */
    uint32_t hash;      /* which pm_poseidon; operations 2 to 4 */
    uint32_t variable;  /* the first one, within the block's instance */
    uint32_t bit;       /* the first bit read, in the instance's words */
    uint32_t element;   /* the first element read, in the instance's elements */
    uint32_t count;     /* of variables; operations 0 and 1 */
} pm_run;

/* The runs of one block, and where its instances lie in the streams of a witness. */
typedef struct pm_runs {
    uint32_t struct_size;
    uint32_t repeat;
    uint32_t aux_start, aux_stride;
    uint64_t word_start, words;       /* of 64 bits: of instance 0, of each instance */
    uint64_t element_start, elements; /* likewise */
    uint32_t plain_count, hash_count;
    const pm_run *plain;  /* device: operations 0 and 1; best at most some thousand variables each */
    const pm_run *hashes; /* device: the others, best sorted by hash */
} pm_runs;

/* Computes a block's auxiliary variables from a witness's words and elements (device memory, as the blob
 * has them). hashes is host memory, read before the call returns. Asynchronous. */
PM_API int32_t pm_expand(pm_stream *stream, const pm_runs *runs, const pm_poseidon *hashes, int32_t hash_count,
                         const uint64_t *words, const void *elements, void *aux, pm_error *error);

/* One matrix of a block; all pointers are device memory. Row r of an instance has the terms end[r-1] to
 * end[r]. A variable has its space in bit 31 (1: auxiliary), its class in bits 30 and 29 (0 shared, 1 moving, 2 own)
 * and an index below: absolute, of a column, within the instance. A column is three words: start, stride
 * and the place of its table in tables, or 2^32 - 1 where position start + instance * stride is meant. */
typedef struct pm_matrix {
    uint32_t struct_size;
    uint32_t rows, repeat, row_start;
    uint32_t aux_start, aux_stride, input_start, input_stride;
    uint32_t long_count;
    uint32_t reserved;
    const uint32_t *end, *variables;
    const uint16_t *coefficients; /* numbers; 0 is one, 1 is minus one */
    const uint32_t *columns, *tables;
    const uint32_t *long_rows; /* the rows with more than pm_long_row() terms */
} pm_matrix;

PM_API int32_t pm_long_row(void);

/* out[row_start + i * rows + r] = row r times the assignment in instance i. Asynchronous. */
PM_API int32_t pm_evaluate(pm_stream *stream, const pm_matrix *matrix, const void *coefficients, const void *inputs,
                           const void *aux, void *out, pm_error *error);

/* Sorts the values of count points: ones gets a bit for each (whole 32-bit words), those neither zero nor
 * one go to indices and scalars in no fixed order, and their number to found, also where it exceeds
 * capacity. variables[p] is the variable of point p, bit 31 set for an auxiliary one; null means auxiliary
 * variable p. All is device memory. Asynchronous. */
PM_API int32_t pm_select(pm_stream *stream, const uint32_t *variables, uint32_t count, const void *inputs, const void *aux,
                         uint32_t *ones, uint32_t *indices, void *scalars, uint32_t *found, uint32_t capacity, pm_error *error);

/* Sets device memory to zero. Asynchronous. */
PM_API int32_t pm_clear(pm_stream *stream, void *device, uint64_t bytes, pm_error *error);

/* ---- transforms ---- */

/* A domain of 2^log_n points (log_n up to 28). table_bytes gets the device memory of its tables. */
PM_API int32_t pm_domain_create(pm_context *context, int32_t log_n, pm_domain **out, uint64_t *table_bytes, pm_error *error);
PM_API void pm_domain_free(pm_domain *domain);
/* Computes the tables, which all later calls with the domain are given. Asynchronous. */
PM_API int32_t pm_domain_fill(pm_domain *domain, pm_stream *stream, void *tables, pm_error *error);

/* In place, without scaling: position rev(k) gets the sum of x[j] w^(j k) (reversed 1), or position k the sum of
 * x[rev(j)] w^(j k) (reversed 0), where w is the domain's root and rev reverses log_n bits. Asynchronous. */
PM_API int32_t pm_transform(pm_domain *domain, pm_stream *stream, const void *tables, int32_t reversed, void *x, pm_error *error);

/* a and b are values on the domain; a gets the coefficients of (A B - C) / Z in bit-reversed order (coefficient
 * k at position rev(k); the last is zero), where C has the values of A B on the domain. c is 2^log_n elements;
 * b and c are overwritten. Asynchronous. */
PM_API int32_t pm_quotient(pm_domain *domain, pm_stream *stream, const void *tables, void *a, void *b, void *c, pm_error *error);

/* out[rev(first + i)] = in[i] for count points of G1, rev reversing log_n bits: the order of the quotient's
 * coefficients. Asynchronous. */
PM_API int32_t pm_points_reverse(pm_stream *stream, const void *in, void *out, int32_t log_n, uint32_t first, uint32_t count, pm_error *error);

#ifdef __cplusplus
}
#endif

#endif
