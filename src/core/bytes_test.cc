// SPDX-License-Identifier: Apache-2.0
#include "core/bytes.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>

#include "support/error_of.h"

namespace espalier {
namespace {

using ::testing::HasSubstr;

const std::string kPlace = "f";

TEST(Bytes, ReadBackAsTheyWerePut) {
  std::string bytes;
  put(bytes, std::uint32_t{7});
  put_text(bytes, "caf\xc3\xa9");
  put_floats(bytes, std::vector<float>{1.5f, -0.0f});
  put_floats(bytes, {});
  put(bytes, 0.1);
  Reader reader(bytes, kPlace, "thing");
  EXPECT_EQ(reader.get<std::uint32_t>("n"), 7u);
  EXPECT_EQ(reader.text("t"), "caf\xc3\xa9");
  EXPECT_EQ(reader.floats("v"), (std::vector<float>{1.5f, -0.0f}));
  EXPECT_TRUE(reader.floats("v").empty());
  EXPECT_EQ(reader.get<double>("x"), 0.1);
  EXPECT_EQ(reader.left(), 0u);
}

TEST(Bytes, ALengthBeyondTheEndIsRefusedBeforeAnythingIsAllocated) {
  for (const std::uint64_t length :
       {std::uint64_t{5}, std::uint64_t{1} << 62, std::numeric_limits<std::uint64_t>::max()}) {
    std::string bytes;
    put(bytes, length);
    bytes += "1234";
    EXPECT_EQ(error_of([&] { Reader(bytes, kPlace, "thing").text("name"); }),
              "f: not a usable thing: it ends within the name");
    EXPECT_EQ(error_of([&] { Reader(bytes, kPlace, "thing").floats("weights"); }),
              "f: not a usable thing: it ends within the weights");
  }
}

TEST(Bytes, AFrameIsRefusedUnlessMagicVersionAndChecksumAreInOrder) {
  std::string good = "MAGIC";
  put(good, std::uint32_t{3});
  put(good, std::uint64_t{42});
  put(good, checksum(good));
  Reader reader(good, kPlace, "thing");
  reader.open_frame("MAGIC", 3);
  EXPECT_EQ(reader.get<std::uint64_t>("n"), 42u);
  EXPECT_EQ(reader.left(), 0u);

  const auto error = [](const std::string& bytes, std::uint32_t version) {
    return error_of([&] { Reader(bytes, kPlace, "thing").open_frame("MAGIC", version); });
  };
  EXPECT_EQ(Reader(good, kPlace, "thing").open_frame("MAGIC", 4), 3u);
  EXPECT_THAT(error(good, 2), HasSubstr("format version 3, this program reads versions 1 to 2"));
  EXPECT_THAT(error(good, 1), HasSubstr("format version 3, this program reads version 1"));
  EXPECT_THAT(error("magic" + good, 3), HasSubstr("does not begin with MAGIC"));
  EXPECT_THAT(error("MAGIC", 3), HasSubstr("cut short"));
  EXPECT_THAT(error(good + "x", 3), HasSubstr("checksum does not match"));
}

}  // namespace
}  // namespace espalier
