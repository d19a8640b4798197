// SPDX-License-Identifier: Apache-2.0
#include "data/csv_column.h"

#include "espalier/csv.h"

namespace espalier {

void ColumnReader::want(const ColumnType* type, std::vector<std::string> missing) {
  is_wanted_ = true;
  type_is_given_ = type != nullptr;
  role_ = type_is_given_ && *type == ColumnType::category ? Role::category : Role::number;
  for (const std::string& word : missing) {
    float number;
    if (parse_number(trim(word), number)) missing_numbers_.push_back(number);
  }
  column_.missing = std::move(missing);
}

void ColumnReader::make_room(std::size_t num_rows) {
  if (role_ == Role::done) return;
  column_.numbers = std::vector<float>(role_ == Role::number ? num_rows : 0);
  column_.codes = std::vector<std::int32_t>(role_ == Role::category ? num_rows : 0);
}

bool ColumnReader::set_number_or_missing(std::size_t row, const Cell& cell, ColumnPart& part) {
  const std::string_view text = cell.quoted ? trim(cell.text) : cell.text;
  float number;
  if (parse_number(text, number)) {
    set_number(row, number);
  } else if (is_missing(text)) {
    column_.numbers[row] = kMissing;
  } else {
    part.met_word = true;
    return !type_is_given_;
  }
  return true;
}

void ColumnReader::finish(const std::vector<FilledRows>& rows,
                          const std::vector<ColumnPart*>& parts) {
  if (role_ == Role::category) {
    finish_words(rows, parts);
  } else {
    std::size_t end = 0;
    for (const FilledRows& chunk : rows) {
      const float* const from = column_.numbers.data() + chunk.first;
      if (end != chunk.first) std::copy_n(from, chunk.count, column_.numbers.data() + end);
      end += chunk.count;
    }
    column_.numbers.resize(end);
  }
  role_ = Role::done;
}

void ColumnReader::finish_words(const std::vector<FilledRows>& rows,
                                const std::vector<ColumnPart*>& parts) {
  WordIndex words;
  std::vector<std::int32_t> codes;  // of the words of a chunk
  std::size_t end = 0;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    codes.clear();
    for (const std::string& word : parts[i]->words.words()) {
      codes.push_back(is_missing(trim(word)) ? kMissingCode : words.index_of(word));
    }
    const std::int32_t* const from = column_.codes.data() + rows[i].first;
    for (std::size_t r = 0; r < rows[i].count; ++r) {
      column_.codes[end++] = codes[static_cast<std::size_t>(from[r])];
    }
  }
  column_.codes.resize(end);
  column_.words = words.take_words();
  column_.type = ColumnType::category;
}

bool ColumnReader::is_missing(std::string_view text) const {
  const auto& list = column_.missing;
  return means_missing(text) || std::find(list.begin(), list.end(), text) != list.end();
}

}  // namespace espalier
