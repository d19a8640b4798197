// SPDX-License-Identifier: Apache-2.0
// The interpreter of the page, run by a JavaScript engine outside of a browser, gives the bits of
// the predictor.
#include "serve/interpreter.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <fstream>
#include <limits>
#include <sstream>

#include "espalier/json.h"
#include "page/program_json.h"
#include "page/text.h"
#include "serve/compile.h"
#include "support/bits_of.h"
#include "support/effort.h"
#include "support/random_model.h"
#include "support/temporary_folder.h"

namespace espalier {
namespace {

// The first engine that is installed, or "".
std::string javascript_engine() {
  for (const std::string name : {"qjs", "gjs", "node"}) {
    if (std::system(fmt::format("command -v {} > /dev/null", name).c_str()) == 0) return name;
  }
  return "";
}

std::string text_of(const std::filesystem::path& path) {
  std::ostringstream text;
  text << std::ifstream(path, std::ios::binary).rdbuf();
  return text.str();
}

// Rows of random values; every second row is the row before with some values moved by one float.
std::vector<float> random_and_neighboring_rows(const Schema& schema, std::size_t count,
                                               Random& random) {
  std::vector<float> rows, row;
  for (std::size_t r = 0; r < count; ++r) {
    if (r % 2 == 0) {
      row = random_cells(schema, random);
    } else {
      for (std::size_t f = 0; f < schema.features.size(); ++f) {
        if (schema.features[f].kind == FeatureKind::number && random.uniform() < 0.5)
          row[f] = std::nextafter(row[f], random.uniform() < 0.5 ? INFINITY : -INFINITY);
      }
    }
    rows.insert(rows.end(), row.begin(), row.end());
  }
  return rows;
}

// Classes without directions, whose probabilities are a softmax.
Model random_model_of_free_classes(Random& random) {
  Schema schema = random_schema(random);
  for (Feature& feature : schema.features) feature.monotonicity = Monotonicity::none;
  schema.pairs.clear();
  schema.beside.clear();
  schema.label = {.name = "label",
                  .loss = Loss::log_loss,
                  .classes = {"a", "b", "c"},
                  .offsets = {random.normal(), random.normal(), random.normal()}};
  return random_model_of(std::move(schema), random);
}

// What engines outside of a browser may lack, then one line of bits per model and output.
constexpr const char* kBeforeInterpreter = R"js(
var atob = text => {
  const digits = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/';
  let bytes = '', bits = 0, size = 0;
  for (const digit of text.replace(/=+$/, '')) {
    bits = (bits << 6 | digits.indexOf(digit)) & 0xffff;
    size += 6;
    if (size >= 8) bytes += String.fromCharCode(bits >> (size -= 8) & 255);
  }
  return bytes;
};
)js";
constexpr const char* kAfterInterpreter = R"js(
const show = typeof print === 'function' ? print : console.log;
const bits = numbers => Array.from(new Uint32Array(new Float32Array(numbers).buffer)).join(' ');
for (const {program, rows, width} of cases) {
  const model = Interpreter.make(program);
  const bytes = Uint8Array.from(atob(rows), byte => byte.charCodeAt(0));
  const values = new Float32Array(bytes.buffer), outputs = [[], []];
  for (let r = 0; r < values.length; r += width) {
    const row = Array.from(values.subarray(r, r + width));
    outputs[0].push(...model.scores(row));
    outputs[1].push(...model.predict(row));
  }
  for (const output of outputs) show(bits(output));
}
)js";

TEST(PageInterpreter, GivesTheBitsOfThePredictorInAnEngineThatIsNoBrowser) {
  const std::string engine = javascript_engine();
  if (engine.empty()) GTEST_SKIP() << "none of qjs, gjs and node is installed";
  constexpr std::size_t kRows = 40;
  Json cases = Json::array();
  std::vector<std::string> expected;
  for (std::uint64_t seed = 1; seed <= effort(80u, 10u); ++seed) {
    Random random(seed);
    const Model model = seed % 4 == 0   ? random_model_of_classes(random)
                        : seed % 4 == 1 ? random_model_of_free_classes(random)
                                        : random_model(random);
    const Program program = compile(model);
    const Interpreter interpreter(program);
    const std::vector<float> rows = random_and_neighboring_rows(model.schema(), kRows, random);
    cases.push_back(
        {{"program", json_of(program)}, {"rows", base64(rows)}, {"width", interpreter.num_raw()}});
    AlignedFloats scratch(interpreter.scratch_size());
    for (const Output output : {Output::score, Output::prediction}) {
      std::vector<float> out(kRows * interpreter.num_scores());
      interpreter.run(rows.data(), kRows, output, scratch.data(), out.data());
      expected.push_back(fmt::format("{}", fmt::join(bits_of(out), " ")));
    }
  }
  const TemporaryFolder folder;
  std::ofstream(folder / "test.js")
      << kBeforeInterpreter << text_of(ESPALIER_SOURCE_DIR "/src/page/interpreter.js")
      << "const cases = " << cases.dump() << ";\n"
      << kAfterInterpreter;
  const std::string command =
      fmt::format("cd '{}' && {} test.js > out 2> log", folder.path().string(), engine);
  ASSERT_EQ(std::system(command.c_str()), 0) << engine << ": " << text_of(folder / "log");
  std::ifstream found(folder / "out");
  std::string line;
  for (std::size_t i = 0; i < expected.size(); ++i) {
    ASSERT_TRUE(std::getline(found, line)) << engine << " printed " << i << " lines";
    EXPECT_EQ(line, expected[i]) << engine << ", seed " << i / 2 + 1;
  }
}

}  // namespace
}  // namespace espalier
