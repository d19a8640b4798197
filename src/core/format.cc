// SPDX-License-Identifier: Apache-2.0
// The one place where fmt is compiled. Its headers declare what this file defines; with
// FMT_HEADER_ONLY every file would compile all of it again, which takes most of the time of a
// build.
#include <fmt/format-inl.h>

template char fmt::detail::decimal_point_impl<char>(fmt::detail::locale_ref);
template auto fmt::detail::thousands_sep_impl<char>(fmt::detail::locale_ref)
    -> fmt::detail::thousands_sep_result<char>;
