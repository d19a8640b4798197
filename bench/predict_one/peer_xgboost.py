# SPDX-License-Identifier: Apache-2.0
# Nanoseconds for one row at a time from Python, one thread, by inplace_predict.
#   peer_xgboost.py FOLDER
import sys

import peers
import trees

ROWS = 500

xgboost = peers.require("xgboost")
data = peers.Data(sys.argv[1])
booster, _ = trees.fit_xgboost(xgboost, data, 1)
booster.set_param({"nthread": 1})
x, y = data.parts["test"]
rows = [x[i:i + 1] for i in range(ROWS)]
seconds = peers.median_seconds(
    5, lambda: [booster.inplace_predict(row, validate_features=False) for row in rows])
peers.report(contender="xgboost", value=seconds / ROWS * 1e9, unit="ns/row",
             log_loss=peers.log_loss(y, booster.inplace_predict(x)),
             trees=booster.num_boosted_rounds(), version=peers.version("xgboost"))
