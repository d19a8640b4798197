# SPDX-License-Identifier: Apache-2.0
# Validation loss, log loss or mean squared error, against seconds of fitting, with monotone constraints.
#   peer_xgboost.py FOLDER THREADS
import sys

import peers
import trees

xgboost = peers.require("xgboost")
data = peers.Data(sys.argv[1])
booster, history = trees.fit_xgboost(xgboost, data, int(sys.argv[2]))
x, y = data.parts["test"]
peers.report(contender="xgboost", value=history[-1][0], unit="s",
             **data.judged(y, booster.inplace_predict(x)), history=history,
             trees=booster.num_boosted_rounds(), version=peers.version("xgboost"))
