# SPDX-License-Identifier: Apache-2.0
# Boosted trees, stopped by the validation rows: fit_NAME(problem, loss, settings, seed, threads)
# gives a function from Rows to predictions. Claims are y/exposure with weight exposure. All but
# quantiles and grades have the monotone constraints of the problem.
import itertools

import numpy as np
from judges import POWER

ROUNDS, PATIENCE = 1000, 30
SETTINGS = {
    "XGBoost": [
        {"learning_rate": 0.1, "max_depth": 4, "max_cat_to_onehot": 100},
        {"learning_rate": 0.1, "max_depth": 6},
        {"learning_rate": 0.1, "max_depth": 5, "max_cat_to_onehot": 100, "subsample": 0.8,
         "colsample_bytree": 0.7, "min_child_weight": 10, "reg_lambda": 10}],
    "LightGBM": [
        {"learning_rate": 0.1, "num_leaves": 31},
        {"learning_rate": 0.1, "num_leaves": 15, "min_data_in_leaf": 100, "feature_fraction": 0.8,
         "max_cat_to_onehot": 100},
        {"learning_rate": 0.1, "num_leaves": 63, "min_data_in_leaf": 100, "lambda_l2": 10,
         "feature_fraction": 0.7, "bagging_fraction": 0.8, "bagging_freq": 1}],
    "scikit-learn": [
        {"learning_rate": 0.1, "max_leaf_nodes": 31},
        {"learning_rate": 0.1, "max_leaf_nodes": 15, "min_samples_leaf": 100, "max_features": 0.8},
        {"learning_rate": 0.1, "max_leaf_nodes": 63, "min_samples_leaf": 200,
         "l2_regularization": 10, "max_features": 0.7}],
}


def label_and_weight(rows):
    if rows.exposure is None:
        return rows.y, None
    return rows.y / rows.exposure, rows.exposure


def fit_xgboost(problem, loss, settings, seed, threads):
    import xgboost
    params = {"nthread": threads, "seed": seed, **settings,
              **{"poisson": {"objective": "count:poisson", "eval_metric": "poisson-nloglik"},
                 "tweedie": {"objective": "reg:tweedie", "tweedie_variance_power": POWER,
                             "eval_metric": f"tweedie-nloglik@{POWER}"},
                 "grades": {"objective": "multi:softprob", "eval_metric": "mlogloss"}}[loss]}
    if loss != "grades":
        params["monotone_constraints"] = tuple(problem.signs())

    def matrix(rows):
        kinds = ["c" if i in rows.categories() else "q" for i in range(rows.x.shape[1])]
        y, weight = label_and_weight(rows)
        return xgboost.DMatrix(rows.arrays(), y, weight=weight, feature_types=kinds,
                               enable_categorical=True)

    booster = xgboost.train(params, matrix(problem.train), ROUNDS,
                            evals=[(matrix(problem.valid), "valid")], verbose_eval=False,
                            early_stopping_rounds=PATIENCE)
    best = booster[:booster.best_iteration + 1]

    def predict(rows):
        return best.predict(matrix(rows))

    predict.rounds = booster.best_iteration + 1
    return predict


def fit_lightgbm(problem, loss, settings, seed, threads, alpha=None):
    import lightgbm
    params = {"objective": loss, "metric": loss, "num_threads": threads, "seed": seed,
              "verbosity": -1, **settings}
    if loss == "quantile":
        params["alpha"] = alpha
    else:
        params |= {"tweedie_variance_power": POWER, "monotone_constraints": problem.signs(),
                   "monotone_constraints_method": "intermediate"}

    def dataset(rows, **more):
        y, weight = label_and_weight(rows)
        return lightgbm.Dataset(rows.arrays(), y, weight=weight,
                                categorical_feature=rows.categories(), **more)

    train = dataset(problem.train)
    booster = lightgbm.train(params, train, ROUNDS,
                             valid_sets=[dataset(problem.valid, reference=train)],
                             callbacks=[lightgbm.early_stopping(PATIENCE, verbose=False)])
    return lambda rows: booster.predict(rows.arrays())


def fit_quantiles(problem, quantiles, settings, seed, threads):
    """A model of LightGBM for each quantile, without constraints: it refuses them here."""
    parts = [fit_lightgbm(problem, "quantile", settings, seed, threads, alpha)
             for alpha in quantiles]
    return lambda rows: np.column_stack([part(rows) for part in parts])


def fit_scikit_learn(problem, loss, settings, seed, threads):
    from sklearn.ensemble import HistGradientBoostingRegressor
    from threadpoolctl import threadpool_limits
    model = HistGradientBoostingRegressor(
        loss=loss, max_iter=ROUNDS, early_stopping=True, scoring="loss", n_iter_no_change=PATIENCE,
        monotonic_cst=problem.signs(), categorical_features=problem.train.categories(),
        random_state=seed, **settings)
    (y, weight), (valid_y, valid_weight) = map(label_and_weight, (problem.train, problem.valid))
    with threadpool_limits(threads, user_api="openmp"):
        model.fit(problem.train.arrays(), y, weight, X_val=problem.valid.arrays(), y_val=valid_y,
                  sample_weight_val=valid_weight)
    # An early stop leaves the trees of the rounds after the best; the first score is of no tree.
    best = max(1, int(np.argmax(model.validation_score_)))
    return lambda rows: next(itertools.islice(model.staged_predict(rows.arrays()), best - 1, None))
