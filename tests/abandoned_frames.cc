// SPDX-License-Identifier: Apache-2.0
// Frees the stack frames that exceptions leave behind under the address sanitizer.
//
// To find uses of a variable after its function has returned, the sanitizer keeps frames in a table
// of fixed size. An exception skips the code that gives a frame back. Tests of hostile files throw
// tens of thousands of times; once the table is full, every call in the process searches all of it,
// and the tests take ten times as long. The sanitizer reclaims frames below the current one at the
// first call after an exception, so this listener announces one after each test, far up the stack.
#include <gtest/gtest.h>

#if defined(__has_feature)
#if __has_feature(address_sanitizer)
#define ESPALIER_ADDRESS_SANITIZER
#endif
#endif
#if defined(__SANITIZE_ADDRESS__)
#define ESPALIER_ADDRESS_SANITIZER
#endif

#ifdef ESPALIER_ADDRESS_SANITIZER
#include <sanitizer/asan_interface.h>

namespace {

// The call after the announcement: a function with a frame in the sanitizer's table.
[[gnu::noinline]] void reclaim() {
  volatile char frame[8] = {};
  volatile char* const escaped = frame;
  escaped[0] = 1;
}

class ReclaimsFrames : public testing::EmptyTestEventListener {
  void OnTestEnd(const testing::TestInfo&) override {
    __asan_handle_no_return();
    reclaim();
  }
};

[[maybe_unused]] const bool is_registered = [] {
  testing::UnitTest::GetInstance()->listeners().Append(new ReclaimsFrames);
  return true;
}();

}  // namespace
#endif
