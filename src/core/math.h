// SPDX-License-Identifier: Apache-2.0
// exp, log and cos with the same bits on every CPU. The C library selects implementations by CPU,
// which differ in the last bit. These functions only use +, -, *, / in a fixed order.
#pragma once

namespace espalier {

// Within 1 ulp; increasing in x. exp(-inf) is 0; exp(inf) and overflow are inf.
double portable_exp(double x) noexcept;

// Within 1 ulp. log(0) is -inf; NaN for negative numbers.
double portable_log(double x) noexcept;

// Within 1e-15 for |x| <= 2 pi; the error grows with |x|. NaN for |x| > 1e5.
double portable_cos(double x) noexcept;

}  // namespace espalier
