// SPDX-License-Identifier: Apache-2.0
// What a user of the installed library does: a table in, a proven model and predictions out.
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <vector>

#include "espalier/espalier.h"

namespace {

void require(bool condition, const char* what) {
  if (condition) return;
  std::fprintf(stderr, "failed: %s\n", what);
  std::exit(1);
}

espalier::Model train_model() {
  const espalier::Table loans = espalier::simulate({.rows = 2000, .seed = 1});
  const auto result = espalier::train(loans, {.label = "default",
                                              .increasing = {"debt_ratio", "late_payments"},
                                              .decreasing = {"income", "years_employed"},
                                              .ensemble = 1,
                                              .epochs = 5});
  require(result.history.size() == 5, "five epochs were trained");
  return result.model;
}

double value_of(const espalier::Evaluation& evaluation, espalier::Metric metric) {
  for (const espalier::MetricValue& entry : evaluation.metrics) {
    if (entry.metric == metric) return entry.value;
  }
  return std::nan("");
}

void check_predictions(const std::vector<float>& risk, std::size_t rows) {
  require(risk.size() == rows, "there is one prediction per row");
  for (const float p : risk) require(p > 0 && p < 1, "a prediction is a probability");
}

}  // namespace

int main() {
  try {
    const espalier::Model model = train_model();
    model.save("loans.esp");
    const espalier::Model loaded = espalier::Model::load("loans.esp");
    require(loaded.hash() == model.hash(), "a model survives saving and loading");

    const espalier::Certificate certificate = espalier::verify(loaded);
    require(certificate.inequalities > 0 && certificate.holds(), "the model is proven monotone");

    const espalier::Table fresh = espalier::simulate({.rows = 1000, .seed = 2});
    check_predictions(loaded.predict(fresh), fresh.num_rows);
    const double auc = value_of(espalier::evaluate(loaded, fresh), espalier::Metric::auc);
    require(auc > 0.6, "the model beats chance on fresh rows");

    std::printf("espalier %s: %zu parameters, %zu inequalities hold, auc %.3f\n",
                espalier::kVersion, loaded.num_parameters(), certificate.inequalities, auc);
  } catch (const espalier::Error& error) {
    require(false, error.what());
  }
}
