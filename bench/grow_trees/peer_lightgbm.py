# SPDX-License-Identifier: Apache-2.0
# Seconds to grow a forest of a fixed size from arrays, binning included: both layouts of
# histograms, the fastest method of monotone constraints.
#   peer_lightgbm.py FOLDER TREES LEAVES THREADS
import sys
import time

import peers

lightgbm = peers.require("lightgbm")
data = peers.Data(sys.argv[1])
trees, leaves, threads = map(int, sys.argv[2:])
x, y = data.parts["train"]
weight = data.exposures.get("train")
objective = data.loss or ("regression" if data.regression else "binary")
for layout in ("force_col_wise", "force_row_wise"):
    params = {"objective": objective, "num_leaves": leaves, "learning_rate": 0.1,
              "feature_fraction": 0.8, "num_threads": threads, "verbosity": -1, layout: True,
              "monotone_constraints": data.signs, "monotone_constraints_method": "basic"}
    start, cpu_start = time.perf_counter(), time.process_time()
    train = lightgbm.Dataset(x, y if weight is None else y / weight, weight=weight,
                             categorical_feature=data.categories, params=params)
    booster = lightgbm.train(params, train, trees)
    peers.report(contender=f"lightgbm, {layout}", value=time.perf_counter() - start, unit="s",
                 cpu_seconds=time.process_time() - cpu_start, rows=len(y),
                 trees=booster.num_trees(), version=peers.version("lightgbm"))
