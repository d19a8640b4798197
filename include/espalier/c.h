/* SPDX-License-Identifier: Apache-2.0
 * Models from C, and from whatever can call C: load, look at the schema, predict, verify.
 *
 *   espalier_model* model;
 *   espalier_scratch* scratch;
 *   if (espalier_load("loans.esp", &model) != ESPALIER_OK) return espalier_last_error();
 *   espalier_scratch_new(model, &scratch);
 *   espalier_predict(model, scratch, ESPALIER_PREDICTION, row, num_inputs, &risk, 1);
 *   espalier_scratch_free(scratch);
 *   espalier_free(model);
 *
 * Status. Every function that can fail returns a status and leaves its outputs alone unless that is
 * ESPALIER_OK. Wrong arguments, NULL among them, are ESPALIER_ARGUMENT and never a crash; only a
 * handle that was freed, or memory shorter than was said, cannot be noticed. Nothing prints or
 * exits, and no C++ exception leaves.
 *
 * Ownership. A handle belongs to the caller and is freed once, by its own function; NULL may be
 * freed. Texts belong to the model (or, for espalier_last_error, to the thread) and are never freed.
 * They are UTF-8 and end with a zero.
 *
 * Threads. A model does not change and may be used by any number of threads at the same time. A
 * scratch is used by one thread at a time.
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
  ESPALIER_ARGUMENT = 1,    /* NULL, a size that does not fit, a number out of range */
  ESPALIER_FILE = 2,        /* a file cannot be read */
  ESPALIER_FORMAT = 3,      /* a model is damaged, of a newer version, or not monotone */
  ESPALIER_UNSUPPORTED = 4, /* this version cannot do it */
  ESPALIER_MEMORY = 5,      /* not enough memory */
  ESPALIER_INTERNAL = 6     /* a mistake of the library */
} espalier_status;

typedef enum espalier_kind {
  ESPALIER_NUMBER = 0,
  ESPALIER_ORDERED = 1, /* words from low to high */
  ESPALIER_CATEGORY = 2
} espalier_kind;

typedef enum espalier_output {
  ESPALIER_PREDICTION = 0, /* a probability, or the label */
  ESPALIER_SCORE = 1       /* before the link: a logit in classification */
} espalier_output;

/* "0.1.0" */
const char* espalier_version(void);

/* What the last call of this thread that failed complained of; until its next call that fails. */
const char* espalier_last_error(void);

/* A model from a file, and from the bytes of one; the bytes may be freed afterwards. */
espalier_status espalier_load(const char* path, espalier_model** model);
espalier_status espalier_from_bytes(const void* bytes, size_t size, espalier_model** model);
void espalier_free(espalier_model* model);

/* 16 hexadecimal digits that change with any bit of the model. */
espalier_status espalier_hash(const espalier_model* model, const char** hash);

/* Cells of a row, and floats that a prediction gives for it. Both are the model's to say: ask for
 * them rather than count columns. */
espalier_status espalier_num_inputs(const espalier_model* model, size_t* count);
espalier_status espalier_num_scores(const espalier_model* model, size_t* count);

/* What is predicted, and the class whose probability float number `score` of a prediction is, counted
 * from 0: of grades, that of reaching it; NULL for a number. */
espalier_status espalier_label_name(const espalier_model* model, const char** name);
espalier_status espalier_score_class(const espalier_model* model, size_t score, const char** word);

/* Input number `input` of a row, counted from 0. Its direction is 1 if no prediction falls when it
 * rises, -1 if none rises, 0 if nothing is promised of all of them (of classes something may be).
 * The last inputs may be the exposure of the row and its offset, both with direction 1. Any float will
 * do for them: NaN counts as exposure 1 and as offset 0, a negative exposure as 0, and an infinity as
 * the largest float or its negative. */
espalier_status espalier_input_name(const espalier_model* model, size_t input, const char** name);
espalier_status espalier_input_kind(const espalier_model* model, size_t input, espalier_kind* kind);
espalier_status espalier_input_direction(const espalier_model* model, size_t input, int* direction);

/* The words of an input: of a number none, else those with the codes 0, 1, 2, ... The empty word is
 * "missing" as a category of its own. */
espalier_status espalier_num_words(const espalier_model* model, size_t input, size_t* count);
espalier_status espalier_word(const espalier_model* model, size_t input, size_t code,
                              const char** word);

/* What stands for a word in a row: its code; NaN for one that means missing; for one that a category
 * does not know a code that counts as unseen, and NaN where the words have an order. */
espalier_status espalier_code(const espalier_model* model, size_t input, const char* word,
                              float* code);

/* Working memory for predictions of this model, made once for each thread. */
espalier_status espalier_scratch_new(const espalier_model* model, espalier_scratch** scratch);
void espalier_scratch_free(espalier_scratch* scratch);

/* One row or many: num_inputs cells of each in `rows`, num_scores floats of each in `out`, row after
 * row; `num_cells` and `num_out` are the lengths of both arrays, in floats, which do not overlap. A
 * cell is a number or a code; NaN is missing. `output` is an espalier_output. Never allocates. */
espalier_status espalier_predict(const espalier_model* model, espalier_scratch* scratch, int output,
                                 const float* rows, size_t num_cells, float* out, size_t num_out);

typedef struct espalier_proof {
  int holds;                /* 1: every inequality holds and no pair fell */
  uint64_t inequalities;    /* compared, with tolerance 0 */
  uint64_t violations;      /* of inequalities */
  uint64_t pairs;           /* of rows that were tried */
  uint64_t pair_violations; /* pairs whose prediction moved in a wrong direction */
  double largest_drop;      /* in such a pair */
} espalier_proof;

/* Proves again that the model is monotone, and searches for a counter-example with so many pairs of
 * rows, on all cores. ESPALIER_OK says that it was tried; `holds` is the answer. */
espalier_status espalier_verify(const espalier_model* model, uint64_t pairs, uint64_t seed,
                                espalier_proof* proof);

#ifdef __cplusplus
}
#endif

#endif /* ESPALIER_C_H_ */
