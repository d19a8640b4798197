// SPDX-License-Identifier: Apache-2.0
#include "arrow.h"

#include <cmath>
#include <cstring>
#include <limits>
#include <optional>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "espalier/csv.h"
#include "espalier/error.h"
#include "words.h"

namespace espalier {
namespace {

constexpr std::int64_t kDictionaryOrdered = 1;
constexpr double kMissing = std::numeric_limits<double>::quiet_NaN();

// Calls the release function that a struct of the interface brings along.
template <class T>
struct Owned : T {
  Owned() : T{} {}
  ~Owned() {
    if (this->release != nullptr) this->release(this);
  }
  Owned(const Owned&) = delete;
  Owned& operator=(const Owned&) = delete;
};

// The rows [begin, begin + count) of an array.
struct Chunk {
  const ArrowArray* array;
  std::int64_t begin;
  std::int64_t count;

  template <class T>
  const T* buffer(int index) const {
    return static_cast<const T*>(array->buffers[index]);
  }
  bool is_null(std::int64_t row) const {
    const auto* valid = buffer<std::uint8_t>(0);
    const std::int64_t bit = begin + row;
    return valid != nullptr && array->null_count != 0 && (valid[bit / 8] >> (bit % 8) & 1) == 0;
  }
  bool has_nulls() const { return array->null_count != 0 && buffer<std::uint8_t>(0) != nullptr; }
};

[[noreturn]] void fail(const Table& table, const std::string& column, const std::string& what) {
  throw Error(ErrorKind::data, table.name + ": column '" + column + "': " + what);
}

// visit(reader of a row) with the type that the letter of a format stands for; false for another.
template <class Visit>
bool visit_numbers(std::string_view format, const Chunk& chunk, Visit&& visit) {
  const auto typed = [&]<class T>(T) {
    visit([values = chunk.buffer<T>(1) + chunk.begin](std::int64_t row) { return values[row]; });
    return true;
  };
  if (format == "f") return typed(float{});
  if (format == "g") return typed(double{});
  if (format == "c") return typed(std::int8_t{});
  if (format == "C") return typed(std::uint8_t{});
  if (format == "s") return typed(std::int16_t{});
  if (format == "S") return typed(std::uint16_t{});
  if (format == "i") return typed(std::int32_t{});
  if (format == "I") return typed(std::uint32_t{});
  if (format == "l") return typed(std::int64_t{});
  if (format == "L") return typed(std::uint64_t{});
  if (format == "b") {
    visit([bits = chunk.buffer<std::uint8_t>(1), begin = chunk.begin](std::int64_t row) {
      return (bits[(begin + row) / 8] >> ((begin + row) % 8) & 1) != 0;
    });
    return true;
  }
  return false;
}

// A string view of the format "vu": its length, then the bytes themselves or where they are.
std::string_view view_at(const Chunk& chunk, std::int64_t row) {
  constexpr std::int32_t kInline = 12;
  const char* view = chunk.buffer<char>(1) + 16 * (chunk.begin + row);
  std::int32_t length, index, offset;
  std::memcpy(&length, view, 4);
  if (length <= kInline) return {view + 4, static_cast<std::size_t>(length)};
  std::memcpy(&index, view + 8, 4);
  std::memcpy(&offset, view + 12, 4);
  return {chunk.buffer<char>(2 + index) + offset, static_cast<std::size_t>(length)};
}

// visit(reader of a row) for the formats of strings; false for another.
template <class Visit>
bool visit_strings(std::string_view format, const Chunk& chunk, Visit&& visit) {
  const auto typed = [&]<class Offset>(Offset) {
    visit([offsets = chunk.buffer<Offset>(1) + chunk.begin,
           text = chunk.buffer<char>(2)](std::int64_t row) {
      return std::string_view(text + offsets[row],
                              static_cast<std::size_t>(offsets[row + 1] - offsets[row]));
    });
    return true;
  };
  if (format == "u") return typed(std::int32_t{});
  if (format == "U") return typed(std::int64_t{});
  if (format == "vu") {
    visit([&chunk](std::int64_t row) { return view_at(chunk, row); });
    return true;
  }
  return false;
}

// Gives a category column its cells, word by word.
class CategoryWriter {
 public:
  explicit CategoryWriter(Column& column) : column_(column) { column.type = ColumnType::category; }

  std::int32_t code_of(std::string_view word) {
    if (means_missing(word, column_.missing, column_.not_missing)) return kMissingCode;
    const auto [found, is_new] =
        index_.try_emplace(std::string(word), static_cast<std::int32_t>(column_.categories.size()));
    if (is_new) column_.categories.emplace_back(word);
    return found->second;
  }
  void add(std::int32_t code) { column_.codes.push_back(code); }
  void add_missing() { add(kMissingCode); }

 private:
  Column& column_;
  std::unordered_map<std::string, std::int32_t> index_;
};

// Calls add(word) for each row that is not null, else add_missing(); false if the format is neither
// one of strings nor of numbers.
bool read_words(std::string_view format, const Chunk& chunk,
                const std::function<void(std::string_view)>& add,
                const std::function<void()>& add_missing) {
  const auto rows = [&](const auto& text_at) {
    for (std::int64_t row = 0; row < chunk.count; ++row) {
      if (chunk.is_null(row)) {
        add_missing();
      } else {
        add(text_at(row));
      }
    }
  };
  if (visit_strings(format, chunk, rows)) return true;
  return visit_numbers(format, chunk, [&](const auto& value_at) {
    rows([&](std::int64_t row) { return number_text(value_at(row)); });
  });
}

bool add_dictionary_chunk(const ArrowSchema& schema, const Chunk& chunk, CategoryWriter& writer,
                          std::vector<std::string>& order) {
  const Chunk words{chunk.array->dictionary, chunk.array->dictionary->offset,
                    chunk.array->dictionary->length};
  std::vector<std::optional<std::string>> dictionary;
  if (!read_words(
          schema.dictionary->format, words,
          [&](std::string_view word) { dictionary.emplace_back(std::string(word)); },
          [&] { dictionary.emplace_back(std::nullopt); })) {
    return false;
  }
  if ((schema.flags & kDictionaryOrdered) != 0 && order.empty()) {
    for (const auto& word : dictionary) order.push_back(word.value_or(""));
  }
  constexpr std::int32_t kUnknown = -2;
  std::vector<std::int32_t> codes(dictionary.size(), kUnknown);
  return visit_numbers(schema.format, chunk, [&](const auto& index_at) {
    for (std::int64_t row = 0; row < chunk.count; ++row) {
      if (chunk.is_null(row)) {
        writer.add_missing();
        continue;
      }
      const auto index = static_cast<std::size_t>(index_at(row));
      if (codes.at(index) == kUnknown) {
        const auto& word = dictionary[index];
        codes[index] = word ? writer.code_of(*word) : kMissingCode;
      }
      writer.add(codes[index]);
    }
  });
}

// Calls add(number) for each row, NaN for a null one; false if the format is not one of numbers.
bool read_numbers(std::string_view format, const Chunk& chunk, const auto& add) {
  return visit_numbers(format, chunk, [&](const auto& value_at) {
    for (std::int64_t row = 0; row < chunk.count; ++row)
      add(chunk.is_null(row) ? kMissing : static_cast<double>(value_at(row)));
  });
}

// Fills a number column: with floats, and with doubles where those blur it.
bool fill_numbers(std::string_view format, const std::vector<Chunk>& chunks, Column& column) {
  const MissingNumbers<float> missing_floats(column);
  const MissingNumbers<double> missing(column);
  const auto known = [&](double exact) {
    const bool is_missing = format == "f" ? missing_floats.contains(static_cast<float>(exact))
                                          : missing.contains(exact);
    return is_missing ? kMissing : exact;
  };
  bool was_rounded = false;
  for (const Chunk& chunk : chunks) {
    const auto add = [&](double read) {
      const double exact = known(read);
      const auto rounded = static_cast<float>(exact);
      was_rounded |= exact < rounded || exact > rounded;
      column.numbers.push_back(rounded);
    };
    if (!read_numbers(format, chunk, add)) return false;
  }
  if (!was_rounded || !floats_blur(column.numbers)) return true;
  for (const Chunk& chunk : chunks)
    read_numbers(format, chunk, [&](double read) { column.exact.push_back(known(read)); });
  return true;
}

bool is_string(std::string_view format) { return format == "u" || format == "U" || format == "vu"; }

// Fills a column from its chunks; false if nothing is known of its type.
bool fill(const ArrowSchema& schema, const std::vector<Chunk>& chunks, bool is_category,
          Column& column, std::vector<std::string>& order) {
  const std::string_view format = schema.format;
  if (schema.dictionary != nullptr || is_category || is_string(format)) {
    CategoryWriter writer(column);
    for (const Chunk& chunk : chunks) {
      const bool read =
          schema.dictionary != nullptr
              ? add_dictionary_chunk(schema, chunk, writer, order)
              : read_words(
                    format, chunk, [&](std::string_view w) { writer.add(writer.code_of(w)); },
                    [&] { writer.add_missing(); });
      if (!read) return false;
    }
    return true;
  }
  const bool is_whole = MissingNumbers<float>(column).empty();
  if (is_whole && format == "f" && chunks.size() == 1 && !chunks[0].has_nulls() &&
      chunks[0].count > 0) {
    column.borrowed = {chunks[0].buffer<float>(1) + chunks[0].begin,
                       static_cast<std::size_t>(chunks[0].count)};
    return true;
  }
  if (format != "n") return fill_numbers(format, chunks, column);
  for (const Chunk& chunk : chunks) {
    column.numbers.insert(column.numbers.end(), static_cast<std::size_t>(chunk.count),
                          static_cast<float>(kMissing));
  }
  return true;
}

void check(int failure, ArrowArrayStream& stream, const Table& table) {
  if (failure == 0) return;
  const char* message = stream.get_last_error(&stream);
  throw Error(ErrorKind::data, table.name + ": the Arrow stream failed: " +
                                   (message != nullptr ? message : "no reason given"));
}

}  // namespace

void read_arrow(ArrowArrayStream& stream,
                const std::function<bool(const std::string&, std::size_t)>& is_category,
                BorrowingTable& into) {
  Table& table = into.table;
  Owned<ArrowSchema> schema;
  check(stream.get_schema(&stream, &schema), stream, table);
  if (std::string_view(schema.format) != "+s")
    throw Error(ErrorKind::data, table.name + ": the Arrow stream has no columns");
  std::vector<std::shared_ptr<Owned<ArrowArray>>> batches;
  while (true) {
    auto batch = std::make_shared<Owned<ArrowArray>>();
    check(stream.get_next(&stream, batch.get()), stream, table);
    if (batch->release == nullptr) break;
    table.num_rows += static_cast<std::size_t>(batch->length);
    if (batch->length > 0) batches.push_back(std::move(batch));
  }
  for (std::int64_t c = 0; c < schema.n_children; ++c) {
    const ArrowSchema& column_schema = *schema.children[c];
    Column column = into.new_column(column_schema.name != nullptr ? column_schema.name : "");
    std::vector<Chunk> chunks;
    for (const auto& batch : batches) {
      const ArrowArray* array = batch->children[c];
      chunks.push_back({array, array->offset + batch->offset, batch->length});
    }
    std::vector<std::string> order;
    const bool words = is_category(column.name, static_cast<std::size_t>(c));
    if (!fill(column_schema, chunks, words, column, order)) {
      fail(table, column.name,
           std::string("the Arrow type '") + column_schema.format +
               "' is not supported; wanted numbers, booleans, strings or categories");
    }
    if (!order.empty()) into.orders[column.name] = std::move(order);
    table.columns.push_back(std::move(column));
  }
  for (auto& batch : batches) into.owners.push_back(std::move(batch));
}

}  // namespace espalier
