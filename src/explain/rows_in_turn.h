// SPDX-License-Identifier: Apache-2.0
// Processes rows on all threads in parts, and reports progress between the parts.
#pragma once

#include <algorithm>
#include <cstddef>

#include "core/thread_pool.h"

namespace espalier {

/// Calls task(begin, end) for small ranges of rows and, from the calling thread, report(rows done).
template <class Task, class Report>
void rows_in_turn(ThreadPool& pool, std::size_t num_rows, const Task& task, const Report& report) {
  constexpr std::size_t kTaskRows = 4, kTasksBetweenReports = 2;  // per thread
  const std::size_t at_once =
      kTaskRows * kTasksBetweenReports * static_cast<std::size_t>(pool.size());
  for (std::size_t done = 0; done < num_rows;) {
    const std::size_t now = std::min(at_once, num_rows - done);
    pool.run_ranges(now, kTaskRows,
                    [&](std::size_t begin, std::size_t end) { task(done + begin, done + end); });
    done += now;
    report(done);
  }
}

}  // namespace espalier
