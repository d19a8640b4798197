/* SPDX-License-Identifier: Apache-2.0
 * A model served from C: prints the schema of a model, then predicts one row.
 *
 *   cc -std=c99 serve.c -lespalier -o serve
 *   ./serve loans.esp income=32100 debt_ratio=0.11 housing=rent    # the other cells are missing
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "espalier/c.h"

/* Says what went wrong and leaves. */
static void check(espalier_status status) {
  if (status == ESPALIER_OK) return;
  fprintf(stderr, "serve: %s\n", espalier_last_error());
  exit(1);
}

/* The cell of an input: of the argument NAME=VALUE that names it, or missing. */
static float cell_of(const espalier_model* model, size_t input, int argc, char** argv) {
  const char* name;
  espalier_kind kind;
  float code;
  int i;
  check(espalier_input_name(model, input, &name));
  check(espalier_input_kind(model, input, &kind));
  for (i = 2; i < argc; ++i) {
    const size_t length = strlen(name);
    if (strncmp(argv[i], name, length) != 0 || argv[i][length] != '=') continue;
    if (kind == ESPALIER_NUMBER) return (float)atof(argv[i] + length + 1);
    check(espalier_code(model, input, argv[i] + length + 1, &code));
    return code;
  }
  return (float)NAN;
}

static void print_input(const espalier_model* model, size_t input) {
  static const char* const kinds[] = {"number", "ordered", "category"};
  const char* name;
  espalier_kind kind;
  size_t words;
  int direction;
  check(espalier_input_name(model, input, &name));
  check(espalier_input_kind(model, input, &kind));
  check(espalier_input_direction(model, input, &direction));
  check(espalier_num_words(model, input, &words));
  printf("%s: %s, direction %d, %lu words\n", name, kinds[kind], direction, (unsigned long)words);
}

int main(int argc, char** argv) {
  espalier_model* model;
  espalier_scratch* scratch;
  espalier_proof proof;
  size_t num_inputs, num_scores, i;
  float* row;
  float* predictions;
  if (argc < 2) {
    fprintf(stderr, "usage: serve MODEL [NAME=VALUE ...]\n");
    return 2;
  }
  check(espalier_load(argv[1], &model));
  check(espalier_scratch_new(model, &scratch)); /* one for each thread */
  check(espalier_num_inputs(model, &num_inputs));
  check(espalier_num_scores(model, &num_scores));
  row = malloc(num_inputs * sizeof *row);
  predictions = malloc(num_scores * sizeof *predictions);
  if (row == NULL || predictions == NULL) return 1;
  for (i = 0; i < num_inputs; ++i) {
    print_input(model, i);
    row[i] = cell_of(model, i, argc, argv);
  }
  check(espalier_verify(model, 1000, 1, &proof));
  printf("monotone: %s\n", proof.holds ? "proved" : "NOT");
  check(espalier_predict(model, scratch, ESPALIER_PREDICTION, row, num_inputs, predictions,
                         num_scores));
  for (i = 0; i < num_scores; ++i) printf("prediction: %.9g\n", predictions[i]);
  free(predictions);
  free(row);
  espalier_scratch_free(scratch);
  espalier_free(model);
  return 0;
}
