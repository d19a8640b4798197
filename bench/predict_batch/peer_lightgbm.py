# SPDX-License-Identifier: Apache-2.0
# Nanoseconds a row for many rows, one thread.
#   peer_lightgbm.py FOLDER ROWS
import sys

import peers
import trees

lightgbm = peers.require("lightgbm")
data = peers.Data(sys.argv[1])
booster, _ = trees.fit_lightgbm(lightgbm, data, 1)
x, y = data.parts["test"]
rows = peers.repeated(x, int(sys.argv[2]))
seconds = peers.median_seconds(5, lambda: booster.predict(rows, num_threads=1))
peers.report(contender="lightgbm", value=seconds / len(rows) * 1e9, unit="ns/row",
             log_loss=peers.log_loss(y, booster.predict(x)), trees=booster.best_iteration,
             version=peers.version("lightgbm"))
