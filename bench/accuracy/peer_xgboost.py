# SPDX-License-Identifier: Apache-2.0
# XGBoost, tuned: see boosting.py.
import boosting
import peers
import trees

xgboost = peers.require("xgboost")

# Categories of few words are split one word at a time, which suits shallow trees.
KNOWN = [{"learning_rate": 0.1, "max_depth": 4, "max_cat_to_onehot": 100},
         {"learning_rate": 0.05, "max_depth": 4, "max_cat_to_onehot": 100, "subsample": 0.8,
          "colsample_bytree": 0.8},
         trees.XGBOOST]


def draw(random):
    return {"learning_rate": boosting.log_uniform(random, 0.02, 0.3),
            "max_depth": random.randint(2, 8),
            "min_child_weight": boosting.log_uniform(random, 0.3, 100),
            "reg_lambda": boosting.log_uniform(random, 0.01, 100),
            "gamma": random.choice([0, boosting.log_uniform(random, 0.01, 10)]),
            "subsample": random.uniform(0.5, 1),
            "colsample_bytree": random.uniform(0.3, 1),
            "max_cat_to_onehot": random.choice([4, 16, 100])}


def fit(data, settings, rounds, threads):
    booster, history = trees.fit_xgboost(xgboost, data, threads, settings, rounds)
    return booster.inplace_predict, [loss for _, loss in history]


boosting.compete("xgboost", KNOWN, draw, fit)
