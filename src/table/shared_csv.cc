// SPDX-License-Identifier: Apache-2.0
#include "table/shared_csv.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <set>
#include <span>
#include <utility>
#include <vector>

#include "core/bytes.h"
#include "core/file.h"
#include "csv/category_index.h"
#include "espalier/error.h"
#include "table/column_writer.h"
#include "table/float_blur.h"
#include "table/gather.h"

namespace espalier {
namespace {

namespace fs = std::filesystem;

// A column that turns out to be categorical makes reading start again.
StoredTable read_own(const DividedText& text, const RankText& share, CsvOptions& options,
                     std::size_t piece_bytes, PieceWriter& writer) {
  writer.clear();
  for (const TextPart& part : share.parts) {
    PieceReader reader = text.read(part, options, piece_bytes);
    for (Table piece; reader.next(piece);) {
      if (const auto names = new_words(piece, options); !names.empty()) {
        for (const std::string& name : names) options.types[name] = ColumnType::category;
        return read_own(text, share, options, piece_bytes, writer);
      }
      writer.add(piece);
    }
  }
  return writer.finish();
}

// What all ranks found.
std::vector<StoredTable> found_by_all(const StoredTable& own, Ranks& ranks) {
  std::vector<StoredTable> all;
  for (const std::string& bytes : gather(&ranks, to_bytes(own)))
    all.push_back(parse_stored_table(bytes, fmt::format("rank {}", all.size())));
  return all;
}

std::set<std::string> columns_with_words(const StoredTable& table) {
  std::set<std::string> names;
  for (const StoredColumn& stored : table.columns) {
    if (stored.column.type == ColumnType::category) names.insert(stored.column.name);
  }
  return names;
}

// The stored values of a column, changed in place.
template <class T, class Change>
void change_cells(const std::string& path, const Change& change) {
  constexpr std::size_t kAtATime = std::size_t{1} << 18;
  const std::string changed = path + ".changed";
  const FileBytes file = read_file(path);
  const std::string_view bytes = file.view();
  for (std::size_t at = 0; at < bytes.size(); at += kAtATime * sizeof(T)) {
    std::vector<T> cells = numbers_of<T>(bytes.substr(at, kAtATime * sizeof(T)));
    for (T& cell : cells) cell = change(cell);
    append_to_file(changed, raw_bytes(std::span<const T>(cells)));
  }
  fs::rename(changed, path);
}

// Numbers the categories in order of first appearance among all ranks.
void merge_categories(const std::vector<StoredTable>& all, std::size_t c, const std::string& folder,
                      StoredColumn& own) {
  CategoryIndex index;
  for (const StoredTable& table : all) {
    if (table.columns.empty()) continue;
    for (const std::string& category : table.columns[c].column.categories) index.index_of(category);
  }
  std::vector<std::int32_t> codes;  // by the rank's own code
  for (const std::string& category : own.column.categories)
    codes.push_back(index.index_of(category));
  const auto change = [&](std::int32_t code) {
    return code == kMissingCode ? code : codes[static_cast<std::size_t>(code)];
  };
  own.column.categories = index.take_categories();
  if (std::ranges::is_sorted(codes) && (codes.empty() || codes.back() + 1 == std::ssize(codes)))
    return;  // codes are already right
  if (folder.empty()) {
    std::ranges::transform(own.column.codes, own.column.codes.begin(), change);
    return;
  }
  const std::string path = column_file(folder, c, "codes");
  change_cells<std::int32_t>(path, change);
  own.checksum = checksum(read_file(path).view());
}

// Keeps doubles if floats blur the numbers of all ranks.
void merge_exact(const std::vector<StoredTable>& all, std::size_t c, const std::string& folder,
                 Ranks& ranks, StoredColumn& own) {
  const auto has_exact = [c](const StoredTable& table) {
    return !table.columns.empty() && table.columns[c].has_exact;
  };
  if (std::ranges::none_of(all, has_exact)) return;
  FloatBlur blur;
  if (folder.empty()) {
    blur.add(own.column.numbers);
  } else {
    const FileBytes file = read_file(column_file(folder, c, "numbers"));
    blur.add(
        {reinterpret_cast<const float*>(file.view().data()), file.view().size() / sizeof(float)});
  }
  FloatBlur together;
  for (const FloatBlur& each : gather_values(ranks, blur)) together.add(each);
  if (together.blurs()) return;
  own.column.exact = {};
  own.has_exact = false;
  std::error_code ignored;  // it may not exist
  if (!folder.empty()) fs::remove(column_file(folder, c, "exact"), ignored);
}

}  // namespace

StoredTable read_rank_text(const DividedText& text, const RankText& share, CsvOptions options,
                           const std::string& folder, std::size_t piece_bytes, Ranks& ranks) {
  PieceWriter writer(folder);
  StoredTable own = read_own(text, share, options, piece_bytes, writer);
  std::vector<StoredTable> all = found_by_all(own, ranks);
  for (;;) {
    std::set<std::string> categories;
    for (const StoredTable& table : all) categories.merge(columns_with_words(table));
    const auto agrees = [&](const StoredTable& table) {
      return table.columns.empty() || columns_with_words(table) == categories;
    };
    if (std::ranges::all_of(all, agrees)) break;
    for (const std::string& name : categories) options.types[name] = ColumnType::category;
    if (!agrees(own)) own = read_own(text, share, options, piece_bytes, writer);
    all = found_by_all(own, ranks);
  }
  if (own.num_rows != share.num_rows)
    throw Error(ErrorKind::data, fmt::format("rank {}: {} rows were read and {} counted: an empty "
                                             "line, or a file that changes",
                                             ranks.rank(), own.num_rows, share.num_rows));
  if (own.columns.empty()) {  // a rank without rows
    own.columns = std::ranges::find_if(all, [](const StoredTable& table) {
                    return table.num_rows > 0;
                  })->columns;
    for (StoredColumn& stored : own.columns) {
      stored.has_exact = false;
      stored.column.categories.clear();
    }
  }
  for (std::size_t c = 0; c < own.columns.size(); ++c) {
    if (own.columns[c].column.type == ColumnType::category) {
      merge_categories(all, c, folder, own.columns[c]);
    } else {
      merge_exact(all, c, own.num_rows > 0 ? folder : "", ranks, own.columns[c]);
    }
  }
  return own;
}

}  // namespace espalier
