# SPDX-License-Identifier: Apache-2.0
# What is tuned of each library of boosted trees, the same in all comparisons: settings that are
# tried first, good ones, and a function that draws another.
import random
from typing import Callable, NamedTuple


class Space(NamedTuple):
    known: list[dict]
    draw: Callable[[random.Random], dict]

    def settings(self, number):
        """Those of a trial, counted from 0; the same in each run."""
        return self.known[number] if number < len(self.known) else self.draw(random.Random(number))


def log_uniform(draw, low, high):
    return low * (high / low) ** draw.random()


def draw_xgboost(draw):
    shape = (
        {"max_depth": draw.randint(2, 10)} if draw.random() < 0.5 else
        {"grow_policy": "lossguide", "max_depth": 0,
         "max_leaves": round(log_uniform(draw, 4, 256))})
    return {"learning_rate": log_uniform(draw, 0.02, 0.3), **shape,
            "min_child_weight": log_uniform(draw, 0.01, 100),
            "reg_lambda": log_uniform(draw, 0.01, 100),
            "gamma": draw.choice([0, log_uniform(draw, 0.01, 10)]),
            "subsample": draw.uniform(0.5, 1),
            "colsample_bytree": draw.uniform(0.3, 1),
            "max_cat_to_onehot": draw.choice([4, 16, 100])}


def draw_lightgbm(draw):
    return {"learning_rate": log_uniform(draw, 0.02, 0.3),
            "num_leaves": round(log_uniform(draw, 3, 256)),
            "min_data_in_leaf": round(log_uniform(draw, 3, 500)),
            "min_sum_hessian_in_leaf": log_uniform(draw, 0.0001, 10),
            "lambda_l2": log_uniform(draw, 0.01, 100),
            "bagging_fraction": draw.uniform(0.5, 1),
            "bagging_freq": 1,
            "feature_fraction": draw.uniform(0.3, 1),
            "max_cat_to_onehot": draw.choice([4, 16, 100]),
            "cat_smooth": log_uniform(draw, 1, 100),
            "monotone_constraints_method": draw.choice(["basic", "intermediate", "advanced"])}


def draw_scikit_learn(draw):
    return {"learning_rate": log_uniform(draw, 0.02, 0.3),
            "max_leaf_nodes": round(log_uniform(draw, 3, 256)),
            "min_samples_leaf": round(log_uniform(draw, 3, 500)),
            "l2_regularization": log_uniform(draw, 0.01, 100),
            "max_features": draw.uniform(0.3, 1)}


# Categories of few words are split one word at a time in shallow trees.
XGBOOST = Space(
    [{"learning_rate": 0.1, "max_depth": 4, "max_cat_to_onehot": 100},
     {"learning_rate": 0.05, "max_depth": 4, "max_cat_to_onehot": 100, "subsample": 0.8,
      "colsample_bytree": 0.8},
     {"learning_rate": 0.1, "max_depth": 6},
     {"learning_rate": 0.1, "grow_policy": "lossguide", "max_depth": 0, "max_leaves": 31,
      "max_cat_to_onehot": 100, "min_child_weight": 1}], draw_xgboost)
LIGHTGBM = Space(
    [{"learning_rate": 0.1, "num_leaves": 31, "monotone_constraints_method": "intermediate"},
     {"learning_rate": 0.05, "num_leaves": 15, "monotone_constraints_method": "intermediate",
      "bagging_fraction": 0.8, "bagging_freq": 1, "feature_fraction": 0.8,
      "max_cat_to_onehot": 100},
     # For a few hundred rows.
     {"learning_rate": 0.05, "num_leaves": 7, "min_data_in_leaf": 5, "feature_fraction": 0.5}],
    draw_lightgbm)
SCIKIT_LEARN = Space(
    [{"learning_rate": 0.1, "max_leaf_nodes": 31},
     {"learning_rate": 0.05, "max_leaf_nodes": 15, "max_features": 0.5},
     # For a few hundred rows.
     {"learning_rate": 0.05, "max_leaf_nodes": 7, "min_samples_leaf": 5, "max_features": 0.5}],
    draw_scikit_learn)
