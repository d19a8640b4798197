// SPDX-License-Identifier: Apache-2.0
// The program from a synthetic table to a proven model; cli_errors_test.cc has all that may go
// wrong.
#include <signal.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include <cmath>
#include <cstring>

#include "cli_fixture.h"
#include "espalier/options.h"

namespace espalier {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::StartsWith;

TEST_F(Cli, MakesATableTrainsProvesJudgesPredictsAndInspects) {
  make_table(500);
  const Result train = run("train loans.csv -o loans.esp --epochs 5" + kMonotone);
  ASSERT_EQ(train.exit, 0) << train.err;
  EXPECT_THAT(train.out, IsEmpty());
  EXPECT_THAT(train.err, HasSubstr("2 increasing, 2 decreasing"));
  EXPECT_THAT(train.err, HasSubstr("inequalities, 0 violated"));
  EXPECT_THAT(train.err, HasSubstr("loans.esp"));

  const std::string proof = must("verify loans.esp");
  EXPECT_THAT(proof, HasSubstr("debt_ratio, late_payments"));
  EXPECT_THAT(proof, HasSubstr("0 violated, tolerance 0\nhunt: 100000 pairs"));
  EXPECT_THAT(proof, HasSubstr(" 0 fell, largest drop 0\n"));
  EXPECT_THAT(proof, testing::EndsWith(" tree thresholds\nmonotone: proved\n"));
  EXPECT_THAT(must("evaluate loans.esp loans.csv"), HasSubstr("log_loss"));
  EXPECT_THAT(must("inspect loans.esp"), HasSubstr("debt_ratio"));

  const auto predictions = lines_of(must("predict loans.esp loans.csv"));
  ASSERT_EQ(predictions.size(), 501U);
  EXPECT_EQ(predictions[0], "prediction");
  EXPECT_EQ(files(), (std::set<std::string>{"loans.csv", "loans.esp"}));
}

TEST_F(Cli, SpeaksJsonInEveryCommand) {
  EXPECT_EQ(must_json("simulate --rows 300 -o loans.csv")["rows"], 300);
  EXPECT_EQ(must_json("simulate --rows 20")["columns"]["income"].size(), 20U);
  const Json train =
      must_json("train loans.csv -o loans.esp --epochs 3 --ensemble 2 --quiet" + kMonotone);
  EXPECT_EQ(train["history"].size(), 6U);
  EXPECT_EQ(train["best"].size(), 2U);
  EXPECT_EQ(train["options"]["epochs"], 3);
  EXPECT_TRUE(train["metrics"].contains("log_loss"));
  EXPECT_EQ(train["certificate"]["violations"], 0);
  EXPECT_EQ(must_json("verify loans.esp --pairs 0"), train["certificate"]);
  const Json proof = must_json("verify loans.esp --pairs 5000 --seed 9");
  EXPECT_EQ(proof["pairs"], 5000);
  EXPECT_EQ(proof["pair_violations"], 0);
  EXPECT_EQ(proof["largest_drop"], 0);
  EXPECT_EQ(proof["seed"], 9);
  EXPECT_EQ(proof["increasing"], Json::array({"debt_ratio", "late_payments"}));
  EXPECT_EQ(must_json("evaluate loans.esp loans.csv")["rows"], 300);
  EXPECT_EQ(must_json("predict loans.esp loans.csv")["predictions"].size(), 300U);
  EXPECT_EQ(must_json("explain loans.esp loans.csv")["explanations"].size(), 300U);
  EXPECT_EQ(must_json("importance loans.esp loans.csv --shared-rows 9")["shared_rows"], 9);
  EXPECT_TRUE(must_json("inspect loans.esp").is_object());
  EXPECT_EQ(must_json("export loans.esp --to header -o x.h")["fields"].size(), 9U);
  EXPECT_EQ(must_json("report loans.esp loans.csv -o x.html --pairs 100")["rows"], 300);
}

TEST_F(Cli, ReportsAPageWithOrWithoutLabels) {
  make_model();
  const std::string command = "report loans.esp loans.csv --pairs 100 -o ";
  must(command + "report.html --by region");
  EXPECT_THAT(read(path("report.html")), HasSubstr("\"groups\":{\"column\":\"region\""));
  EXPECT_EQ(must(command + "-"), must(command + "- --threads 1"));
  must(
      "predict loans.esp loans.csv --keep income,debt_ratio,late_payments,years_employed,age,"
      "loan_amount,region,purpose,housing -o fresh.csv");
  const Result fresh = run("report loans.esp fresh.csv --pairs 100 -o fresh.html");
  EXPECT_EQ(fresh.exit, 0);
  EXPECT_THAT(fresh.err, HasSubstr("no column 'default', the label"));
  EXPECT_THAT(read(path("fresh.html")), HasSubstr("\"quality\":null"));
  EXPECT_EQ(run("report loans.esp fresh.csv -o x.html --by region").exit, 2);
  EXPECT_EQ(run("report loans.esp loans.csv -o - --json").exit, 2);
  EXPECT_EQ(run("report loans.esp loans.csv -o loans.csv").exit, 2);
  EXPECT_EQ(run("report loans.esp loans.csv").exit, 2);
  EXPECT_FALSE(files().contains("x.html"));
}

TEST_F(Cli, ExportsAHeaderThatPredictsWithoutTheLibrary) {
  make_model();
  const Json exported = must_json("export loans.esp --to header -o risk.h");
  EXPECT_EQ(exported["files"], Json::array({"risk.h"}));
  EXPECT_EQ(exported["namespace"], "risk_model");
  EXPECT_EQ(exported["fields"][0], Json({{"column", "income"}, {"field", "income"}}));
  write("row.csv",
        "income,debt_ratio,late_payments,years_employed,age,loan_amount,region,purpose,"
        "housing\n32100,0.11,0,,,,north,,rent\n");
  write("main.cc", R"(#include <cstdio>
#include "risk.h"
int main() {
  risk_model::Row row;
  row.income = 32100;
  row.debt_ratio = 0.11f;
  row.late_payments = 0;
  row.housing = risk_model::housing_code::rent;
  row.region = risk_model::region_from_string("north");
  std::printf("%.9g", static_cast<double>(risk_model::predict(row)));
}
)");
  const Result built = shell("g++ -std=c++17 -Wall -Wextra -Werror main.cc -o main && ./main");
  ASSERT_EQ(built.exit, 0) << built.err;
  EXPECT_EQ(std::stof(built.out), std::stof(lines_of(must("predict loans.esp row.csv"))[1]));
  EXPECT_EQ(run("export loans.esp --to pmml -o x.h").exit, 2);
  EXPECT_EQ(run("export loans.esp --to header -o -").exit, 2);
  EXPECT_EQ(run("export loans.esp --to header -o x.h --namespace class").exit, 2);
  EXPECT_NE(run("export loans.esp --to header -o loans.esp").exit, 0);
  EXPECT_NE(run("export loans.esp --to header -o absent/x.h").exit, 0);
  EXPECT_EQ(files(), (std::set<std::string>{"loans.csv", "loans.esp", "main", "main.cc", "risk.h",
                                            "row.csv"}));
}

TEST_F(Cli, ListsTheFieldsOfExposureAndOffsetToo) {
  write("claims.csv", "x,claims,years,base\n1,0,1,0\n2,1,0.5,0.1\n3,2,2,0\n4,1,1,0.2\n");
  must(
      "train claims.csv -o claims.esp --label claims --loss poisson --exposure years "
      "--offset base --valid claims.csv --epochs 1 --quiet");
  const Json exported = must_json("export claims.esp --to header -o claims.h");
  EXPECT_EQ(exported["fields"], Json::array({{{"column", "x"}, {"field", "x"}},
                                             {{"column", "years"}, {"field", "years"}},
                                             {{"column", "base"}, {"field", "base"}}}));
}

TEST_F(Cli, ExportsOnnxOrLeavesNoFile) {
  make_model();
  const Json exported = must_json("export loans.esp --to onnx -o risk.onnx");
  EXPECT_EQ(exported["files"], Json::array({"risk.onnx"}));
  EXPECT_EQ(exported["prediction"], "prediction");
  EXPECT_EQ(exported["score"], "score");
  EXPECT_EQ(run("export loans.esp --to onnx -o x.onnx --namespace x").exit, 2);
  EXPECT_NE(run("export loans.esp --to onnx -o loans.esp").exit, 0);
  EXPECT_NE(run("export loans.esp --to onnx -o absent/x.onnx").exit, 0);
  EXPECT_EQ(files(), (std::set<std::string>{"loans.csv", "loans.esp", "risk.onnx"}));
}

// Gives the first two parameters behind the header other values, and the file its checksum.
std::string with_first_parameters(std::string bytes, float first, float second) {
  constexpr std::size_t kLengthAt = 12;  // of the header, behind magic and version
  std::uint64_t header = 0;
  std::memcpy(&header, bytes.data() + kLengthAt, sizeof header);
  char* const parameters = bytes.data() + kLengthAt + 8 + header + 8;
  std::memcpy(parameters, &first, sizeof first);
  std::memcpy(parameters + sizeof first, &second, sizeof second);
  const std::uint64_t sum = XXH64(bytes.data(), bytes.size() - sizeof(std::uint64_t), 0);
  std::memcpy(bytes.data() + bytes.size() - sizeof sum, &sum, sizeof sum);
  return bytes;
}

TEST_F(Cli, VerifyNamesTheCulpritOfAModelThatIsNotMonotone) {
  make_table(200);
  must("train loans.csv -o loans.esp --epochs 1 --architecture calibrated-linear" + kMonotone);
  // The calibrator of income falls from its first keypoint to its second.
  write("loans.esp", with_first_parameters(read(path("loans.esp")), 1, 0));
  const Result proof = run("verify loans.esp");
  EXPECT_EQ(proof.exit, 1);
  EXPECT_THAT(proof.out, HasSubstr("layer 1: cal"));
  EXPECT_THAT(proof.out, HasSubstr("calibrator 0: output 0 is 1, above output 1, 0"));
  EXPECT_THAT(proof.out, HasSubstr("NOT monotone\n"));
  EXPECT_THAT(proof.err, HasSubstr("NOT monotone: 1 of "));
  EXPECT_THAT(run("predict loans.esp loans.csv").err, HasSubstr("it is not monotone"));
}

TEST_F(Cli, GivesTheSameBytesTwiceAndForAnyNumberOfThreads) {
  make_table(700);
  std::set<std::string> models;
  for (const char* threads : {"1", "1", "2", "3", "7"}) {
    must(fmt::format("train loans.csv -o loans.esp --epochs 3 --seed 5 --threads {}", threads) +
         kMonotone);
    models.insert(read(path("loans.esp")));
  }
  EXPECT_EQ(models.size(), 1U);
  must("train loans.csv -o loans.esp --epochs 3 --seed 6" + kMonotone);
  EXPECT_NE(read(path("loans.esp")), *models.begin());
}

TEST_F(Cli, SavesTheBestModelSoFarWhenInterrupted) {
  make_table();
  const pid_t child = start("train loans.csv -o loans.esp --epochs 1000000 --verbose" + kMonotone);
  ASSERT_GE(child, 0);  // kill() takes -1 for every process
  EXPECT_TRUE(
      wait_until([&] { return read(root_ / "err").find("epoch 2/") != std::string::npos; }));
  ::kill(child, SIGINT);
  int status = -1;
  const bool ended = wait_until([&] { return ::waitpid(child, &status, WNOHANG) == child; });
  if (!ended) ::kill(child, SIGKILL);
  ASSERT_TRUE(ended);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0);
  EXPECT_THAT(read(root_ / "err"), HasSubstr("stopped early"));
  EXPECT_THAT(must("verify loans.esp"), HasSubstr("monotone: proved"));
}

TEST_F(Cli, PredictsTheSameInEveryShape) {
  make_model();
  const auto plain = lines_of(must("predict loans.esp loans.csv"));
  EXPECT_EQ(lines_of(must("predict loans.esp - <loans.csv")), plain);
  EXPECT_EQ(lines_of(shell("gzip <loans.csv | '" ESPALIER_BINARY "' predict loans.esp -").out),
            plain);
  EXPECT_THAT(must("predict loans.esp loans.csv -o p.csv"), IsEmpty());
  EXPECT_EQ(lines_of(read(path("p.csv"))), plain);

  const Json object = must_json("predict loans.esp loans.csv");
  const auto scores = lines_of(must("predict loans.esp loans.csv --raw"));
  const auto kept = lines_of(must("predict loans.esp loans.csv --keep default,income"));
  const auto input = lines_of(read(path("loans.csv")));
  EXPECT_EQ(scores[0], "score");
  EXPECT_EQ(kept[0], "default,income,prediction");
  for (std::size_t i = 1; i < plain.size(); ++i) {
    const float prediction = std::stof(plain[i]);
    EXPECT_EQ(fmt::format("{}", prediction), plain[i]);
    EXPECT_EQ(object["predictions"][i - 1].get<float>(), prediction);
    EXPECT_NEAR(1 / (1 + std::exp(-std::stod(scores[i]))), prediction, 1e-6);
    EXPECT_THAT(kept[i], StartsWith(input[i].ends_with("yes") ? "yes," : "no,"));
    EXPECT_TRUE(kept[i].ends_with("," + plain[i]));
  }
}

TEST_F(Cli, PredictsAFolderOfShardsInTheOrderOfTheirNames) {
  make_model();
  const auto rows = lines_of(read(path("loans.csv")));
  fs::create_directory(path("shards"));
  for (int part = 0; part < 3; ++part) {
    std::string text = rows[0] + "\n";
    for (std::size_t i = 1 + static_cast<std::size_t>(part) * 50; i <= (part + 1) * 50U; ++i)
      text += rows[i] + "\n";
    write(fmt::format("shards/part-{}.csv", part), text);
  }
  const auto plain = lines_of(must("predict loans.esp loans.csv"));
  const auto sharded = lines_of(must("predict loans.esp 'shards/part-*.csv'"));
  EXPECT_EQ(sharded, std::vector(plain.begin(), plain.begin() + 151));
  EXPECT_EQ(lines_of(must("predict loans.esp shards")), sharded);
  write("shards/part-1.csv", "a,b\n1,2\n");
  EXPECT_THAT(run("predict loans.esp shards").err, HasSubstr("part-1.csv: no column"));
}

TEST_F(Cli, AnErrorFarDownATableNamesItsLineAndLeavesNoFile) {
  make_model();
  const auto rows = lines_of(read(path("loans.csv")));
  std::string text = rows[0] + "\n";
  while (text.size() < (9U << 20)) text += rows[1] + "\n";  // several pieces
  const auto lines = std::ranges::count(text, '\n');
  write("long.csv", text + "word" + rows[1].substr(rows[1].find(',')) + "\n");
  const Result result = run("predict loans.esp long.csv -o p.csv --threads 2");
  EXPECT_THAT(result.err, HasSubstr(fmt::format("long.csv:{}: column 'income': 'word' is not a "
                                                "number",
                                                lines + 1)));
  EXPECT_FALSE(fs::exists(path("p.csv")));
}

TEST_F(Cli, CopiesLongIdentifiersUnchanged) {
  make_model();
  auto rows = lines_of(read(path("loans.csv")));
  std::string text;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    text += (i == 0 ? "id" : fmt::format("{}", 123456789012345 + i)) + "," + rows[i] + "\n";
  }
  write("ids.csv", text);
  const auto kept = lines_of(must("predict loans.esp ids.csv --keep id"));
  EXPECT_THAT(kept[1], StartsWith("123456789012346,"));
}

TEST_F(Cli, CopiesFeaturesAsTheFileWritesThem) {
  std::string text = "id,y\n";
  for (int i = 0; i < 40; ++i)
    text += fmt::format("{}{},{}\n", i % 2 == 0 ? "0" : "", 16777217 + i, i);
  write("t.csv", text);
  must("train t.csv --label y -o m.esp --epochs 1");
  const auto rows = lines_of(text), kept = lines_of(must("predict m.esp t.csv --keep id"));
  for (std::size_t i = 1; i < rows.size(); ++i)
    EXPECT_EQ(kept[i].substr(0, kept[i].find(',')), rows[i].substr(0, rows[i].find(',')));
}

TEST_F(Cli, NoRoundingMakesTwoClassesOfManyLabels) {
  std::string text = "x,y\n";
  for (int i = 0; i < 200; ++i) text += fmt::format("{},{:.3f}\n", i, 10000000.8 + 0.001 * i);
  write("t.csv", text);
  must("train t.csv --label y -o m.esp --epochs 1");
  EXPECT_EQ(must_json("inspect m.esp")["task"], "regression");
}

// A grade that is called NA: an error says how to read it, and then the order holds.
TEST_F(Cli, AGradeMayBeCalledNa) {
  std::string text = "q,x,y\n";
  const char* grades[] = {"NA", "Po", "TA", "Ex"};
  for (int i = 0; i < 200; ++i)
    text += fmt::format("{},{},{}\n", grades[i % 4], i % 7, i % 4 + i % 7);
  write("t.csv", text);
  const std::string train =
      "train t.csv --label y -o m.esp --epochs 2 --order 'q=NA<Po<TA<Ex' "
      "--increasing q ";
  const Result refused = run(train);
  EXPECT_NE(refused.exit, 0);
  EXPECT_THAT(refused.err, HasSubstr("--not-missing 'q=NA'"));
  must(train + "--not-missing q=NA");
  write("grades.csv", "q,x\nNA,3\nPo,3\nTA,3\nEx,3\n");
  const auto predictions = lines_of(must("predict m.esp grades.csv"));
  for (std::size_t i = 2; i < predictions.size(); ++i)
    EXPECT_LE(std::stof(predictions[i - 1]), std::stof(predictions[i]));
}

TEST_F(Cli, SameNumbersAreTheSameWordsAndUnseenOnesAreNamed) {
  std::string ints = "c,x,y\n", floats = "c,x,y\n", others = "c,x,y\n";
  for (int i = 0; i < 100; ++i) {
    ints += fmt::format("{},{},{}\n", i % 5, i % 9, i % 5 + i % 9);
    floats += fmt::format("{}.0,{},{}\n", i % 5, i % 9, i % 5 + i % 9);
    others += fmt::format("w{},{},{}\n", i % 5, i % 9, i % 5 + i % 9);
  }
  write("ints.csv", ints);
  write("floats.csv", floats);
  write("others.csv", others);
  must("train ints.csv --label y --categorical c -o ints.esp --epochs 2");
  must("train floats.csv --label y --categorical c -o floats.esp --epochs 2");
  EXPECT_EQ(read(path("ints.esp")), read(path("floats.esp")));
  const Result known = run("predict ints.esp floats.csv");
  EXPECT_EQ(known.out, must("predict ints.esp ints.csv"));
  EXPECT_THAT(known.err, IsEmpty());
  const std::string warning = "column 'c': training never saw 100 of 100 words, such as 'w0'";
  EXPECT_THAT(run("predict ints.esp others.csv").err, HasSubstr(warning));
  EXPECT_THAT(run("evaluate ints.esp others.csv").err, HasSubstr(warning));
}

TEST_F(Cli, EvaluateWantsALabelledRow) {
  make_model();
  auto rows = lines_of(read(path("loans.csv")));
  std::string text = rows[0] + "\n";
  for (std::size_t i = 1; i < rows.size(); ++i)
    text += rows[i].substr(0, rows[i].rfind(',') + 1) + "\n";
  write("unlabelled.csv", text);
  const Result result = run("evaluate loans.esp unlabelled.csv");
  EXPECT_NE(result.exit, 0);
  EXPECT_THAT(result.err, HasSubstr("unlabelled.csv: label 'default' is missing in every row"));
}

TEST_F(Cli, ReadsFilesWithoutAHeaderAsAdultHasThem) {
  std::string train;
  for (int i = 0; i < 200; ++i) {
    train += fmt::format("{}, {}, {}, {}\n", 20 + i % 50, i % 3 == 0 ? "?" : "Private",
                         i % 2 == 0 ? "Male" : "Female", i % 50 > 25 ? ">50K" : "<=50K");
  }
  write("adult.data", train);
  write("adult.test", "|1x3 Cross validator\n" + train);
  const std::string layout = " --no-header --columns age,work,sex,income";
  must(
      "train adult.data --label income --positive '>50K' --increasing age,sex --order "
      "'sex=Female<Male'"
      " --epochs 20 -o adult.esp" +
      layout);
  EXPECT_THAT(must("verify adult.esp"), HasSubstr("age, sex"));
  const Json scored = must_json("evaluate adult.esp adult.test --skip-lines 1" + layout);
  EXPECT_EQ(scored["rows"], 200);
  EXPECT_GT(scored["auc"].get<double>(), 0.9);
}

TEST_F(Cli, WarnsOfColumnsThatSayNothing) {
  std::string text = "x,same,empty,y\n";
  for (int i = 0; i < 100; ++i) text += fmt::format("{},7,,{}\n", i, 3 * i);
  write("t.csv", text);
  const Result result = run("train t.csv --label y --epochs 2 -o t.esp --quiet");
  EXPECT_EQ(result.exit, 0) << result.err;
  EXPECT_THAT(result.err, HasSubstr("'same'"));
  EXPECT_THAT(result.err, HasSubstr("'empty'"));
  EXPECT_THAT(result.err, HasSubstr("warning"));
}

TEST_F(Cli, TakesSettingsFromAFileAndFlagsOverrideThem) {
  make_table();
  write("config.json",
        R"({"label": "default", "epochs": 2, "seed": 9, "increasing": ["debt_ratio"]})");
  const Json options =
      must_json("train loans.csv --quiet --epochs 3 --config config.json")["options"];
  EXPECT_EQ(options["epochs"], 3);
  EXPECT_EQ(options["seed"], 9);
  EXPECT_EQ(options["increasing"], Json::array({"debt_ratio"}));
}

TEST_F(Cli, IgnoresTheByteOrderMarksOfConfigurationsAndLists) {
  make_table(60);
  const std::string mark = "\xEF\xBB\xBF";
  write("config.json", mark + R"({"label": "default", "epochs": 2})");
  write("files.txt", mark + "loans.csv\r\n");
  EXPECT_EQ(must_json("train @files.txt --quiet --config config.json")["options"]["epochs"], 2);
  write("config.json", mark);
  EXPECT_EQ(run("train loans.csv --quiet --config config.json").exit, 2);
}

TEST_F(Cli, NamesTheModelAfterTheTable) {
  make_table();
  EXPECT_THAT(run("train loans.csv --label default --epochs 1").err, HasSubstr("loans.esp"));
  must("train - --label default --epochs 1 <loans.csv");
  EXPECT_EQ(files(), (std::set<std::string>{"loans.csv", "loans.esp", "model.esp"}));
}

TEST_F(Cli, ChoosesTheEpochOnAFile) {
  make_table();
  must("simulate --rows 123 --seed 2 -o valid.csv");
  const Json result = must_json("train loans.csv --valid valid.csv --epochs 2 --quiet" + kMonotone);
  EXPECT_EQ(result["train_rows"], 300);
  EXPECT_EQ(result["valid_rows"], 123);
}

TEST_F(Cli, SaysALineAnEpochOnlyIfAsked) {
  make_table();
  EXPECT_THAT(run("train loans.csv --epochs 2 --verbose" + kMonotone).err, HasSubstr("epoch 2/2"));
  EXPECT_THAT(run("train loans.csv --epochs 2" + kMonotone).err, Not(HasSubstr("epoch 2/2")));
  EXPECT_THAT(run("train loans.csv --epochs 2 --quiet" + kMonotone).err, IsEmpty());
}

TEST_F(Cli, ExplainsItselfOnStandardOutput) {
  EXPECT_THAT(must("--version"), StartsWith("espalier "));
  EXPECT_THAT(must("--help"), HasSubstr("simulate"));
  const std::string help = must("train --help"), all = must("train --help-all");
  EXPECT_THAT(help, HasSubstr("--label"));
  EXPECT_THAT(help, HasSubstr("espalier train --help-all prints"));
  EXPECT_THAT(help, Not(HasSubstr("--learning-rate")));
  EXPECT_THAT(all, HasSubstr("--learning-rate NUMBER"));
  EXPECT_THAT(all, HasSubstr("or auto; default auto"));
  for (const std::string& line : lines_of(all)) EXPECT_LE(line.size(), 100U) << line;
}

TEST_F(Cli, NoRequiredFlagHasADefault) {
  for (const char* const command : {"evaluate", "explain", "export", "importance", "inspect",
                                    "predict", "report", "simulate", "train", "tune", "verify"}) {
    const std::string all = std::string(command) + (command[0] == 't' ? " --help-all" : " --help");
    std::string entry;  // of one flag, which may take several lines
    for (const std::string& line : lines_of(must(all))) {
      if (line.starts_with("  -")) entry.clear();
      entry += line;
      EXPECT_FALSE(entry.find("REQUIRED") != entry.npos && entry.find("default ") != entry.npos)
          << command << ": " << entry;
    }
  }
}

TEST_F(Cli, TuneShowsTheBestTrialsBesideTheDefaultsAndSavesTheBest) {
  make_table();
  const std::string args =
      "tune loans.csv -o best.esp --trials 8 --epochs 9 --ensemble 1 --trees 0" + kMonotone;
  const Json tuned = must_json(args);
  EXPECT_EQ(tuned["trials"].size(), 8u);
  EXPECT_EQ(tuned["defaults"]["trial"], 1);
  EXPECT_LE(tuned["best"]["confirmed"].get<double>(), tuned["defaults"]["confirmed"].get<double>());
  EXPECT_EQ(tuned["best"], tuned["trials"][0]);
  EXPECT_NEAR(tuned["trained"]["metrics"]["log_loss"].get<double>(),
              tuned["best"]["value"].get<double>(), 1e-5);
  must("verify best.esp");

  const Result shown = run(args);
  EXPECT_THAT(shown.err, HasSubstr("confirmed"));
  EXPECT_THAT(shown.err, HasSubstr("the defaults"));
  EXPECT_THAT(shown.err, Not(HasSubstr("\x1b")));
  // The flags that it names train the same model.
  const std::vector<std::string> lines = lines_of(shown.err);
  const auto flags = std::ranges::find_if(
      lines, [](const std::string& line) { return line.starts_with("flags"); });
  ASSERT_NE(flags, lines.end());
  must("train loans.csv -o again.esp --epochs 9" + kMonotone + flags->substr(5));
  EXPECT_EQ(read(path("again.esp")), read(path("best.esp")));
}

}  // namespace
}  // namespace espalier
