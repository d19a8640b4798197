// SPDX-License-Identifier: Apache-2.0
#include "csv/column.h"

#include <cmath>
#include <span>

#include "espalier/column_types.h"
#include "espalier/csv.h"

namespace espalier {

void ColumnReader::want(const ColumnType* type, std::vector<std::string> missing,
                        std::vector<std::string> not_missing) {
  std::erase_if(missing, [&](const std::string& category) {
    return std::find(not_missing.begin(), not_missing.end(), category) != not_missing.end();
  });
  is_wanted_ = true;
  type_is_given_ = type != nullptr;
  role_ = type_is_given_ && *type == ColumnType::category ? Role::category : Role::number;
  missing_numbers_ = missing_numbers(missing);
  column_.missing = std::move(missing);
  column_.not_missing = std::move(not_missing);
}

void ColumnReader::make_room(std::size_t num_rows) {
  if (role_ == Role::done) return;
  column_.numbers = std::vector<float>(role_ == Role::number ? num_rows : 0);
  column_.exact = std::vector<double>(keeps_exact_ ? num_rows : 0);
  column_.codes = std::vector<std::int32_t>(has_categories() ? num_rows : 0);
}

bool ColumnReader::set_number_or_missing(std::size_t row, const Cell& cell, ColumnPart& part) {
  const std::string_view text = cell.quoted ? trim(cell.text) : cell.text;
  Number number;
  if (is_missing(text)) {
    set_number(row, {kMissing, kMissing}, part);
  } else if (parse_number(text, number) && !(std::isnan(number.rounded) && is_not_missing(text))) {
    set_number(row, number, part);
  } else {
    part.met_text = true;
    return !type_is_given_;
  }
  if (keeps_text_) set_word(row, cell, part);
  return true;
}

void ColumnReader::guess(std::size_t num_rows, const ColumnPart& part) {
  if (role_ != Role::number) return;
  if (part.met_text) role_ = Role::category;
  keeps_exact_ =
      !part.met_text && part.was_rounded && floats_blur(std::span(column_.numbers).first(num_rows));
}

bool ColumnReader::finish(const std::vector<FilledRows>& rows,
                          const std::vector<ColumnPart*>& parts) {
  if (role_ == Role::number && !finish_numbers(rows, parts)) return false;
  if (has_categories()) finish_words(rows, parts);
  if (role_ == Role::category) column_.type = ColumnType::category;
  role_ = Role::done;
  return true;
}

bool ColumnReader::finish_numbers(const std::vector<FilledRows>& rows,
                                  const std::vector<ColumnPart*>& parts) {
  const auto any = [&](bool ColumnPart::*flag) {
    return std::any_of(parts.begin(), parts.end(), [flag](const auto* p) { return p->*flag; });
  };
  if (any(&ColumnPart::met_text)) {
    role_ = Role::category;
    keeps_exact_ = false;
    return false;
  }
  const auto close_gaps = [&](auto& cells) {
    std::size_t end = 0;
    for (const FilledRows& chunk : rows) {
      const auto from = cells.begin() + static_cast<std::ptrdiff_t>(chunk.first);
      const auto to = cells.begin() + static_cast<std::ptrdiff_t>(end);
      if (end != chunk.first) std::copy_n(from, chunk.count, to);
      end += chunk.count;
    }
    cells.resize(end);
  };
  close_gaps(column_.numbers);
  const bool wants_exact = any(&ColumnPart::was_rounded) && floats_blur(column_.numbers);
  const bool is_complete = keeps_exact_ || !wants_exact;
  if (keeps_exact_) close_gaps(column_.exact);
  if (!wants_exact) column_.exact = {};
  keeps_exact_ = wants_exact;
  return is_complete;
}

void ColumnReader::finish_words(const std::vector<FilledRows>& rows,
                                const std::vector<ColumnPart*>& parts) {
  CategoryIndex categories;
  std::vector<std::int32_t> codes;  // of the categories of a chunk
  std::size_t end = 0;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    codes.clear();
    for (const std::string& category : parts[i]->categories.categories()) {
      codes.push_back(is_missing(trim(category)) ? kMissingCode : categories.index_of(category));
    }
    const std::int32_t* const from = column_.codes.data() + rows[i].first;
    for (std::size_t r = 0; r < rows[i].count; ++r) {
      column_.codes[end++] = codes[static_cast<std::size_t>(from[r])];
    }
  }
  column_.codes.resize(end);
  column_.categories = categories.take_categories();
}

bool ColumnReader::is_not_missing(std::string_view text) const {
  const auto& list = column_.not_missing;
  return std::find(list.begin(), list.end(), text) != list.end();
}

bool ColumnReader::is_missing(std::string_view text) const {
  return means_missing(text, column_.missing, column_.not_missing);
}

}  // namespace espalier
