# SPDX-License-Identifier: Apache-2.0
# Boosted trees with monotone constraints, categories as categories, stopped by the validation rows.
# A fit ends with the trees up to the best round, also if the time `until` which it may train is
# over; without validation rows it has all rounds. History: (seconds since the arrays were there,
# validation loss) a round; the loss is log loss or mean squared error. Settings are the library's;
# the defaults are what one would take untuned.
import time

import deadline

ROUNDS, PATIENCE = 2000, 50
XGBOOST = {"learning_rate": 0.1, "max_depth": 6}
LIGHTGBM = {"learning_rate": 0.1, "num_leaves": 31, "monotone_constraints_method": "intermediate"}


def xgboost_matrix(xgboost, data, part):
    x, y = data.parts[part]
    types = ["c" if i in data.categories else "q" for i in range(len(data.features))]
    return xgboost.DMatrix(x, y, feature_types=types, enable_categorical=True)


def fit_xgboost(xgboost, data, threads, settings=XGBOOST, rounds=ROUNDS, until=None):
    history = []
    start = time.perf_counter()
    metric, power = ("rmse", 2) if data.regression else ("logloss", 1)

    class Clock(xgboost.callback.TrainingCallback):
        def after_iteration(self, model, epoch, evals_log):
            loss = evals_log["valid"][metric][-1] ** power
            history.append((time.perf_counter() - start, loss))
            return False

    params = {"objective": "reg:squarederror" if data.regression else "binary:logistic",
              "eval_metric": metric, "tree_method": "hist", "nthread": threads,
              "monotone_constraints": tuple(data.signs), **settings}
    train = xgboost_matrix(xgboost, data, "train")
    if "valid" not in data.parts:
        return xgboost.train(params, train, rounds), history
    valid = xgboost_matrix(xgboost, data, "valid")
    booster = xgboost.train(params, train, rounds, evals=[(valid, "valid")], verbose_eval=False,
                            callbacks=[Clock(), xgboost.callback.EarlyStopping(rounds=PATIENCE),
                                       deadline.for_xgboost(xgboost, until)])
    return booster[:booster.best_iteration + 1], history


def fit_lightgbm(lightgbm, data, threads, settings=LIGHTGBM, rounds=ROUNDS, until=None):
    history = []
    start = time.perf_counter()

    def clock(env):
        history.append((time.perf_counter() - start, env.evaluation_result_list[0][2]))

    params = {"objective": "regression" if data.regression else "binary",
              "metric": "l2" if data.regression else "binary_logloss", "num_threads": threads,
              "monotone_constraints": data.signs, "verbosity": -1, **settings}
    train = lightgbm.Dataset(*data.parts["train"], categorical_feature=data.categories,
                             params=params)
    if "valid" not in data.parts:
        return lightgbm.train(params, train, rounds), history
    valid = lightgbm.Dataset(*data.parts["valid"], reference=train)
    booster = lightgbm.train(params, train, rounds, valid_sets=[valid],
                             callbacks=[clock, lightgbm.early_stopping(PATIENCE, verbose=False),
                                        deadline.for_lightgbm(lightgbm, until)])
    return booster, history
