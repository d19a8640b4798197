# SPDX-License-Identifier: Apache-2.0
# XGBoost, tuned: see boosting.py.
import boosting
import peers
import spaces
import trees

xgboost = peers.require("xgboost")


def fit(data, settings, rounds, threads, until=None):
    booster, history = trees.fit_xgboost(xgboost, data, threads, settings, rounds, until)
    return booster.inplace_predict, [loss for _, loss in history]


boosting.compete("xgboost", spaces.XGBOOST, fit)
