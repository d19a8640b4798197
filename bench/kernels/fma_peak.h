// SPDX-License-Identifier: Apache-2.0
// The most fused multiply-adds that one core does with the instructions that the kernels use.
#pragma once

namespace espalier {

/// Runs `rounds` of 1536 multiply-adds of single floats in independent registers; the result only
/// keeps the compiler from dropping them.
float run_fma(long rounds);
inline constexpr double kFmaFlopsARound = 2 * 1536;

}  // namespace espalier
