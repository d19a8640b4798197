// SPDX-License-Identifier: Apache-2.0
#include "espalier/error.h"
#include "ranks.h"

namespace espalier {

Ranks* join_ranks() {
  if (launched_size() == 1) return nullptr;
  throw Error(ErrorKind::unsupported,
              "several processes were started together, and this program was built without MPI: "
              "`make build MPI=ON` builds one that trains on all of them");
}

void leave_ranks() {}

void end_ranks(int) {}

}  // namespace espalier
