// SPDX-License-Identifier: Apache-2.0
#include "kernels/fma_peak.h"

#include "layers/instruction_sets.h"
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/fma_peak.cc"
// clang-format off: the order matters
#include "hwy/foreach_target.h"
#include "layers/v16.h"
// clang-format on

HWY_BEFORE_NAMESPACE();
namespace espalier {
namespace HWY_NAMESPACE {

float run_fma(long rounds) {
  const V16 x = set(0.999f), y = set(1e-3f);
  V16 a = set(1), b = set(2), c = set(3), d = set(4), e = set(5), f = set(6);
  V16 g = set(7), h = set(8), i = set(9), j = set(10), k = set(11), l = set(12);
  for (long round = 0; round < rounds; ++round) {
    for (int n = 0; n < 8; ++n) {
      a = fma(a, x, y), b = fma(b, x, y), c = fma(c, x, y), d = fma(d, x, y);
      e = fma(e, x, y), f = fma(f, x, y), g = fma(g, x, y), h = fma(h, x, y);
      i = fma(i, x, y), j = fma(j, x, y), k = fma(k, x, y), l = fma(l, x, y);
    }
  }
  return sum(((a + b) + (c + d)) + ((e + f) + (g + h)) + ((i + j) + (k + l)));
}

}  // namespace HWY_NAMESPACE
}  // namespace espalier
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace espalier {

HWY_EXPORT(run_fma);
float run_fma(long rounds) { return HWY_DYNAMIC_DISPATCH(run_fma)(rounds); }

}  // namespace espalier
#endif  // HWY_ONCE
