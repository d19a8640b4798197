/* SPDX-License-Identifier: Apache-2.0
 * The C API: load a model, read its schema, predict, verify.
 *
 *   espalier_model* model;
 *   espalier_scratch* scratch;
 *   if (espalier_load("loans.esp", &model) != ESPALIER_OK) return espalier_last_error();
 *   espalier_scratch_new(model, &scratch);
 *   espalier_predict(model, scratch, ESPALIER_PREDICTION, row, num_inputs, &risk, 1);
 *   espalier_scratch_free(scratch);
 *   espalier_free(model);
 *
 * Status. Every function that can fail returns a status and changes its outputs only if the status
 * is ESPALIER_OK. Invalid arguments, such as NULL, return ESPALIER_ARGUMENT. The library cannot
 * detect a handle that was freed, or an array that is shorter than its stated length. No function
 * prints, exits or throws a C++ exception.
 *
 * Ownership. The caller frees each handle once with the matching function; freeing NULL is allowed.
 * The caller never frees strings. They belong to the model, or to the thread for
 * espalier_last_error. Strings are UTF-8 and end with a zero.
 *
 * Threads. A model is immutable, and any number of threads may use it at the same time. Only one
 * thread at a time may use a scratch.
 */
#ifndef ESPALIER_C_H_
#define ESPALIER_C_H_

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct espalier_model espalier_model;
typedef struct espalier_scratch espalier_scratch;

typedef enum espalier_status {
  ESPALIER_OK = 0,
  ESPALIER_ARGUMENT = 1,    /* NULL, a wrong size, a number out of range */
  ESPALIER_FILE = 2,        /* a file cannot be read */
  ESPALIER_FORMAT = 3,      /* a model is damaged, of a newer version, or not monotonic */
  ESPALIER_UNSUPPORTED = 4, /* not supported by this version */
  ESPALIER_MEMORY = 5,      /* not enough memory */
  ESPALIER_INTERNAL = 6     /* a bug of the library */
} espalier_status;

typedef enum espalier_kind {
  ESPALIER_NUMBER = 0,
  ESPALIER_ORDERED = 1, /* categories from low to high */
  ESPALIER_CATEGORY = 2
} espalier_kind;

typedef enum espalier_output {
  ESPALIER_PREDICTION = 0, /* a probability, or the label */
  ESPALIER_SCORE = 1       /* before the link: a logit in classification */
} espalier_output;

/* "0.1.0" */
const char* espalier_version(void);

/* The message of the last call of this thread that failed, valid until its next failure. */
const char* espalier_last_error(void);

/* Load a model from a file or from the bytes of a file. The bytes may be freed afterwards. */
espalier_status espalier_load(const char* path, espalier_model** model);
espalier_status espalier_from_bytes(const void* bytes, size_t size, espalier_model** model);
void espalier_free(espalier_model* model);

/* A hash of all bits of the model: 16 hexadecimal digits. */
espalier_status espalier_hash(const espalier_model* model, const char** hash);

/* The number of inputs of a row, and of floats that a prediction writes for it. */
espalier_status espalier_num_inputs(const espalier_model* model, size_t* count);
espalier_status espalier_num_scores(const espalier_model* model, size_t* count);

/* The name of the label, and the class whose probability float `score` of a prediction is, counted
 * from 0. For grades it is the probability of at least that grade. NULL for a numeric label. */
espalier_status espalier_label_name(const espalier_model* model, const char** name);
espalier_status espalier_score_class(const espalier_model* model, size_t score, const char** word);

/* Input `input` of a row, counted from 0. The direction is 1 if no prediction decreases in the
 * input, -1 if none increases, and 0 if there is no such guarantee for all outputs (single classes
 * may have one). The last inputs may be the exposure and the offset of the row, both with direction
 * 1. They accept any float: NaN means exposure 1 and offset 0, a negative exposure means 0, and an
 * infinity means the largest float or its negative. */
espalier_status espalier_input_name(const espalier_model* model, size_t input, const char** name);
espalier_status espalier_input_kind(const espalier_model* model, size_t input, espalier_kind* kind);
espalier_status espalier_input_direction(const espalier_model* model, size_t input, int* direction);

/* The categories of an input, with codes 0, 1, 2, ...; a number has none. The empty category stands
 * for missing values. */
espalier_status espalier_num_words(const espalier_model* model, size_t input, size_t* count);
espalier_status espalier_word(const espalier_model* model, size_t input, size_t code,
                              const char** word);

/* The code of a category. The code is NaN for a word that means missing. A category that training
 * did not see gets a code that counts as unseen, or NaN for an ordered input. */
espalier_status espalier_code(const espalier_model* model, size_t input, const char* word,
                              float* code);

/* Working memory for predictions of this model. Make one per thread. */
espalier_status espalier_scratch_new(const espalier_model* model, espalier_scratch** scratch);
void espalier_scratch_free(espalier_scratch* scratch);

/* Predict one row or many. `rows` has num_inputs floats per row: numbers or codes, NaN for missing.
 * `out` gets num_scores floats per row. `num_cells` and `num_out` are the lengths of the arrays,
 * which must not overlap. `output` is an espalier_output. Never allocates. */
espalier_status espalier_predict(const espalier_model* model, espalier_scratch* scratch, int output,
                                 const float* rows, size_t num_cells, float* out, size_t num_out);

typedef struct espalier_proof {
  int holds;                /* 1: no inequality and no pair is violated */
  uint64_t inequalities;    /* checked, with tolerance 0 */
  uint64_t violations;      /* violated inequalities */
  uint64_t pairs;           /* pairs of rows predicted */
  uint64_t pair_violations; /* pairs whose prediction moved in the wrong direction */
  double largest_drop;      /* the largest move in the wrong direction */
} espalier_proof;

/* Checks every inequality, then predicts `pairs` pairs of rows in search of a counter-example, on
 * all cores. ESPALIER_OK means that the check ran; `holds` has the result. */
espalier_status espalier_verify(const espalier_model* model, uint64_t pairs, uint64_t seed,
                                espalier_proof* proof);

#ifdef __cplusplus
}
#endif

#endif /* ESPALIER_C_H_ */
