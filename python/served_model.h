// SPDX-License-Identifier: Apache-2.0
// _core.Model: a model, its predictor, and working memory that calls take and give back.
#pragma once

#include <cstddef>
#include <memory>
#include <mutex>
#include <span>
#include <utility>
#include <vector>

#include "espalier/predictor.h"

namespace espalier {

class ServedModel {
 public:
  explicit ServedModel(Model model) : predictor_(std::move(model)) {}

  const Model& model() const { return predictor_.model(); }
  const Predictor& predictor() const { return predictor_; }

  void predict(std::span<const float> rows, std::span<float> out, Output output, int threads) {
    constexpr std::size_t kThreadsPay = 4096;
    if (threads != 1 && out.size() >= kThreadsPay) {
      predictor_.predict(rows, out, output, threads);
      return;
    }
    std::unique_ptr<Predictor::Scratch> scratch = take_scratch();
    predictor_.predict(rows, out, *scratch, output);
    const std::lock_guard lock(mutex_);
    free_.push_back(std::move(scratch));
  }

 private:
  std::unique_ptr<Predictor::Scratch> take_scratch() {
    {
      const std::lock_guard lock(mutex_);
      if (!free_.empty()) {
        auto scratch = std::move(free_.back());
        free_.pop_back();
        return scratch;
      }
    }
    return std::make_unique<Predictor::Scratch>(predictor_);
  }

  Predictor predictor_;
  std::mutex mutex_;
  std::vector<std::unique_ptr<Predictor::Scratch>> free_;
};

}  // namespace espalier
