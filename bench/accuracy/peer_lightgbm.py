# SPDX-License-Identifier: Apache-2.0
# LightGBM, tuned: see boosting.py.
import boosting
import peers
import trees

lightgbm = peers.require("lightgbm")

KNOWN = [trees.LIGHTGBM,
         {"learning_rate": 0.05, "num_leaves": 15, "monotone_constraints_method": "intermediate",
          "bagging_fraction": 0.8, "bagging_freq": 1, "feature_fraction": 0.8,
          "max_cat_to_onehot": 100},
         # For a few hundred rows.
         {"learning_rate": 0.05, "num_leaves": 7, "min_data_in_leaf": 5, "feature_fraction": 0.5}]


def draw(random):
    return {"learning_rate": boosting.log_uniform(random, 0.02, 0.3),
            "num_leaves": round(boosting.log_uniform(random, 3, 128)),
            "min_data_in_leaf": round(boosting.log_uniform(random, 3, 200)),
            "lambda_l2": boosting.log_uniform(random, 0.01, 100),
            "bagging_fraction": random.uniform(0.5, 1),
            "bagging_freq": 1,
            "feature_fraction": random.uniform(0.3, 1),
            "max_cat_to_onehot": random.choice([4, 16, 100]),
            "cat_smooth": boosting.log_uniform(random, 1, 100),
            "monotone_constraints_method": random.choice(["basic", "intermediate", "advanced"])}


def fit(data, settings, rounds, threads):
    booster, history = trees.fit_lightgbm(lightgbm, data, threads, settings, rounds)
    return booster.predict, [loss for _, loss in history]


boosting.compete("lightgbm", KNOWN, draw, fit)
