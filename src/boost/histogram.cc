// SPDX-License-Identifier: Apache-2.0
#include "boost/histogram.h"

#include <algorithm>
#include <array>
#include <utility>

namespace espalier {

namespace {

// Additions that are worth a task of their own.
constexpr std::size_t kLeastWork = 32768;

// Adds the rows to the histograms of kCount columns, whose bins are at bins[row * width + places].
template <std::size_t kCount>
void add_rows_of(const std::uint8_t* bins, std::size_t width, const std::size_t* places,
                 std::span<const std::uint32_t> rows, const GradientPair* gradients,
                 GradientSums* const* histograms) {
  std::array<std::size_t, kCount> place;
  std::array<GradientSums*, kCount> to;
  std::copy_n(places, kCount, place.begin());
  std::copy_n(histograms, kCount, to.begin());
  for (const std::uint32_t row : rows) {
    const GradientSums own{gradients[row].gradient, gradients[row].hessian};
    const std::uint8_t* const bin = bins + row * width;
    for (std::size_t k = 0; k < kCount; ++k) to[k][bin[place[k]]] += own;
  }
}

using AddRows = void (*)(const std::uint8_t*, std::size_t, const std::size_t*,
                         std::span<const std::uint32_t>, const GradientPair*, GradientSums* const*);

// kAddRows[k] is for k + 1 columns.
constexpr auto kAddRows = []<std::size_t... kIndex>(std::index_sequence<kIndex...>) {
  return std::array<AddRows, sizeof...(kIndex)>{add_rows_of<kIndex + 1>...};
}
(std::make_index_sequence<RowBlocks::kMaxWidth>());

}  // namespace

HistogramLayout::HistogramLayout(std::span<const std::size_t> candidates,
                                 std::span<const ColumnBins> bins)
    : columns(candidates.begin(), candidates.end()) {
  for (const std::size_t c : columns) offsets.push_back(offsets.back() + bins[c].num_bins);
}

void HistogramPool::reset(std::size_t num_bins) {
  num_bins_ = num_bins;
  free_.clear();
  for (std::size_t index = histograms_.size(); index > 0; --index) free_.push_back(index - 1);
}

std::size_t HistogramPool::take() {
  if (free_.empty()) {
    free_.push_back(histograms_.size());
    histograms_.emplace_back();
  }
  const std::size_t index = free_.back();
  free_.pop_back();
  if (histograms_[index].size() < num_bins_) histograms_[index].resize(num_bins_);
  return index;
}

void HistogramBuilder::reset(const HistogramLayout& layout,
                             std::span<const GradientPair> gradients) {
  layout_ = &layout;
  gradients_ = gradients;
  parts_.clear();
  for (std::size_t i = 0; i < layout.num_columns(); ++i) {
    const std::size_t block = layout.columns[i] / blocks_.width();
    if (parts_.empty() || parts_.back().block != block) parts_.push_back({block, i, i});
    parts_.back().last = i + 1;
  }
}

void HistogramBuilder::build(std::span<const std::uint32_t> rows,
                             std::span<GradientSums> histogram) {
  const auto threads = static_cast<std::size_t>(pool_.size());
  const std::size_t tasks =
      std::clamp<std::size_t>(rows.size() * layout_->num_columns() / kLeastWork, 1, threads);
  pieces_ = (tasks + parts_.size() - 1) / parts_.size();
  if (partial_.size() + 1 < pieces_) partial_.resize(pieces_ - 1);
  for (std::size_t p = 1; p < pieces_; ++p) {
    if (partial_[p - 1].size() < histogram.size()) partial_[p - 1].resize(histogram.size());
  }
  const auto add_piece = [&](std::size_t p, const BlockPart& part) {
    GradientSums* const to = p == 0 ? histogram.data() : partial_[p - 1].data();
    std::fill(to + layout_->offsets[part.first], to + layout_->offsets[part.last], GradientSums());
    const std::size_t begin = rows.size() * p / pieces_, end = rows.size() * (p + 1) / pieces_;
    add_rows(part, rows.subspan(begin, end - begin), to);
  };
  if (tasks == 1) {
    for (const BlockPart& part : parts_) add_piece(0, part);
    return;
  }
  pool_.run(static_cast<int>(pieces_ * parts_.size()), [&](int task) {
    const auto t = static_cast<std::size_t>(task);
    add_piece(t / parts_.size(), parts_[t % parts_.size()]);
  });
}

void HistogramBuilder::complete(std::size_t column, std::span<GradientSums> histogram) const {
  for (std::size_t p = 1; p < pieces_; ++p) {
    for (std::size_t b = layout_->offsets[column]; b < layout_->offsets[column + 1]; ++b)
      histogram[b] += partial_[p - 1][b];
  }
}

void HistogramBuilder::add_rows(const BlockPart& part, std::span<const std::uint32_t> rows,
                                GradientSums* histogram) const {
  std::array<std::size_t, RowBlocks::kMaxWidth> places;
  std::array<GradientSums*, RowBlocks::kMaxWidth> histograms;
  for (std::size_t i = part.first; i < part.last; ++i) {
    places[i - part.first] = layout_->columns[i] % blocks_.width();
    histograms[i - part.first] = histogram + layout_->offsets[i];
  }
  kAddRows[part.last - part.first - 1](blocks_.block(part.block), blocks_.width(), places.data(),
                                       rows, gradients_.data(), histograms.data());
}

}  // namespace espalier
