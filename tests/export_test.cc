// SPDX-License-Identifier: Apache-2.0
// Exported headers, compiled: without a warning, and with the bits of the Predictor.
#include "espalier/export.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <bit>
#include <cmath>

#include "core/file.h"
#include "core/math.h"
#include "encode/encode.h"
#include "encode/roles.h"
#include "espalier/predictor.h"
#include "espalier/simulate.h"
#include "espalier/train.h"
#include "eval/counter_examples.h"
#include "export/header.h"
#include "serve/interpreter.h"
#include "support/compiled_header.h"
#include "support/effort.h"
#include "support/error_of.h"
#include "support/float_modes.h"
#include "support/random_model.h"

namespace espalier {
namespace {

using ::testing::HasSubstr;

#if defined(ESPALIER_SANITIZED) && defined(__clang__)
// The sanitizers also look at the header.
const std::vector<std::string> kCompilers = {
    "clang++ -O1 -fsanitize=address,undefined -fno-sanitize-recover=all"};
#elif defined(__aarch64__)
// Under emulation: the compilers are those of the machine that emulates.
const std::vector<std::string> kCompilers = {"aarch64-linux-gnu-g++ -O2",
                                             "aarch64-linux-gnu-g++ -O3 -ffp-contract=fast"};
#else
// Every CPU, the fused multiply-add found at run time; none but that of the C library; all that the
// compiler may do, and clang too if it is installed.
std::vector<std::string> compilers() {
  std::vector<std::string> list = {"g++ -O2", "g++ -O1 -DESPALIER_EXPORT_NO_DISPATCH",
                                   "g++ -O3 -march=native"};
  if (std::system("command -v clang++ > /dev/null") == 0)
    list.push_back("clang++ -O3 -march=native -ffp-contract=fast");
  return list;
}
const std::vector<std::string> kCompilers = compilers();
#endif

// Names and words that C++ does not take as they are, or that would like to leave their place.
const std::vector<std::string> kHostile = {
    "",      "class",   "int",          "std",   "Row",     "linux", "EOF",     "AGE",
    "age",   "Age",     "a b",          "a_b",   "a-b",     "2nd",   "__x",     "x_code",
    "Größe", "年齢",    "*/ }",         "/*",    "\"",      "\\",    "\\\n",    "?\?/",
    "// \\", "missing", "unseen",       "x\ny",  "\r",      "a\x01", "\"); //", "R\"(",
    "%s",    "{0}",     "\xe2\x80\xae", "cells", "score",   "row",   "raw",     "detail",
    "?",     "\t",      "u00e4",        "ä",     "predict", "1.50",  "-0.0"};

// A model whose features are called so, and have such words.
Model hostile_model(Random& random) {
  auto data = std::make_shared<ModelData>();
  data->training_json = "{}";
  Schema& schema = data->schema;
  for (std::size_t i = 0; i < kHostile.size(); ++i) {
    Feature feature = random_feature(random, kHostile[i]);
    if (i % 3 == 0) {
      feature = {.name = kHostile[i], .kind = FeatureKind::category, .categories = kHostile};
      feature.shares.assign(kHostile.size(), 1.0f);
      feature.pools_rare = i % 2 == 0;
      if (feature.pools_rare) feature.categories.back() = "(rare)";
      feature.missing = {"none \"*/", "class", "9"};
      feature.not_missing = {"NA", ""};
    }
    schema.features.push_back(std::move(feature));
  }
  schema.features.push_back(
      {.name = "last", .monotonicity = Monotonicity::increasing, .keypoints = {-2, 0, 1}});
  schema.label = {.name = "*/ \\\n", .loss = Loss::log_loss, .classes = {"\"", "\\"}};
  data->members.push_back(random_network(schema, data->calibrators, random));
  return Model(std::move(data));
}

Model loan_model() {
  return train(simulate({.rows = 600, .seed = 1}), {.label = "default",
                                                    .increasing = {"debt_ratio", "late_payments"},
                                                    .decreasing = {"income", "years_employed"},
                                                    .ensemble = 2,
                                                    .epochs = 2})
      .model;
}

// Rows at random; each other one has some cells moved to a neighbouring float.
std::vector<float> neighbouring_rows(const Schema& schema, std::size_t count, Random& random) {
  std::vector<float> rows;
  std::vector<float> row;
  for (std::size_t r = 0; r < count; ++r) {
    if (r % 2 == 0) {
      row = random_cells(schema, random);
    } else {
      for (std::size_t f = 0; f < schema.features.size(); ++f) {
        if (schema.features[f].kind == FeatureKind::number && random.uniform() < 0.5)
          row[f] = std::nextafter(row[f], INFINITY);
      }
    }
    rows.insert(rows.end(), row.begin(), row.end());
  }
  return rows;
}

std::size_t different(const std::vector<float>& a, const std::vector<float>& b) {
  std::size_t count = 0;
  for (std::size_t i = 0; i < a.size(); ++i)
    count += std::bit_cast<std::uint32_t>(a[i]) != std::bit_cast<std::uint32_t>(b[i]) ? 1 : 0;
  return count;
}

void expect_bits(const CompiledHeaders& headers, std::size_t c, const ExportCase& own,
                 std::size_t count, Random& random, const std::string& name) {
  const Interpreter interpreter(own.program);
  const std::vector<float> rows = neighbouring_rows(own.schema, count, random);
  AlignedFloats scratch(interpreter.scratch_size());
  for (const Output output : {Output::score, Output::prediction}) {
    std::vector<float> wanted(count * interpreter.num_scores()), found(wanted.size());
    interpreter.run(rows.data(), count, output, scratch.data(), wanted.data());
    headers.run(c, rows, output, found);
    EXPECT_EQ(different(found, wanted), 0U) << name << ", case " << c;
  }
}

// The members up to their first embedding: a score per output.
ExportCase several_scores(const Model& model) {
  ExportCase own = case_of(model);
  std::size_t num_scores = 3;
  for (const std::vector<Step>& steps : own.program.members)
    num_scores = std::min(num_scores, std::get<LinearStep>(steps[1]).num_outputs());
  own.program.scores.clear();
  GatherStep first_wires;
  for (std::size_t s = 0; s < num_scores; ++s) {
    own.program.scores.push_back({.offset = 0.5 + static_cast<double>(s), .scale = 0.7});
    first_wires.wires.push_back(s);
  }
  for (std::vector<Step>& steps : own.program.members) {
    steps.resize(2);
    steps.push_back(first_wires);
  }
  return own;
}

// Wide and deep lattices, which are folded in blocks and in pieces.
Model lattice_model(Random& random, const std::string& architecture) {
  auto data = std::make_shared<ModelData>();
  data->schema = random_schema(random);
  data->training_json = "{}";
  Network network(parse_architecture(architecture), input_wires(data->schema), data->calibrators,
                  random.split(1));
  for (int l = 0; l < network.num_layers(); ++l) {
    Layer& layer = network.layer(l);
    float* params = network.params().data() + network.offset(l);
    for (std::size_t i = 0; i < layer.num_params(); ++i)
      params[i] = static_cast<float>(random.normal());
    for (int u = 0; u < layer.num_units(); ++u)
      layer.project(params + layer.unit_begin(u), u, Projection::sweep, {});
  }
  data->members.push_back(std::move(network));
  return Model(std::move(data));
}

TEST(Header, GivesTheBitsOfThePredictor) {
  Random random(19);
  std::vector<ExportCase> cases = {case_of(loan_model()), case_of(hostile_model(random))};
  for (int i = 0; i < effort(3, 1); ++i) cases.push_back(case_of(random_model(random)));
  cases.push_back(case_of(lattice_model(random, "cal(6) lin(37) cal(4,-2:2) lat(37x1) sum")));
  cases.push_back(
      case_of(lattice_model(random, effort("cal(6) lin(68) lat(17x4) lin(20) lat(2x10) lin(1)",
                                           "cal(6) lin(34) lat(17x2) lin(1)"))));
  cases.push_back(case_of(random_model_of_classes(random)));
  cases.push_back(several_scores(random_one_score_model(random)));
  cases.push_back(case_of(loan_model()));
  cases.back().most_inside = 0;  // two files
  for (const std::string& compiler : kCompilers) {
    const CompiledHeaders headers(cases, compiler);
    for (std::size_t c = 0; c < cases.size(); ++c)
      expect_bits(headers, c, cases[c], c == 0 ? effort(50'000, 1000) : effort(1'000, 200), random,
                  compiler);
  }
}

TEST(Header, GivesTheSameBitsInEveryFloatingPointMode) {
  std::vector<ExportCase> cases;
  for (std::uint64_t seed = 1; seed <= 2; ++seed) {
    Random random(seed);
    cases.push_back(case_of(random_model(random)));
  }
  for (const std::string& compiler : {kCompilers.front(), kCompilers.back()}) {
    const CompiledHeaders headers(cases, compiler);
    for (std::size_t c = 0; c < cases.size(); ++c) {
      Random random(c);
      const std::vector<float> rows = neighbouring_rows(cases[c].schema, 200, random);
      for (const Output output : {Output::score, Output::prediction}) {
        std::vector<float> wanted(200 * cases[c].program.num_scores()), found(wanted.size());
        headers.run(c, rows, output, wanted);
        for (const FloatMode& mode : odd_float_modes()) {
          const OddFloats odd(mode);
          headers.run(c, rows, output, found);
          EXPECT_EQ(float_mode(), mode.word) << compiler << ", " << mode.name;
          EXPECT_EQ(different(found, wanted), 0U)
              << compiler << ", case " << c << ", " << mode.name;
        }
      }
    }
  }
}

#if defined(__SSE2__)
// What a host does that was linked with -Ofast, before its main, or that flushes on purpose.
TEST(Header, GivesTheSameBitsInAProgramThatFlushesSubnormalNumbers) {
  const TemporaryFolder folder;
  auto data = std::make_shared<ModelData>();
  data->training_json = "{}";
  data->schema.features = {{.name = "x",
                            .monotonicity = Monotonicity::increasing,
                            .keypoints = {-1e-39f, 1e-45f, 3e-45f, 1e-41f, 2}}};
  data->schema.label = {.name = "y"};
  Random random(5);
  data->members.push_back(
      random_network(data->schema, data->calibrators, "cal(5) lin(1)", random.split(1), random));
  const Model model(std::move(data));
  export_header(model, folder / "tiny.h");
  std::ofstream(folder / "main.cc") << R"(#include <xmmintrin.h>
#include <cstdio>
#include "tiny.h"
int main() {
  _mm_setcsr(_mm_getcsr() | 0x8040);
  for (float x : {-1e-39f, -2e-40f, 1e-45f, 3e-45f, 4e-45f, 9e-42f, 1e-41f, 2e-38f, 1.0f}) {
    tiny_model::Row row;
    row.x = x;
    std::printf("%.9g\n", static_cast<double>(tiny_model::predict(row)));
  }
  return (_mm_getcsr() & 0x8040) == 0x8040 ? 0 : 1;
}
)";
  const Predictor predictor(model);
  Predictor::Scratch scratch(predictor);
  std::string wanted;
  for (const float x : {-1e-39f, -2e-40f, 1e-45f, 3e-45f, 4e-45f, 9e-42f, 1e-41f, 2e-38f, 1.0f})
    wanted += fmt::format("{:.9g}\n", predictor.predict({&x, 1}, scratch));
  for (const std::string& compiler : kCompilers) {
    const std::string line = fmt::format("cd '{}' && {} {} main.cc -o main && ./main > found",
                                         folder.path().string(), compiler, kWarnings);
    ASSERT_EQ(std::system(line.c_str()), 0) << compiler;
    EXPECT_EQ(read_file(folder / "found").view(), wanted) << compiler;
  }
}
#endif

// In double, where every bit is seen: rounding to float would hide almost all of what a compiler
// does to sums and products.
TEST(Header, ItsExponentialHasTheBitsOfOurs) {
  for (const std::string& compiler : kCompilers) {
    CompiledLibrary library;
    library.write("shim.cc",
                  "#include \"" ESPALIER_SOURCE_DIR
                  "/src/export/runtime.h\"\n"
                  "extern \"C\" void run(const double* x, std::size_t n, double* out) {\n"
                  "  for (std::size_t i = 0; i < n; ++i)\n"
                  "    out[i] = espalier::exported::portable_exp(x[i]);\n}\n");
    library.build(compiler, "shim.cc");
    Random random(11);
    std::vector<double> x = {0, -0.0, 1, -1, 709.7, 710, 711, -745.2, -746, -747};
    while (x.size() < 200'000) {
      const double size = random.uniform() < 0.5 ? 5 : 750;
      x.push_back((2 * random.uniform() - 1) * size);
    }
    std::vector<double> found(x.size());
    library.find<void (*)(const double*, std::size_t, double*)>("run")(x.data(), x.size(),
                                                                       found.data());
    std::size_t different = 0;
    for (std::size_t i = 0; i < x.size(); ++i)
      different += std::bit_cast<std::uint64_t>(found[i]) !=
                   std::bit_cast<std::uint64_t>(portable_exp(x[i]));
    EXPECT_EQ(different, 0U) << compiler;
  }
}

// -1 and the code of the empty word are the same cell.
TEST(Header, KnowsTheWordsAsThePredictorDoes) {
  Random random(3);
  const Model model = hostile_model(random);
  const Predictor predictor(model);
  const CompiledHeaders headers({case_of(model)}, kCompilers.front());
  std::vector<std::string> words = kHostile;
  for (const char* word :
       {"red", "high", "NA",  "n/a",   "NaN", "NULL", "none \"*/", "(rare)", "new", "na",
        "9",   "9.0",  "1.5", "1.500", "0",   "-0",   "0.0",       "007",    "1e3", ".5"})
    words.emplace_back(word);
  for (std::size_t f = 0; f < model.schema().features.size(); ++f) {
    const Feature& feature = model.schema().features[f];
    if (feature.kind == FeatureKind::number) continue;
    for (const std::string& word : words) {
      const int found = headers.code(0, f, word);
      const float cell =
          found < 0 ? std::numeric_limits<float>::quiet_NaN() : static_cast<float>(found);
      EXPECT_EQ(encode_cell(feature, cell), encode_cell(feature, predictor.code(f, word)))
          << feature.name << ": " << word;
    }
  }
}

void expect_no_fall(std::size_t pairs) {
  Random random(5);
  std::vector<Model> models = {loan_model()};
  for (int i = 0; i < 2; ++i) models.push_back(random_model(random));
  std::vector<ExportCase> cases;
  for (const Model& model : models) cases.push_back(case_of(model));
  const CompiledHeaders headers(cases, kCompilers.back());
  ThreadPool pool(0);
  std::size_t tried = 0;
  for (std::size_t c = 0; c < cases.size(); ++c) {
    for (const Output output : {Output::score, Output::prediction}) {
      const auto make = [&] {
        return [&, c, output](std::span<const float> rows, std::span<float> out) {
          headers.run(c, rows, output, out);
        };
      };
      const CounterExamples found = find_counter_examples(
          cases[c].schema, make, pairs / cases.size() / 2, random.split(c), pool);
      EXPECT_EQ(found.violations, 0U) << (found.culprits.empty() ? "" : found.culprits.front());
      tried += found.pairs;
    }
  }
  EXPECT_GE(tried, pairs / 2);  // a random model may have no monotone feature
}

TEST(Header, NeverFalls) {
  if (effort(false, true)) GTEST_SKIP() << "GivesTheBitsOfThePredictor, which never falls";
  expect_no_fall(50'000);
}

TEST(LongHeader, NeverFallsInTenMillionPairs) { expect_no_fall(10'000'000); }

std::string compiler_says(const ExportCase& own, const std::string& compiler) {
  try {
    const CompiledHeaders headers({own}, compiler);
  } catch (const std::runtime_error& error) {
    return error.what();
  }
  return "nothing";
}

TEST(Header, RefusesToBeCompiledWithFastMath) {
  Random random(1);
  const ExportCase own = case_of(random_model(random));
  std::vector<std::string> unsafe = {"g++ -Ofast", "g++ -O2 -funsafe-math-optimizations",
                                     "g++ -O2 -ffinite-math-only"};
  if (kCompilers.back().starts_with("clang++")) unsafe.push_back("clang++ -O2 -ffast-math");
  for (const std::string& compiler : unsafe)
    EXPECT_THAT(compiler_says(own, compiler), HasSubstr("break the promise")) << compiler;
}

std::set<std::string> files_of(const TemporaryFolder& folder) {
  std::set<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(folder.path()))
    names.insert(entry.path().filename());
  return names;
}

TEST(Export, NamesTheNamespaceAfterTheFile) {
  Random random(1);
  const Model model = random_model(random);
  const TemporaryFolder folder;
  const auto name_space = [&](const std::string& name) {
    return export_header(model, folder / name).name_space;
  };
  EXPECT_EQ(name_space("risk.h"), "risk_model");
  EXPECT_EQ(name_space("int.h"), "int_model");
  EXPECT_EQ(name_space("risk_model.hpp"), "risk_model");
  EXPECT_EQ(name_space("Größe 2.h"), "Gr_u00f6_u00df_e_2_model");
  EXPECT_EQ(files_of(folder),
            (std::set<std::string>{"risk.h", "int.h", "risk_model.hpp", "Größe 2.h"}));
}

TEST(Export, ListsTheFieldOfEveryInputInTheOrderOfARow) {
  const TemporaryFolder folder;
  std::size_t most_beside = 0;
  for (std::uint64_t seed = 1; seed <= 60; ++seed) {
    Random random(seed);
    const Model model = random_model(random);
    std::vector<std::string> wanted, found;
    for (const Feature& feature : model.schema().features) wanted.push_back(feature.name);
    for (const auto& [role, name] : prediction_columns(model.schema().beside))
      wanted.push_back(name);
    const ExportedHeader header = export_header(model, folder / "x.h");
    const std::string text(read_file(folder / "x.h").view());
    for (const auto& [column, field] : header.fields) {
      found.push_back(column);
      EXPECT_THAT(text, HasSubstr(fmt::format(" {} = ", field)));
    }
    EXPECT_EQ(found, wanted);
    most_beside = std::max(most_beside, model.schema().beside.size());
  }
  EXPECT_EQ(most_beside, 2U) << "no model had an exposure and an offset";
}

TEST(Export, RefusesWhatCannotBeMadeAndLeavesNoFile) {
  Random random(1);
  const Model model = random_model(random);
  const TemporaryFolder folder;
  for (const char* name : {"class", "a::b", "2", "_x", "a__b", "a b", "*/"}) {
    EXPECT_THAT(error_of([&] { export_header(model, folder / "x.h", {.name_space = name}); }),
                HasSubstr("wanted an identifier"))
        << name;
  }
  const Model large = lattice_model(random, "cal(2) lin(20) lat(1x20)");
  EXPECT_EQ(export_header(large, folder / "large.h").files.size(), 2U);
  EXPECT_THAT(error_of([&] { export_header(large, folder / "a\"b.h"); }), HasSubstr("no #include"));
  EXPECT_EQ(files_of(folder), (std::set<std::string>{"large.h", "large_numbers.cc"}));
  EXPECT_THAT(error_of([&] { export_header(model, folder / "absent/x.h"); }),
              HasSubstr("No such file"));
  const Model too_large = lattice_model(random, "cal(2) lin(100) lat(5x20) lin(1)");
  EXPECT_THAT(error_of([&] { export_header(too_large, folder / "x.h"); }),
              HasSubstr("a header holds at most 4194304"));
  EXPECT_EQ(files_of(folder).size(), 2U);
}

}  // namespace
}  // namespace espalier
