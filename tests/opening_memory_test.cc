// SPDX-License-Identifier: Apache-2.0
// Opening an input takes no more memory than SECURITY.md promises: opening_memory(its size). A
// program of its own, because it replaces operator new to count.
#include "core/opening_memory.h"

#include <malloc.h>

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <new>
#include <string>
#include <vector>

#include "core/bytes.h"
#include "core/random.h"
#include "espalier/espalier.h"
#include "espalier/json.h"
#include "search/dimension.h"
#include "search/tune_results.h"
#include "support/temporary_folder.h"
#include "table/stored_table.h"
#include "train/checkpoint.h"

namespace {

std::atomic<std::size_t> in_use = 0, peak = 0;

void* counted(void* memory) {
  if (memory == nullptr) throw std::bad_alloc();
  const std::size_t now = in_use += malloc_usable_size(memory);
  std::size_t before = peak;
  while (before < now && !peak.compare_exchange_weak(before, now)) {
  }
  return memory;
}

void released(void* memory) noexcept {
  if (memory != nullptr) in_use -= malloc_usable_size(memory);
  std::free(memory);
}

}  // namespace

void* operator new(std::size_t size) { return counted(std::malloc(size)); }
void* operator new(std::size_t size, std::align_val_t alignment) {
  const auto step = static_cast<std::size_t>(alignment);
  return counted(std::aligned_alloc(step, (size + step - 1) / step * step));
}
void operator delete(void* memory) noexcept { released(memory); }
void operator delete(void* memory, std::size_t) noexcept { released(memory); }
void operator delete(void* memory, std::align_val_t) noexcept { released(memory); }
void operator delete(void* memory, std::size_t, std::align_val_t) noexcept { released(memory); }

namespace espalier {
namespace {

bool all_hold = true;

std::string repeated(std::string_view text, std::size_t count) {
  std::string all;
  for (std::size_t i = 0; i < count; ++i) all += text;
  return all;
}

// The memory that opening takes at its peak, whether the input is accepted or refused.
std::size_t peak_of(const std::function<void()>& open) {
  const std::size_t before = in_use;
  peak = before;
  try {
    open();
  } catch (const Error&) {
  } catch (const JsonError&) {
  }
  return peak - before;
}

// Keeps the largest of several inputs, in bytes beyond the spare memory per byte of input.
class Opened {
 public:
  explicit Opened(const char* name) : name_(name) {}
  ~Opened() {
    std::printf("%-14s %4d inputs, at most %6.1f bytes a byte (%s)\n", name_, inputs_, worst_,
                worst_input_.c_str());
  }

  void open(const std::string& what, std::size_t size, const std::function<void()>& open) {
    const std::size_t memory = peak_of(open);
    ++inputs_;
    const double spare = static_cast<double>(kSpareMemory);
    const double rate = std::max(0.0, static_cast<double>(memory) - spare) /
                        static_cast<double>(std::max<std::size_t>(size, 1));
    if (rate >= worst_) worst_ = rate, worst_input_ = what;
    if (memory <= opening_memory(size)) return;
    std::printf("%s: %s: %zu bytes of memory for %zu bytes of input, allowed are %zu\n", name_,
                what.c_str(), memory, size, static_cast<std::size_t>(opening_memory(size)));
    all_hold = false;
  }

 private:
  const char* name_;
  int inputs_ = 0;
  double worst_ = 0;
  std::string worst_input_;
};

std::string with_checksum(std::string bytes) {
  put(bytes, checksum(bytes));
  return bytes;
}

// A model file with other architectures and that many parameters, all 0.
class Forger {
 public:
  explicit Forger(std::string_view file) {
    constexpr std::size_t kMagicAndFormat = 12;
    front_ = file.substr(0, kMagicAndFormat);
    static const std::string kPlace = "model";
    Reader reader(file.substr(kMagicAndFormat), kPlace, "model");
    header_ = Json::parse(reader.text("header"));
    parameters_ = reader.floats("parameters").size();
    constants_ = reader.floats("constants");
  }

  std::string forge(const std::string& architecture, std::size_t more_parameters = 0,
                    std::size_t members = 1) const {
    Json header = header_;
    header["architectures"] = std::vector<std::string>(members, architecture);
    std::string bytes = front_;
    put_text(bytes, header.dump());
    const std::vector<float> params(parameters_ + more_parameters);
    for (std::size_t m = 0; m < members; ++m) {
      put_floats(bytes, params);
      put_floats(bytes, constants_);
    }
    return with_checksum(bytes);
  }

 private:
  std::string front_;
  Json header_;
  std::size_t parameters_ = 0;
  std::vector<float> constants_;
};

Model small_model(const std::string& architecture, int trees = 0) {
  TrainOptions options = {.label = "default", .increasing = {"income", "debt_ratio"}};
  options.architecture = architecture;
  options.interactions = {"none"};
  options.epochs = 1;
  options.ensemble = 1;
  options.trees = trees;
  if (trees > 0) options.tree_share = 0.5;
  options.threads = 1;
  return train(simulate({.rows = 1000, .numbers = 6, .categories = 2}), options).model;
}

// Trees whose leaves all lie in one order.
std::string chain_of_leaves(int leaves, const std::string& question = "0>1") {
  std::string tree = "_";
  for (int leaf = 1; leaf < leaves; ++leaf) tree = question + ",_," + tree;
  return tree;
}

// A valid model that is as large as forests of training are.
void open_forest(const Forger& forger) {
  const std::string tree = chain_of_leaves(63, "0>0.514703");
  const std::string bytes =
      forger.forge("cal(4) tree(" + repeated(tree + ",", 999) + tree + ") sum", 63 * 1000);
  try {
    Model::from_bytes(bytes);
  } catch (const Error& error) {
    std::printf("a forest of 1,000 trees is refused: %s\n", error.what());
    all_hold = false;
  }
}

// Bytes of a file in front of its checksum that are changed, with the checksum made right.
std::string damaged(std::string_view bytes, Random& random) {
  std::string changed(bytes.substr(0, bytes.size() - sizeof(std::uint64_t)));
  for (int i = 0; i < 3; ++i) {
    constexpr std::size_t kFront = 12;  // magic and version
    changed[kFront + random.below(changed.size() - kFront)] = static_cast<char>(random.below(256));
  }
  return with_checksum(changed);
}

void open_models(std::size_t size) {
  Opened opened("model");
  const auto open = [&](const std::string& what, const std::string& bytes) {
    opened.open(what, bytes.size(), [&] { Model::from_bytes(bytes); });
  };
  for (const char* architecture : {"cal(4) sum", "dln(6x3)", "random-lattices", "monotonic-dnn"})
    open(architecture, small_model(architecture).to_bytes());
  open("trees", small_model("cal(4) lin(1)", 40).to_bytes());
  const Forger forger(small_model("cal(4) sum").to_bytes());
  open("relu", forger.forge("cal(4) " + repeated("relu ", size / 5) + "sum"));
  const std::string gather = "cal(4) gather(" + repeated("0,", size / 2) + "0) ";
  open("gather", forger.forge(gather + "sum"));
  open("gather lin", forger.forge(gather + "lin(1)", size / 2 + 2));
  open("gather relu", forger.forge(gather + repeated("relu ", 40) + "sum"));
  open("gather minmax", forger.forge(gather + "minmax(1x" + std::to_string(size / 2 + 1) + ")"));
  for (const std::size_t leaves : {256, 40}) {
    const std::string tree = "tree(" + chain_of_leaves(static_cast<int>(leaves)) + ") ";
    const std::size_t layers = size / tree.size();
    open("trees, a layer each", forger.forge("cal(4) " + repeated(tree, layers), layers * leaves));
    open("trees, members",
         forger.forge("cal(4) " + tree, leaves, std::min<std::size_t>(layers, 50)));
  }
  open("members", forger.forge("cal(4) sum", 0, 1000));
  open_forest(forger);
  Random random(7);
  const std::string whole = small_model("cal(4) gather(2x3) lat(2x3) lin(1)").to_bytes();
  for (int i = 0; i < 300; ++i) open("damaged", damaged(whole, random));
}

// Pieces of a language in any order, between a beginning and an end.
std::string soup(const std::vector<std::string>& pieces, std::size_t size, Random& random) {
  std::string text;
  while (text.size() < size) text += pieces[random.below(pieces.size())];
  return text;
}

std::vector<std::string> hostile_json(std::size_t size, Random& random) {
  std::vector<std::string> texts;
  for (const char* const item : {"0,", "[],", "{},", "\"\",", "[0],", "{\"a\":0},", "\"a,b\",",
                                 "[[[[[]]]]],", "null,", "1e9,", "\"\\u0041\","}) {
    texts.push_back("[" + repeated(item, size / std::string(item).size()) + "0]");
  }
  texts.push_back("\"" + std::string(size, ',') + "\"");
  texts.push_back("\"" + std::string(size, 'a') + "\"");
  for (int i = 0; i < 5; ++i)
    texts.push_back(
        "[" + soup({"0,", "[1],", "\"x\",", "{},", "{\"b\":[]},", "-1.5e3,"}, size, random) + "0]");
  return texts;
}

void open_configs(std::size_t size) {
  Opened opened("configuration");
  Random random(1);
  for (const std::string& json : hostile_json(size, random)) {
    for (const char* const field : {"increasing", "architecture", "quantile", "epochs", "other"}) {
      const std::string text = "{\"" + std::string(field) + "\": " + json + "}";
      opened.open(text.substr(0, 30), text.size(), [&] {
        TrainOptions options;
        apply_json(options, text, "config.json");
        validate(options);
      });
    }
  }
}

void open_architectures(std::size_t size) {
  Opened opened("architecture");
  Random random(2);
  const auto open = [&](const std::string& text) {
    opened.open(text.substr(0, 30), text.size(), [&] { to_string(parse_architecture(text)); });
  };
  for (const char* const piece : {"relu ", "sum ", "cal ", "lat(2x3) ", "gather(0) ", "tree(_) "})
    open(repeated(piece, size / std::string(piece).size()));
  open("gather(" + repeated("0,", size / 2) + "0)");
  open("gather(" + repeated(",", size) + ")");
  open("tree(" + repeated("_,", size / 2) + "_)");
  for (int i = 0; i < 5; ++i)
    open(soup({"relu ", "cal(9) ", "gather(1,2) ", "lin(3,split) ", "tree(0>1,_,_) "}, size,
              random));
}

void open_csv(std::size_t size) {
  Opened opened("data file");
  Random random(3);
  const auto open = [&](const std::string& what, const std::string& text) {
    opened.open(what, text.size(), [&] { parse_csv(text, {.threads = 2}); });
  };
  std::string header, row;
  for (std::size_t c = 0; header.size() < size; ++c) {
    header += (c > 0 ? "," : "") + std::to_string(c);
    row += c > 0 ? ",1" : "1";
  }
  open("columns", header + "\n" + row + "\n");
  open("header", header);
  open("header of commas", std::string(size, ','));
  open("one name", "a" + std::string(size / 2, ',') + "\n1" + std::string(size / 2, ','));
  open("lines", "a\n" + repeated("1\n", size / 2));
  open("blank lines", "a\n" + std::string(size, '\n'));
  open("quotes", "a\n" + std::string(size, '"'));
  open("words", [&] {
    std::string text = "a\n";
    for (std::size_t r = 0; text.size() < size; ++r) text += "w" + std::to_string(r) + "\n";
    return text;
  }());
  open("two columns", "a,b\n" + repeated("1,\n", size / 3));
  for (int i = 0; i < 5; ++i)
    open("soup", soup({"a", ",", "\"", "\n", "1.5", ";", " ", "\t"}, size, random));
}

void open_lines_of_tune(std::size_t size) {
  Opened opened("tune file");
  Random random(4);
  for (const std::string& json : hostile_json(size, random)) {
    const std::string run = "{\"settings\": " + json + "}", search = "{\"options\": " + json + "}";
    opened.open("run", run.size(), [&] { parse_run(run, "line"); });
    opened.open("search", search.size(), [&] { parse_fingerprint(search, "line"); });
    opened.open("range", json.size(), [&] { parse_dimension("epochs=" + json); });
  }
}

void open_stored_tables(std::size_t size) {
  Opened opened("stored table");
  Random random(5);
  const TemporaryFolder folder;
  StoredTable table{.source = "t", .num_rows = 5};
  for (std::size_t c = 0; c < size / 100; ++c) table.columns.push_back({});
  std::string bytes = to_bytes(table);
  opened.open("columns", bytes.size(), [&] { parse_stored_table(bytes, "table"); });
  for (int i = 0; i < 50; ++i) {
    const std::string changed = damaged(bytes, random);
    opened.open("damaged", changed.size(), [&] { parse_stored_table(changed, "table"); });
  }
}

void open_checkpoints() {
  Opened opened("checkpoint");
  Random random(6);
  Checkpoint checkpoint;
  checkpoint.architecture = "cal(4) sum";
  checkpoint.members.push_back({.stage = MemberState::running, .bytes = std::string(4000, 'x')});
  const std::string bytes = format_checkpoint(checkpoint);
  opened.open("whole", bytes.size(), [&] { parse_checkpoint(bytes, "checkpoint"); });
  for (int i = 0; i < 200; ++i) {
    const std::string changed = damaged(bytes, random);
    opened.open("damaged", changed.size(), [&] { parse_checkpoint(changed, "checkpoint"); });
  }
}

int run() {
  for (const std::size_t size : {2000, 100'000, 1'000'000}) {
    open_models(size);
    open_configs(size);
    open_architectures(size);
    open_csv(size);
    open_lines_of_tune(size);
    open_stored_tables(size);
  }
  open_checkpoints();
  return all_hold ? 0 : 1;
}

}  // namespace
}  // namespace espalier

int main() { return espalier::run(); }
