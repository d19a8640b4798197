// SPDX-License-Identifier: Apache-2.0
// Independent jobs on threads of their own. What a job has to say is run by the thread that waits
// for all jobs, one message after another, so that callbacks of users come from their own thread
// and the state of the session needs no lock. A thread that waits sleeps.
#pragma once

#include <functional>
#include <stop_token>

namespace espalier {

/// Runs a message on the thread that called run_side_by_side.
using Post = std::function<void(std::function<void()>)>;

/// Calls job(0), ..., job(count - 1), as many at a time as there are workers, and returns when all
/// are done. One worker is the calling thread. If a message or a job throws, `stop` is requested,
/// no other job starts, and the first exception is rethrown: that of a message, else of the lowest
/// job.
void run_side_by_side(int count, int workers, std::stop_source& stop,
                      const std::function<void(int, const Post&)>& job);

}  // namespace espalier
