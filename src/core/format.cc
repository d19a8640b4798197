// SPDX-License-Identifier: Apache-2.0
// The only file that compiles fmt. With FMT_HEADER_ONLY every file would compile it again, which
// takes most of the build time.
#include <fmt/format-inl.h>

template char fmt::detail::decimal_point_impl<char>(fmt::detail::locale_ref);
template auto fmt::detail::thousands_sep_impl<char>(fmt::detail::locale_ref)
    -> fmt::detail::thousands_sep_result<char>;
