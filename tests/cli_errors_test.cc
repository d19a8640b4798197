// SPDX-License-Identifier: Apache-2.0
// What the program does with bad tables, settings and files: a clear message, exit code 1 or 2, and
// no file left behind.
#include <algorithm>
#include <span>

#include "cli_fixture.h"
#include "support/effort.h"

namespace espalier {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::StartsWith;

struct BadInput {
  std::string args;
  int exit;
  std::vector<std::string> words;  // what the message must say
};

class CliErrors : public Cli {
 protected:
  // Each must fail with its exit code and words, print no data and leave no file behind.
  void expect_refused(std::span<const BadInput> table) const {
    const auto before = files();
    for (const BadInput& bad : table) {
      const Result result = run(bad.args);
      SCOPED_TRACE(bad.args + "\n" + result.err);
      EXPECT_EQ(result.exit, bad.exit);
      EXPECT_THAT(result.out, IsEmpty());
      EXPECT_THAT(result.err, StartsWith("espalier: "));
      for (const std::string& word : bad.words) EXPECT_THAT(result.err, HasSubstr(word));
      EXPECT_EQ(files(), before);
    }
  }
};

TEST_F(CliErrors, FailsWhenStandardOutputIsFullAndEndsQuietlyWhenItsReaderLeaves) {
  const std::string program = "'" ESPALIER_BINARY "' simulate --rows 20000 ";
  const Result full = shell(program + ">/dev/full");
  EXPECT_EQ(full.exit, 1);
  EXPECT_THAT(full.err, HasSubstr("standard output"));
  const Result piped = shell(program + "| head -n 1");
  EXPECT_EQ(piped.exit, 0);
  EXPECT_THAT(piped.err, IsEmpty());
}

TEST_F(CliErrors, RefusesAModelFileCutShortOrAltered) {
  make_model();
  const std::string good = read(path("loans.esp"));
  for (int part = 0; part < 12; part += effort(2, 5)) {
    const std::size_t place = good.size() * static_cast<std::size_t>(part) / 12;
    std::string altered = good;
    altered[place] = static_cast<char>(altered[place] ^ 4);
    for (const std::string& bad : {good.substr(0, place), altered, good + "x"}) {
      write("bad.esp", bad);
      for (const char* args :
           {"verify bad.esp", "inspect bad.esp", "predict bad.esp loans.csv -o p.csv"}) {
        const Result result = run(args);
        EXPECT_EQ(result.exit, 1) << args << " at " << place;
        EXPECT_THAT(result.err, StartsWith("espalier: bad.esp"));
        EXPECT_THAT(result.out, IsEmpty());
        EXPECT_FALSE(fs::exists(path("p.csv")));
      }
    }
  }
}

TEST_F(CliErrors, RefusesBadTables) {
  std::string good = "a,b,c,y\n";
  std::string wide = "y";
  for (int i = 0; i < 60; ++i) wide += fmt::format(",x{}", i);
  wide += "\n";
  for (int i = 0; i < 50; ++i) {
    good +=
        fmt::format("{},{},{},{}\n", i, i % 7, i % 2 == 0 ? "u" : "v", i % 3 == 0 ? "no" : "yes");
    wide += fmt::format("{}", i % 2);
    for (int j = 0; j < 60; ++j) wide += fmt::format(",{}", i * (j + 1) % 61);
    wide += "\n";
  }
  write("good.csv", good);
  write("wide.csv", wide);
  write("empty.csv", "");
  write("header.csv", "a,b,y\n");
  write("binary.csv", std::string("\x7f\x45\x4c\x46\0\1\2\3\0\0\xff\xfe\n", 13));
  write("ragged.csv", "a,y\n1,0\n2,1,9\n3,1\n");
  write("twice.csv", "a,a,y\n1,2,0\n3,4,1\n");
  write("words.csv", "a,y\n1,0\nabc,1\n3,1\n");
  write("one.csv", "a,y\n1,no\n2,no\n3,no\n");
  fs::create_directory(path("folder"));
  const std::string y = " --label y";
  const std::string train = "train -o model.esp ";
  const BadInput table[] = {
      {train + "nofile.csv" + y, 1, {"nofile.csv"}},
      {train + "empty.csv" + y, 1, {"empty.csv"}},
      {train + "header.csv" + y, 1, {"header.csv", "no rows"}},
      {train + "binary.csv" + y, 1, {"binary.csv"}},
      {train + "folder" + y, 1, {"folder", "the folder has no files"}},
      {train + "ragged.csv" + y, 1, {"ragged.csv:3", "3", "2"}},
      {train + "twice.csv" + y, 1, {"twice.csv", "'a'"}},
      {train + "words.csv --numerical a" + y,
       1,
       {"words.csv:3: column 'a': 'abc' is not a number"}},
      {train + "one.csv --task classification" + y, 1, {"one.csv", "'no'"}},
      {train + "good.csv --label z", 1, {"'z'"}},
      {train + "good.csv --increasing nope" + y, 2, {"increasing", "'nope'"}},
      {train + "good.csv --increasing ''" + y, 2, {"increasing", "no column ''"}},
      {train + "good.csv --decreasing a,,b" + y, 2, {"decreasing", "no column ''"}},
      {train + "good.csv --order '=u<v'" + y, 2, {"order", "no column ''"}},
      {train + "words.csv --task regression --label a", 1, {"label 'a'", "such as 'abc'"}},
      {train + "good.csv --increasing a --decreasing b,a" + y,
       2,
       {"increasing", "decreasing", "'a'"}},
      {train + "good.csv --increasing c" + y, 2, {"'c'", "order"}},
      {train + "good.csv --positive maybe" + y, 2, {"'maybe'"}},
      {train + "good.csv --weight nope" + y, 1, {"'nope'"}},
      {train + "good.csv --drop nope" + y, 1, {"'nope'"}},
      {train + "good.csv --categorical nope" + y, 1, {"'nope'"}},
      {train + "good.csv --valid nofile.csv" + y, 1, {"nofile.csv"}},
      {train + "good.csv --valid words.csv" + y, 1, {"words.csv"}},
      {train + "wide.csv --architecture calibrated-lattice" + y, 2, {"60"}},
  };
  expect_refused(table);
}

TEST_F(CliErrors, RefusesBadSettings) {
  make_table(50);
  const std::string good = "train loans.csv --label default ";
  write("broken.json", "{\"epochs\": ");
  write("unknown.json", "{\"epoch\": 3}");
  write("twice.json", "{\"epochs\": 3, \"seed\": 1, \"epochs\": 4}");
  write("typed.json", "{\"epochs\": \"many\"}");
  const BadInput table[] = {
      {"", 2, {"command"}},
      {"trian loans.csv", 2, {"'trian'", "train"}},
      {"train", 2, {"DATA"}},
      {"train loans.csv", 2, {"--label"}},
      {good + "--epoch 3", 2, {"--epoch;", "--epochs"}},
      {good + "--learning_rate 3", 2, {"--learning_rate", "--learning-rate"}},
      {good + "surplus", 2, {"'surplus'"}},
      {good + "--epochs -3", 2, {"--epochs", "'-3'", "from 1", "or auto"}},
      {good + "--epochs 2.5", 2, {"--epochs", "'2.5'", "whole"}},
      {good + "--epochs", 2, {"--epochs"}},
      {good + "--learning-rate nan", 2, {"--learning-rate", "'nan'"}},
      {good + "--learning-rate inf", 2, {"--learning-rate", "'inf'"}},
      {good + "--weight-decay=-2", 2, {"--weight-decay", "'-2'"}},
      {good + "--seed -1", 2, {"--seed", "'-1'"}},
      {good + "--threads 100000", 2, {"--threads", "1024"}},
      {good + "--task guess", 2, {"--task", "'guess'", "classification, regression"}},
      {good + "--architecture 'cal(5) foo(3) lin(1)'", 2, {"foo"}},
      {good + "--architecture 'cal(5'", 2, {"cal"}},
      {good + "--order income", 2, {"order", "income"}},
      {good + "--delimiter abc", 2, {"--delimiter", "'abc'"}},
      {good + "--no-header", 2, {"--columns"}},
      {good + "--categorical income --numerical income", 2, {"'income'"}},
      {good + "--config nofile.json", 1, {"nofile.json"}},
      {good + "--config broken.json", 2, {"broken.json"}},
      {good + "--config unknown.json", 2, {"unknown.json", "epoch"}},
      {good + "--config typed.json", 2, {"typed.json", "epochs"}},
      {good + "--config twice.json", 2, {"twice.json", "\"epochs\"", "twice"}},
      {good + "--adam-epsilon 1e-300", 2, {"--adam-epsilon", "1e-300", "1e-20"}},
      {good + "--epochs 2 --epochs 3", 2, {"--epochs is given 2 times; wanted once"}},
      {good + "-o a.esp -o b.esp", 2, {"--output is given 2 times"}},
      {good + "--config typed.json --config typed.json", 2, {"--config is given 2 times"}},
      {good + "-o nowhere/model.esp", 1, {"nowhere"}},
      {good + "-o loans.csv", 2, {"-o", "loans.csv", "the training data"}},
      {good + "-o .", 1, {"directory"}},
      {good + "-o -", 2, {"standard output"}},
      {"simulate --rows 0", 2, {"--rows", "'0'"}},
      {"simulate --missing nan", 2, {"--missing", "'nan'"}},
      {"simulate -o nowhere/t.csv", 1, {"nowhere"}},
      {"verify nofile.esp", 1, {"nofile.esp"}},
      {"inspect loans.csv", 1, {"loans.csv"}},
      {"predict loans.csv", 2, {"DATA"}},
  };
  expect_refused(table);
}

TEST_F(CliErrors, RefusesTablesThatDoNotFitTheModel) {
  make_model();
  write("narrow.csv", "income,default\n1,no\n2,yes\n");
  std::string text = read(path("loans.csv"));
  must("predict loans.esp loans.csv --keep default -o kept.csv");
  std::string header = lines_of(text)[0];
  std::string words = header + "\n";
  for (char& c : header) words += c == ',' ? "x," : "";
  write("words.csv", words + "x\n");
  const BadInput table[] = {
      {"predict loans.esp narrow.csv -o p.csv", 1, {"narrow.csv", "no column"}},
      {"evaluate loans.esp kept.csv", 1, {"kept.csv"}},
      {"predict loans.esp words.csv -o p.csv", 1, {"words.csv:2", "'x' is not a number"}},
      {"evaluate loans.esp words.csv", 1, {"words.csv"}},
      {"report loans.esp narrow.csv -o r.html", 1, {"narrow.csv", "no column"}},
      {"report loans.esp words.csv -o r.html", 1, {"words.csv:2", "'x' is not a number"}},
      {"report loans.esp loans.csv -o r.html --by agee", 1, {"'agee'", "did you mean 'age'"}},
      {"predict loans.esp loans.csv --keep nope -o p.csv", 1, {"'nope'"}},
      {"predict loans.esp loans.csv --keep prediction -o p.csv", 2, {"--keep", "'prediction'"}},
      {"predict loans.esp loans.csv --raw --keep age,score", 2, {"--keep", "'score'"}},
      {"predict loans.esp loans.csv --keep age,income,age", 2, {"--keep", "'age'", "twice"}},
      {"predict loans.esp loans.csv -o loans.esp", 2, {"-o", "loans.esp", "the model"}},
      {"predict loans.esp nofile.csv -o p.csv", 1, {"nofile.csv"}},
  };
  expect_refused(table);
}

TEST_F(CliErrors, RefusesNegativeNumbersWhereAutoLetsTrainingChoose) {
  make_table(60);
  const std::string train = "train loans.csv --label default --epochs 1 ";
  for (const std::string name : {"tree_share", "weight_decay", "calibrator_hessian"}) {
    std::string flag = "--" + name;
    std::ranges::replace(flag, '_', '-');
    write("config.json", "{\"" + name + "\": -0.5}");
    const BadInput bad[] = {
        {train + flag + " -0.5", 2, {flag + ": '-0.5' is not a number from 0 to", "or auto"}},
        {train + "--config config.json", 2, {name + ": -0.5 is not between 0 and", "or auto"}}};
    expect_refused(bad);
  }
}

TEST_F(CliErrors, WarnsOfValidationRowsThatAreTrainingRows) {
  make_table(200);
  fs::create_directory(path("parts"));
  fs::copy(path("loans.csv"), path("parts/a.csv"));
  must("simulate --rows 50 --seed 5 -o parts/b.csv");
  fs::create_hard_link(path("parts/b.csv"), path("link.csv"));
  const std::string flags =
      " --label default --epochs 1 --architecture calibrated-linear --quiet -o m.esp --valid ";
  const std::string file = "has a file of the training data", rows = "validation rows equal";
  const auto warnings = [&](const std::string& args) {
    const Result result = run("train " + args);
    EXPECT_EQ(result.exit, 0) << result.err;
    return result.err;
  };
  EXPECT_THAT(warnings("loans.csv" + flags + "loans.csv"), AllOf(HasSubstr(file), HasSubstr(rows)));
  EXPECT_THAT(warnings("parts" + flags + "link.csv"), AllOf(HasSubstr(file), HasSubstr(rows)));
  EXPECT_THAT(warnings("parts" + flags + "loans.csv"),
              AllOf(Not(HasSubstr(file)), HasSubstr(rows)));
  EXPECT_THAT(warnings("loans.csv" + flags + "parts/b.csv"),
              AllOf(Not(HasSubstr(file)), Not(HasSubstr(rows))));
  EXPECT_THAT(warnings("loans.csv --verbose --trees 0 --tree-share 1" + flags + "parts/b.csv"),
              AllOf(HasSubstr("--verbose: no effect in this run: --quiet is given"),
                    HasSubstr("tree_share: no effect in this run: trees is 0")));
}

TEST_F(CliErrors, RefusesSearchesThatCannotBe) {
  make_table();
  write("other.jsonl", "income,age\n");
  const std::string tune = "tune loans.csv --label default ";
  const BadInput bad[] = {
      {tune + "--search learning_rate=1:0.1", 2, {"search", "begins above its end"}},
      {tune + "--search lattices=1:2,learning_rat=1:2", 2, {"did you mean 'learning_rate'"}},
      {tune + "--search lattice_size=2:20,lattices=1:1000", 2, {"largest network", "parameters"}},
      {tune + "--fix lattice", 2, {"did you mean 'lattices'"}},
      {tune + "--trials -1", 2, {"--trials", "from 0"}},
      {tune + "--folds 1", 2, {"folds"}},
      {tune + "--folds 3 --valid loans.csv", 2, {"folds"}},
      {tune + "--valid-fraction 0", 2, {"valid_fraction"}},
      {tune + "--results absent/runs.jsonl", 1, {"absent/runs.jsonl", "no folder"}},
      {tune + "--results loans.csv", 2, {"--results", "the training data"}},
      {tune + "--results other.jsonl", 1, {"other.jsonl:1", "not JSON"}},
      {tune + "--search 'architecture=dln:cal(9) lin(4,split) latt(2x2) lin(1)'",
       2,
       {"'latt(2x2)'", "did you mean 'lat'"}},
      {"tune loans.csv", 2, {"--label is missing"}},
  };
  expect_refused(bad);
}

}  // namespace
}  // namespace espalier
