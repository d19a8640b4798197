# SPDX-License-Identifier: Apache-2.0
# Seconds to grow a forest of a fixed size from arrays, binning included: level by level, and leaf
# by leaf.
#   peer_xgboost.py FOLDER TREES LEAVES THREADS
import math
import sys
import time

import peers

xgboost = peers.require("xgboost")
data = peers.Data(sys.argv[1])
trees, leaves, threads = map(int, sys.argv[2:])
x, y = data.parts["train"]
weight = data.exposures.get("train")
objective = {"poisson": "count:poisson"}.get(data.loss) or (
    "reg:squarederror" if data.regression else "binary:logistic")
types = ["c" if i in data.categories else "q" for i in range(x.shape[1])]
for policy, size in (("depthwise", {"max_depth": math.ceil(math.log2(leaves))}),
                     ("lossguide", {"max_depth": 0, "max_leaves": leaves})):
    params = {"objective": objective, "tree_method": "hist", "learning_rate": 0.1,
              "colsample_bytree": 0.8, "nthread": threads, "grow_policy": policy, **size,
              "monotone_constraints": tuple(data.signs)}
    start, cpu_start = time.perf_counter(), time.process_time()
    train = xgboost.QuantileDMatrix(x, y if weight is None else y / weight, weight=weight,
                                    feature_types=types, enable_categorical=True, nthread=threads)
    booster = xgboost.train(params, train, trees)
    peers.report(contender=f"xgboost, {policy}", value=time.perf_counter() - start, unit="s",
                 cpu_seconds=time.process_time() - cpu_start, rows=len(y),
                 trees=booster.num_boosted_rounds(), version=peers.version("xgboost"))
