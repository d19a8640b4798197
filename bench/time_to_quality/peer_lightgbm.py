# SPDX-License-Identifier: Apache-2.0
# Validation loss, log loss or mean squared error, against seconds of fitting, with monotone constraints.
#   peer_lightgbm.py FOLDER THREADS
import sys

import peers
import trees

lightgbm = peers.require("lightgbm")
data = peers.Data(sys.argv[1])
booster, history = trees.fit_lightgbm(lightgbm, data, int(sys.argv[2]))
x, y = data.parts["test"]
peers.report(contender="lightgbm", value=history[-1][0], unit="s",
             **data.judged(y, booster.predict(x)), history=history,
             trees=booster.best_iteration, version=peers.version("lightgbm"))
