# SPDX-License-Identifier: Apache-2.0
# Boosted trees with monotone constraints, fitted as one would: rate 0.1, depth 6 or 31 leaves,
# categories as categories, stopped by the validation rows. A fit ends with the trees up to the best
# round. History: (seconds since the arrays were there, validation log loss) a round.
import time

ROUNDS, PATIENCE, RATE = 2000, 50, 0.1


def xgboost_matrix(xgboost, data, part):
    x, y = data.parts[part]
    types = ["c" if i in data.categories else "q" for i in range(len(data.features))]
    return xgboost.DMatrix(x, y, feature_types=types, enable_categorical=True)


def fit_xgboost(xgboost, data, threads):
    history = []
    start = time.perf_counter()

    class Clock(xgboost.callback.TrainingCallback):
        def after_iteration(self, model, epoch, evals_log):
            history.append((time.perf_counter() - start, evals_log["valid"]["logloss"][-1]))
            return False

    params = {"objective": "binary:logistic", "eval_metric": "logloss", "tree_method": "hist",
              "learning_rate": RATE, "max_depth": 6, "nthread": threads,
              "monotone_constraints": tuple(data.signs)}
    train, valid = (xgboost_matrix(xgboost, data, part) for part in ("train", "valid"))
    booster = xgboost.train(params, train, ROUNDS, evals=[(valid, "valid")], verbose_eval=False,
                            callbacks=[Clock(), xgboost.callback.EarlyStopping(PATIENCE)])
    return booster[:booster.best_iteration + 1], history


def fit_lightgbm(lightgbm, data, threads):
    history = []
    start = time.perf_counter()

    def clock(env):
        history.append((time.perf_counter() - start, env.evaluation_result_list[0][2]))

    params = {"objective": "binary", "metric": "binary_logloss", "learning_rate": RATE,
              "num_leaves": 31, "num_threads": threads, "monotone_constraints": data.signs,
              "monotone_constraints_method": "intermediate", "verbosity": -1}
    train = lightgbm.Dataset(*data.parts["train"], categorical_feature=data.categories,
                             params=params)
    valid = lightgbm.Dataset(*data.parts["valid"], reference=train)
    booster = lightgbm.train(params, train, ROUNDS, valid_sets=[valid],
                             callbacks=[clock, lightgbm.early_stopping(PATIENCE, verbose=False)])
    return booster, history
