// SPDX-License-Identifier: Apache-2.0
// The C API: the public C++ API behind handles, with statuses instead of exceptions.
#include "espalier/c.h"

#include <cstdio>
#include <new>
#include <string>

#include "espalier/certificate.h"
#include "espalier/error.h"
#include "espalier/predictor.h"
#include "espalier/version.h"

// What the handles hold.
struct espalier_model {
  explicit espalier_model(const espalier::Model& model)
      : predictor(model), hash(model.hash()), inputs(schema().features) {
    for (const espalier::Role role : espalier::kPredictionRoles) {
      const auto column = schema().beside.find(role);
      if (column == schema().beside.end()) continue;
      inputs.push_back(
          {.name = column->second, .monotonicity = espalier::Monotonicity::increasing});
    }
  }

  const espalier::Schema& schema() const { return predictor.model().schema(); }

  espalier::Predictor predictor;
  std::string hash;
  std::vector<espalier::Feature> inputs;  // the features, then the exposure and the offset
};

struct espalier_scratch {
  explicit espalier_scratch(const espalier_model* owner)
      : model(owner), scratch(owner->predictor) {}

  const espalier_model* model;
  espalier::Predictor::Scratch scratch;
};

namespace {

using espalier::Error;
using espalier::ErrorKind;

// Of fixed length, so that no complaint needs memory; more than an Error says.
thread_local char last_error[4608] = "";

espalier_status fail(espalier_status status, const char* message) noexcept {
  std::snprintf(last_error, sizeof last_error, "%s", message);
  return status;
}

espalier_status status_of(ErrorKind kind) noexcept {
  switch (kind) {
    case ErrorKind::argument:
    case ErrorKind::data:
      return ESPALIER_ARGUMENT;
    case ErrorKind::file:
      return ESPALIER_FILE;
    case ErrorKind::format:
      return ESPALIER_FORMAT;
    case ErrorKind::unsupported:
      return ESPALIER_UNSUPPORTED;
    case ErrorKind::diverged:
    case ErrorKind::stopped:
      break;
  }
  return ESPALIER_INTERNAL;
}

// Runs what may throw.
template <class Body>
espalier_status guarded(Body&& body) noexcept {
  try {
    body();
    return ESPALIER_OK;
  } catch (const Error& error) {
    return fail(status_of(error.kind()), error.what());
  } catch (const std::bad_alloc&) {
    return fail(ESPALIER_MEMORY, "not enough memory");
  } catch (const std::exception& error) {
    return fail(ESPALIER_INTERNAL, error.what());
  } catch (...) {
    return fail(ESPALIER_INTERNAL, "an unknown error");
  }
}

void require(const void* pointer, const char* name) {
  if (pointer == nullptr)
    throw Error(ErrorKind::argument, std::string(name) + " is NULL, wanted an address");
}

void require_below(std::size_t index, std::size_t count, const char* what) {
  if (index < count) return;
  throw Error(ErrorKind::argument, std::string(what) + " " + std::to_string(index) +
                                       ", wanted less than " + std::to_string(count));
}

const espalier::Feature& input_of(const espalier_model* model, std::size_t input) {
  require(model, "model");
  require_below(input, model->inputs.size(), "input");
  return model->inputs[input];
}

}  // namespace

const char* espalier_version(void) { return espalier::kVersion; }

const char* espalier_last_error(void) { return last_error; }

espalier_status espalier_load(const char* path, espalier_model** model) {
  return guarded([&] {
    require(path, "path");
    require(model, "model");
    *model = new espalier_model(espalier::Model::load(path));
  });
}

espalier_status espalier_from_bytes(const void* bytes, size_t size, espalier_model** model) {
  return guarded([&] {
    require(bytes, "bytes");
    require(model, "model");
    *model =
        new espalier_model(espalier::Model::from_bytes({static_cast<const char*>(bytes), size}));
  });
}

void espalier_free(espalier_model* model) { delete model; }

espalier_status espalier_hash(const espalier_model* model, const char** hash) {
  return guarded([&] {
    require(model, "model");
    require(hash, "hash");
    *hash = model->hash.c_str();
  });
}

espalier_status espalier_num_inputs(const espalier_model* model, size_t* count) {
  return guarded([&] {
    require(model, "model");
    require(count, "count");
    *count = model->predictor.num_cells();
  });
}

espalier_status espalier_num_scores(const espalier_model* model, size_t* count) {
  return guarded([&] {
    require(model, "model");
    require(count, "count");
    *count = model->predictor.num_scores();
  });
}

espalier_status espalier_label_name(const espalier_model* model, const char** name) {
  return guarded([&] {
    require(model, "model");
    require(name, "name");
    *name = model->schema().label.name.c_str();
  });
}

espalier_status espalier_score_class(const espalier_model* model, size_t score, const char** word) {
  return guarded([&] {
    require(model, "model");
    require(word, "word");
    require_below(score, model->predictor.num_scores(), "score");
    const espalier::Label& label = model->schema().label;
    // The lowest of two classes or of grades has no number of its own.
    *word = label.classes.empty()
                ? nullptr
                : label.classes[score + (label.has_many_classes() ? 0 : 1)].c_str();
  });
}

espalier_status espalier_input_name(const espalier_model* model, size_t input, const char** name) {
  return guarded([&] {
    const espalier::Feature& own = input_of(model, input);
    require(name, "name");
    *name = own.name.c_str();
  });
}

espalier_status espalier_input_kind(const espalier_model* model, size_t input,
                                    espalier_kind* kind) {
  return guarded([&] {
    const espalier::Feature& own = input_of(model, input);
    require(kind, "kind");
    switch (own.kind) {
      case espalier::FeatureKind::number:
        *kind = ESPALIER_NUMBER;
        return;
      case espalier::FeatureKind::ordered:
        *kind = ESPALIER_ORDERED;
        return;
      case espalier::FeatureKind::category:
        *kind = ESPALIER_CATEGORY;
        return;
    }
  });
}

espalier_status espalier_input_direction(const espalier_model* model, size_t input,
                                         int* direction) {
  return guarded([&] {
    const espalier::Feature& own = input_of(model, input);
    require(direction, "direction");
    if (!model->schema().label.promises.empty()) {
      *direction = 0;  // of some classes only
      return;
    }
    *direction = own.monotonicity == espalier::Monotonicity::increasing   ? 1
                 : own.monotonicity == espalier::Monotonicity::decreasing ? -1
                                                                          : 0;
  });
}

espalier_status espalier_num_words(const espalier_model* model, size_t input, size_t* count) {
  return guarded([&] {
    const espalier::Feature& own = input_of(model, input);
    require(count, "count");
    *count = own.categories.size();
  });
}

espalier_status espalier_word(const espalier_model* model, size_t input, size_t code,
                              const char** word) {
  return guarded([&] {
    const espalier::Feature& own = input_of(model, input);
    require(word, "word");
    require_below(code, own.categories.size(), "code");
    *word = own.categories[code].c_str();
  });
}

espalier_status espalier_code(const espalier_model* model, size_t input, const char* word,
                              float* code) {
  return guarded([&] {
    input_of(model, input);
    require(word, "word");
    require(code, "code");
    *code = model->predictor.code(input, word);
  });
}

espalier_status espalier_scratch_new(const espalier_model* model, espalier_scratch** scratch) {
  return guarded([&] {
    require(model, "model");
    require(scratch, "scratch");
    *scratch = new espalier_scratch(model);
  });
}

void espalier_scratch_free(espalier_scratch* scratch) { delete scratch; }

// Without guarded(): nothing here throws, so that nothing allocates.
espalier_status espalier_predict(const espalier_model* model, espalier_scratch* scratch, int output,
                                 const float* rows, size_t num_cells, float* out, size_t num_out) {
  if (model == nullptr || scratch == nullptr || (rows == nullptr && num_cells > 0) ||
      (out == nullptr && num_out > 0))
    return fail(ESPALIER_ARGUMENT, "predict: model, scratch, rows or out is NULL");
  if (output != ESPALIER_PREDICTION && output != ESPALIER_SCORE)
    return fail(ESPALIER_ARGUMENT, "predict: output is neither prediction nor score");
  const espalier::Predictor& predictor = model->predictor;
  const std::size_t width = predictor.num_cells(), scores = predictor.num_scores();
  if (num_cells % width != 0 || num_out % scores != 0 || num_cells / width != num_out / scores) {
    std::snprintf(
        last_error, sizeof last_error,
        "predict: %zu cells for %zu outputs; wanted %zu cells and %zu outputs for each row",
        num_cells, num_out, width, scores);
    return ESPALIER_ARGUMENT;
  }
  const auto wanted =
      output == ESPALIER_SCORE ? espalier::Output::score : espalier::Output::prediction;
  if (scratch->model != model ||
      !predictor.predict({rows, num_cells}, {out, num_out}, scratch->scratch, wanted))
    return fail(ESPALIER_ARGUMENT, "predict: the scratch was made for another model");
  return ESPALIER_OK;
}

espalier_status espalier_verify(const espalier_model* model, uint64_t pairs, uint64_t seed,
                                espalier_proof* proof) {
  return guarded([&] {
    require(model, "model");
    require(proof, "proof");
    const espalier::Certificate found =
        espalier::verify(model->predictor.model(), {.pairs = pairs, .seed = seed});
    *proof = {found.holds() ? 1 : 0, found.inequalities,    found.violations,
              found.pairs,           found.pair_violations, found.largest_drop};
  });
}
