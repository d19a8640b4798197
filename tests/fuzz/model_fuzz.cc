// SPDX-License-Identifier: Apache-2.0
// A model file. The target makes the checksum right, or nothing would get past it. What loads must
// predict, and whether it loads is what the proof says. What can be read keeps its bytes when it is
// saved again.
#define XXH_INLINE_ALL
#include <xxhash.h>

#include <cmath>
#include <cstring>
#include <limits>

#include "espalier/certificate.h"
#include "espalier/inspect.h"
#include "espalier/model.h"
#include "fuzz/fuzz.h"
#include "model/model_file.h"
#include "support/schema_rows.h"

extern "C" std::size_t LLVMFuzzerMutate(std::uint8_t* data, std::size_t size, std::size_t max_size);

namespace espalier::fuzz {

constexpr std::size_t kSumSize = 8;
constexpr std::size_t kLengthAt = 12;  // of the length of the header, behind magic and version
constexpr std::size_t kHeaderAt = 20;

void repair_checksum(std::string& bytes) {
  if (bytes.size() < kSumSize) return;
  const std::uint64_t sum = XXH64(bytes.data(), bytes.size() - kSumSize, 0);
  std::memcpy(bytes.data() + bytes.size() - kSumSize, &sum, kSumSize);
}

void predict_rows(const Model& model) {
  const Table rows = schema_rows(model.schema());
  for (const float value : model.predict(rows, Output::prediction, 1)) require(!std::isnan(value));
}

std::shared_ptr<const ModelData> parse(const std::string& bytes, Inequalities inequalities) {
  std::shared_ptr<const ModelData> data;
  accepts(
      [&] { data = std::make_shared<const ModelData>(parse_model(bytes, "m.esp", inequalities)); });
  return data;
}

void try_load(const std::string& bytes) {
  const auto data = parse(bytes, Inequalities::must_hold);
  if (data != nullptr) predict_rows(Model(data));
}

void try_verify(const std::string& bytes) {
  const auto data = parse(bytes, Inequalities::may_fail);
  if (data == nullptr) return;
  const Model model(data);
  const bool loads = parse(bytes, Inequalities::must_hold) != nullptr;
  require(verify(model).holds() == loads);
  const std::string saved = format_model(*data);
  require(format_model(parse_model(saved, "m.esp", Inequalities::may_fail)) == saved);
  if (loads) inspect_text(model);
}

// Puts an awkward float in the place of one behind the header; floats begin at a multiple of 4
// there.
void put_float(std::uint8_t* begin, std::size_t size, unsigned seed) {
  using Limits = std::numeric_limits<float>;
  constexpr float kFloats[] = {0,
                               1,
                               -1,
                               0.5f,
                               Limits::max(),
                               -Limits::max(),
                               Limits::denorm_min(),
                               0x1p60f,
                               Limits::infinity(),
                               Limits::quiet_NaN()};
  if (size < sizeof(float)) return;
  const float value = kFloats[seed % std::size(kFloats)];
  std::memcpy(begin + seed / std::size(kFloats) % (size / 4) * 4, &value, sizeof value);
}

std::size_t mutate_header(std::uint8_t* data, std::size_t size, std::size_t max_size,
                          std::uint64_t header) {
  std::uint8_t* begin = data + kHeaderAt;
  const std::string rest(begin + header, data + size);
  const std::size_t room = max_size - kHeaderAt - rest.size();
  if (room == 0) return LLVMFuzzerMutate(data, size, max_size);
  const std::uint64_t length = LLVMFuzzerMutate(begin, header, room);
  std::memcpy(begin + length, rest.data(), rest.size());
  std::memcpy(data + kLengthAt, &length, sizeof length);
  return kHeaderAt + length + rest.size();
}

// Changes the header alone, with its length kept true, or what comes behind it, or anything.
std::size_t mutate(std::uint8_t* data, std::size_t size, std::size_t max_size, unsigned seed) {
  std::uint64_t header = 0;
  if (size >= kHeaderAt) std::memcpy(&header, data + kLengthAt, sizeof header);
  if (size < kHeaderAt || header > size - kHeaderAt || seed % 8 == 0)
    return LLVMFuzzerMutate(data, size, max_size);
  if (seed % 2 == 0) return mutate_header(data, size, max_size, header);
  const std::size_t begin = kHeaderAt + header;
  if (seed % 4 == 1) {
    put_float(data + begin, size - begin, seed / 8);
    return size;
  }
  if (begin == max_size) return LLVMFuzzerMutate(data, size, max_size);
  return begin + LLVMFuzzerMutate(data + begin, size - begin, max_size - begin);
}

}  // namespace espalier::fuzz

extern "C" std::size_t LLVMFuzzerCustomMutator(std::uint8_t* data, std::size_t size,
                                               std::size_t max_size, unsigned seed) {
  return espalier::fuzz::mutate(data, size, max_size, seed);
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  std::string bytes(espalier::fuzz::text_of(data, size));
  espalier::fuzz::repair_checksum(bytes);
  espalier::fuzz::try_load(bytes);
  // Slow, so only for every fourth input. The checksum chooses: the same input is always the same.
  if (size > 0 && bytes.back() % 4 == 0) espalier::fuzz::try_verify(bytes);
  return 0;
}
