// SPDX-License-Identifier: Apache-2.0
// Predicting never allocates. A program of its own, because it replaces operator new.
#include <cstdio>
#include <cstdlib>
#include <new>
#include <string>
#include <vector>

#include "espalier/c.h"
#include "espalier/espalier.h"

namespace {

std::size_t allocations = 0;

// Allocations made by a call.
template <class Call>
std::size_t count(Call&& call) {
  const std::size_t before = allocations;
  call();
  return allocations - before;
}

// By the C API, right and with a wrong size.
std::size_t count_from_c(const espalier::Model& model, const std::vector<float>& rows,
                         std::vector<float>& out) {
  const std::string bytes = model.to_bytes();
  espalier_model* handle = nullptr;
  espalier_scratch* scratch = nullptr;
  if (espalier_from_bytes(bytes.data(), bytes.size(), &handle) != ESPALIER_OK ||
      espalier_scratch_new(handle, &scratch) != ESPALIER_OK)
    return 1;
  bool answered = false;
  const std::size_t allocations_of_c = count([&] {
    const auto predict = [&](std::size_t num_out) {
      return espalier_predict(handle, scratch, ESPALIER_PREDICTION, rows.data(), rows.size(),
                              out.data(), num_out);
    };
    answered = predict(out.size()) == ESPALIER_OK && predict(1) == ESPALIER_ARGUMENT;
  });
  espalier_scratch_free(scratch);
  espalier_free(handle);
  return answered ? allocations_of_c : 1;
}

}  // namespace

void* operator new(std::size_t size) {
  ++allocations;
  if (void* memory = std::malloc(size)) return memory;
  throw std::bad_alloc();
}
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }

int main() {
  using namespace espalier;
  for (const char* architecture : {"dln", "random-lattices", "cal lin(6) lat(2x3,simplex) sum"}) {
    TrainOptions options = {.label = "default", .increasing = {"debt_ratio"}};
    options.architecture = architecture;
    options.epochs = 1;
    options.ensemble = 2;
    const Predictor predictor(train(simulate({.rows = 500}), options).model);
    Predictor::Scratch scratch(predictor);
    const std::vector<float> rows(1000 * predictor.num_cells(), 1.0f);
    std::vector<float> out(1000);
    const std::size_t batch = count([&] { predictor.predict(rows, out, scratch); });
    const std::size_t one = count(
        [&] { out[0] = predictor.predict(std::span(rows).first(predictor.num_cells()), scratch); });
    const std::size_t from_c = count_from_c(predictor.model(), rows, out);
    const std::size_t control = count([&] { out = std::vector<float>(out.size()); });
    std::printf("%s: %zu allocations for 1000 rows, %zu for one, %zu from C, %zu where there are\n",
                architecture, batch, one, from_c, control);
    if (batch != 0 || one != 0 || from_c != 0 || control == 0) return 1;
  }
  return 0;
}
