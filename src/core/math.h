// SPDX-License-Identifier: Apache-2.0
// exp, log and cos with the same bits on every CPU. The C library picks its versions by CPU, and
// with them the last bit changes; these use only +, -, *, / in a fixed order.
#pragma once

namespace espalier {

// Within 1 ulp; rises (never falls) with x. exp(-inf) is 0, exp(inf) and overflow are inf.
double portable_exp(double x) noexcept;

// Within 1 ulp. log(0) is -inf, of a negative number NaN.
double portable_log(double x) noexcept;

// Within 1e-15 for |x| <= 2 pi, the error growing with |x|; NaN where |x| > 1e5.
double portable_cos(double x) noexcept;

}  // namespace espalier
