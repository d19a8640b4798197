# SPDX-License-Identifier: Apache-2.0
# Nanoseconds a row for many rows, one thread, by inplace_predict.
#   peer_xgboost.py FOLDER ROWS
import sys

import peers
import trees

xgboost = peers.require("xgboost")
data = peers.Data(sys.argv[1])
booster, _ = trees.fit_xgboost(xgboost, data, 1)
booster.set_param({"nthread": 1})
x, y = data.parts["test"]
rows = peers.repeated(x, int(sys.argv[2]))
seconds = peers.median_seconds(5, lambda: booster.inplace_predict(rows))
peers.report(contender="xgboost", value=seconds / len(rows) * 1e9, unit="ns/row",
             log_loss=peers.log_loss(y, booster.inplace_predict(x)),
             trees=booster.num_boosted_rounds(), version=peers.version("xgboost"))
