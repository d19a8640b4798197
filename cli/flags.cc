// SPDX-License-Identifier: Apache-2.0
// List flags, and the flags for reading data.
#include "flags.h"

#include "espalier/text.h"

namespace espalier {
namespace {

constexpr const char* kTableGroup = "Reading data";
constexpr Field kSkipLines{"skip_lines", "lines to skip before the header or the first row", 0,
                           1e9};

char read_delimiter(const std::string& text) {
  if (text == "tab" || text == "\\t") return '\t';
  if (text.size() == 1) return text[0];
  throw bad_value("--delimiter", text, "a single character or the word tab");
}

void add_missing_words(CsvOptions& csv, const std::string& text) {
  const std::size_t equals = text.find('=');
  const bool all = equals == std::string::npos;
  auto& words = all ? csv.missing : csv.column_missing[text.substr(0, equals)];
  for (std::string& word : split_at_commas(all ? text : text.substr(equals + 1))) {
    words.push_back(std::move(word));
  }
}

void add_not_missing_words(CsvOptions& csv, const std::string& text) {
  const std::size_t equals = text.find('=');
  if (equals == std::string::npos)
    throw bad_value("--not-missing", text, "a column and its words, column=word,word");
  for (std::string& word : split_at_commas(std::string_view(text).substr(equals + 1)))
    csv.not_missing[text.substr(0, equals)].push_back(std::move(word));
}

void add_type_flag(CLI::App& app, const std::string& flag, CsvOptions& csv, ColumnType type,
                   const std::string& help) {
  const CLI::callback_t read = [flag, &csv, type](const CLI::results_t& texts) {
    for (const std::string& text : texts) {
      for (const std::string& name : split_at_commas(text)) {
        if (csv.types.emplace(name, type).first->second != type) {
          throw Error(
              ErrorKind::argument,
              fmt::format("{}: column '{}' cannot be both a number and a category", flag, name));
        }
      }
    }
    return true;
  };
  app.add_option(flag, read, help)->type_name("LIST")->take_all()->group(kTableGroup);
}

}  // namespace

CLI::Option* add_list(CLI::App& app, const std::string& flag, std::vector<std::string>& list,
                      const std::string& help) {
  const CLI::callback_t read = [&list](const CLI::results_t& texts) {
    list.clear();
    for (const std::string& text : texts) {
      for (std::string& part : split_at_commas(text)) list.push_back(std::move(part));
    }
    return true;
  };
  return app.add_option(flag, read, help)->type_name("LIST")->take_all();
}

void add_table_flags(CLI::App& app, CsvOptions& csv) {
  app.add_flag_callback(
         "--no-header", [&csv] { csv.header = false; }, "the file has no line of column names")
      ->group(kTableGroup);
  add_list(app, "--columns", csv.columns, "the column names of a file without a header")
      ->group(kTableGroup);
  const CLI::callback_t delimiter = [&csv](const CLI::results_t& texts) {
    csv.delimiter = read_delimiter(texts.back());
    return true;
  };
  app.add_option(
         "--delimiter", delimiter,
         "the character between fields, or tab (default: the most frequent of , ; tab | in the "
         "first line)")
      ->type_name("CHAR")
      ->group(kTableGroup);
  add_field(app, kSkipLines, csv.skip_lines)->group(kTableGroup);
  const CLI::callback_t missing = [&csv](const CLI::results_t& texts) {
    for (const std::string& text : texts) add_missing_words(csv, text);
    return true;
  };
  app.add_option("--missing", missing,
                 "more missing values: -999,none for all columns, or with an = for one column: "
                 "age=96,98; may be repeated")
      ->type_name("LIST")
      ->take_all()
      ->group(kTableGroup);
}

void add_column_flags(CLI::App& app, CsvOptions& csv) {
  add_type_flag(app, "--categorical", csv, ColumnType::category,
                "columns to read as categorical even if they look numeric");
  add_type_flag(app, "--numerical", csv, ColumnType::number,
                "columns that must be numeric; any other value is an error");
  const CLI::callback_t not_missing = [&csv](const CLI::results_t& texts) {
    for (const std::string& text : texts) add_not_missing_words(csv, text);
    return true;
  };
  app.add_option("--not-missing", not_missing,
                 "values of a column that are not missing although they usually are: "
                 "quality=NA; may be repeated")
      ->type_name("LIST")
      ->take_all()
      ->group(kTableGroup);
  add_list(app, "--drop", csv.drop, "columns to ignore")->group(kTableGroup);
}

void check_table_flags(const CsvOptions& csv) {
  if (csv.header == csv.columns.empty()) return;
  throw Error(ErrorKind::argument, csv.header
                                       ? "--columns is for files without a header: add --no-header"
                                       : "--no-header needs --columns a,b,c to name the columns");
}

}  // namespace espalier
