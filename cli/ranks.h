// SPDX-License-Identifier: Apache-2.0
// The processes that mpirun starts. cli/mpi.cc joins them, where the program is built with MPI;
// cli/no_mpi.cc is its stand-in elsewhere.
#pragma once

#include <functional>

#include "espalier/ranks.h"

namespace espalier {

/// The rank that a launcher, mpirun or srun, has given this process; 0 if there is none.
int launched_rank();

/// How many processes it has started; 1 if there is none.
int launched_size();

/// Joins the other processes; null if this one is alone. Throws Error (unsupported) if it is not
/// and the program is built without MPI: each would do all the work and write the same files.
Ranks* join_ranks();

/// At a good end: waits for the others, if this process has joined them.
void leave_ranks();

/// At a bad one: ends them, and this process with the code, if it has joined them.
void end_ranks(int code);

/// Calls work on one rank after the other.
void in_turn(Ranks* ranks, const std::function<void()>& work);

}  // namespace espalier
