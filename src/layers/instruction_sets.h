// SPDX-License-Identifier: Apache-2.0
// Which instruction sets kernels are compiled for; included before Highway's foreach_target.h. The
// SSE targets have no fused multiply-add, so they would give other bits. On arm64, where every CPU
// has it, V16 is a plain array, of which compilers make NEON: Highway's vectors of four have
// constructors that GCC does not inline into structs, and those of SVE have no size.
#pragma once

#undef HWY_DISABLED_TARGETS
#define HWY_DISABLED_TARGETS \
  (HWY_SSSE3 | HWY_SSE4 | HWY_NEON | HWY_SVE | HWY_SVE2 | HWY_SVE_256 | HWY_SVE2_128)
