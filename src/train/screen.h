// SPDX-License-Identifier: Apache-2.0
// How much a table of values per cell would improve the loss of a model, from the gradients of rows
// that the model was not trained on. The rows are cut into parts; the values for each part are
// fitted on all other parts:
//
//   value of a cell = -G / (H + shrinkage * mean h)    G, H: sums of gradient and hessian over the
//                                                      rows of the cell in the other parts
//   gain of a row   = -(value g + value^2 h / 2)       g, h of the row itself
//
// The mean gain is unbiased: a table that fits noise has a negative one.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "core/random.h"
#include "encode/dataset.h"
#include "objective/loss.h"

namespace espalier {

/// The first two derivatives of the loss with respect to the output of the model, times the weight.
struct ScreenRow {
  float gradient = 0;
  float hessian = 0;
};

/// The rows of a dataset at the outputs of a model, [row][level]: sums over the levels. Adds half
/// of their deviance.
std::vector<ScreenRow> screen_rows(const Objective& objective, const Dataset& data,
                                   const std::vector<float>& outputs, double& deviance);

/// The group of each row. Rows with equal features are a group, so that no part of them predicts
/// another. If most rows are repeated, each is a group of its own.
std::vector<std::uint32_t> group_equal_rows(const Dataset& data);

/// The cell of each row; cells are below `count`.
struct Cells {
  std::vector<std::uint16_t> of_row;
  std::size_t count = 0;
};

/// A cell for every combination; a.count * b.count is at most 65,536.
Cells cross(const Cells& a, const Cells& b);

struct Gain {
  double mean = 0;   // improvement of the loss per row
  double error = 0;  // standard error of the mean
};

class CrossFit {
 public:
  /// Assigns rows to at least two parts at random, those of a group to the same one. groups: the
  /// group of each row.
  CrossFit(std::span<const std::uint32_t> groups, std::size_t num_parts, double shrinkage,
           Random random);

  Gain gain(const std::vector<ScreenRow>& rows, const Cells& cells) const;

  /// Updates the gradients to those of the model with the table added.
  void add_table(const Cells& cells, std::vector<ScreenRow>& rows) const;

 private:
  std::vector<float> fit(const std::vector<ScreenRow>& rows, const Cells& cells) const;

  std::vector<std::uint8_t> part_of_;
  std::size_t num_parts_;
  double shrinkage_;
};

}  // namespace espalier
