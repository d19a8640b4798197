# SPDX-License-Identifier: Apache-2.0
# The models that are hunted, each with its monotone constraint on: one function a library.
#
# fit(loss, x, y) of a library gives a function from rows to the promised numbers, [rows][outputs]:
# a prediction, three quantiles, or P(y >= k) for each grade but the lowest. It raises Missing where
# the library has no such loss; whatever else it raises means that the library refuses.
import numpy as np

QUANTILES = (0.1, 0.5, 0.9)
POWER = 1.5
ROUNDS = 200
SEED = 1


class Missing(Exception):
    """The library has no such loss."""


def signs(x):
    """The first column must raise the prediction, the others are free."""
    return [1] + [0] * (x.shape[1] - 1)


def reached(probabilities):
    """P(y >= k) of each class but the first, from the probabilities of the classes."""
    return np.cumsum(probabilities[:, :0:-1], axis=1, dtype=np.float64)[:, ::-1]


def columns(*functions):
    return lambda x: np.column_stack([function(x) for function in functions])


def xgboost(loss, x, y):
    import xgboost
    objective = {"squared_error": "reg:squarederror", "absolute_error": "reg:absoluteerror",
                 "quantile": "reg:quantileerror", "poisson": "count:poisson",
                 "gamma": "reg:gamma", "tweedie": "reg:tweedie", "log_loss": "binary:logistic",
                 "grades": "multi:softprob"}[loss]
    params = {"objective": objective, "monotone_constraints": tuple(signs(x)), "seed": SEED}
    if loss == "quantile":
        params["quantile_alpha"] = QUANTILES
    if loss == "tweedie":
        params["tweedie_variance_power"] = POWER
    if loss == "grades":
        params["num_class"] = int(y.max()) + 1
    matrix = (xgboost.QuantileDMatrix if loss == "quantile" else xgboost.DMatrix)(x, y)
    booster = xgboost.train(params, matrix, ROUNDS)
    if loss == "grades":
        return lambda rows: reached(booster.inplace_predict(rows))
    return columns(booster.inplace_predict)


def lightgbm(loss, x, y, method):
    import lightgbm
    objective = {"squared_error": "regression", "absolute_error": "regression_l1",
                 "log_loss": "binary", "grades": "multiclass"}.get(loss, loss)
    params = {"objective": objective, "monotone_constraints": signs(x), "verbosity": -1,
              "monotone_constraints_method": method, "seed": SEED}
    if loss == "tweedie":
        params["tweedie_variance_power"] = POWER
    if loss == "grades":
        params["num_class"] = int(y.max()) + 1

    def train(**more):
        return lightgbm.train(params | more, lightgbm.Dataset(x, y), ROUNDS).predict

    if loss == "quantile":
        return columns(*(train(alpha=alpha) for alpha in QUANTILES))
    predict = train()
    return (lambda rows: reached(predict(rows))) if loss == "grades" else columns(predict)


def scikit_learn(loss, x, y):
    from sklearn.ensemble import (HistGradientBoostingClassifier as Classifier,
                                  HistGradientBoostingRegressor as Regressor)
    common = {"monotonic_cst": signs(x), "max_iter": ROUNDS, "early_stopping": False,
              "random_state": SEED}
    if loss == "tweedie":
        raise Missing
    if loss in ("log_loss", "grades"):
        model = Classifier(**common).fit(x, y)
        return lambda rows: reached(model.predict_proba(rows))
    if loss == "quantile":
        return columns(*(Regressor(loss=loss, quantile=quantile, **common).fit(x, y).predict
                         for quantile in QUANTILES))
    return columns(Regressor(loss=loss, **common).fit(x, y).predict)


def espalier(loss, x, y):
    from espalier import MonotonicClassifier, MonotonicRegressor
    common = {"monotonic_cst": signs(x), "random_state": SEED, "ensemble": 1}
    if loss == "log_loss":
        model = MonotonicClassifier(**common).fit(x, y)
        return lambda rows: model.predict_proba(rows)[:, 1:]
    if loss == "grades":
        model = MonotonicClassifier(grades=sorted(set(y.tolist())), **common).fit(x, y).model_
    elif loss == "quantile":
        model = MonotonicRegressor(quantile=list(QUANTILES), **common).fit(x, y)
    else:
        model = MonotonicRegressor(loss=loss, **common).fit(x, y)
    return columns(model.predict)


LIBRARIES = {
    "Espalier": espalier,
    "XGBoost": xgboost,
    "LightGBM, basic": lambda *given: lightgbm(*given, "basic"),
    "LightGBM, intermediate": lambda *given: lightgbm(*given, "intermediate"),
    "LightGBM, advanced": lambda *given: lightgbm(*given, "advanced"),
    "scikit-learn": scikit_learn,
}
