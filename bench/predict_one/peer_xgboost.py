# SPDX-License-Identifier: Apache-2.0
# Nanoseconds for one row at a time from Python, one thread, by inplace_predict.
#   peer_xgboost.py FOLDER
import itertools
import sys

import peers
import trees

ROWS = 500

xgboost = peers.require("xgboost")
data = peers.Data(sys.argv[1])
booster, _ = trees.fit_xgboost(xgboost, data, 1)
booster.set_param({"nthread": 1})
x, y = data.parts["test"]
rows = itertools.cycle([x[i:i + 1] for i in range(ROWS)])
seconds = peers.median_seconds(
    4 * ROWS, lambda: booster.inplace_predict(next(rows), validate_features=False))
peers.report(contender="xgboost", value=seconds * 1e9, unit="ns/row",
             log_loss=peers.log_loss(y, booster.inplace_predict(x)),
             trees=booster.num_boosted_rounds(), version=peers.version("xgboost"))
