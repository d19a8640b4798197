// SPDX-License-Identifier: Apache-2.0
// The processes of mpirun. cli/mpi.cc joins them if the program is built with MPI, else
// cli/no_mpi.cc.
#pragma once

#include <functional>

#include "espalier/ranks.h"

namespace espalier {

/// The rank that a launcher such as mpirun or srun assigned to this process; 0 without a launcher.
int launched_rank();

/// The number of processes of the launcher; 1 without a launcher.
int launched_size();

/// Joins the other processes; null if there are none. Throws Error (unsupported) if there are
/// others but the program is built without MPI: each process would do all the work and write the
/// same files.
Ranks* join_ranks();

/// After success: waits for the other processes.
void leave_ranks();

/// After a failure: ends all processes with this exit code.
void end_ranks(int code);

/// Calls work on one rank after another.
void in_turn(Ranks* ranks, const std::function<void()>& work);

}  // namespace espalier
