# SPDX-License-Identifier: Apache-2.0
# Boosted trees, stopped by the validation rows: fit_NAME(problem, loss, settings, seed, threads,
# until) gives a function from Rows to predictions; a fit that has no time left after `until` ends
# with its best round so far. Claims are y/exposure with weight exposure. `loss` is poisson,
# tweedie, binary, grades or a quantile level. All but quantiles and grades have the monotone
# constraints of the problem.
import itertools

import numpy as np
from judges import POWER, log_loss

import deadline

ROUNDS, PATIENCE = 2000, 50
PRIOR_WEIGHTS = (0, 0.001, 0.003, 0.01, 0.03, 0.1)  # of threshold models


def label_and_weight(rows):
    if rows.exposure is None:
        return rows.y, None
    return rows.y / rows.exposure, rows.exposure


def is_constrained(loss):
    return loss in ("poisson", "tweedie", "binary")


def xgboost_objective(loss, num_grades):
    if isinstance(loss, float):
        return {"objective": "reg:quantileerror", "quantile_alpha": loss}
    return {"poisson": {"objective": "count:poisson", "eval_metric": "poisson-nloglik"},
            "tweedie": {"objective": "reg:tweedie", "tweedie_variance_power": POWER,
                        "eval_metric": f"tweedie-nloglik@{POWER}"},
            "binary": {"objective": "binary:logistic", "eval_metric": "logloss"},
            "grades": {"objective": "multi:softprob", "eval_metric": "mlogloss",
                       "num_class": num_grades}}[loss]


def fit_xgboost(problem, loss, settings, seed, threads, until=None, rounds=None):
    """With `rounds` there are so many, and no validation rows."""
    import xgboost
    params = {"nthread": threads, "seed": seed, **settings,
              **xgboost_objective(loss, problem.num_grades)}
    if is_constrained(loss):
        params["monotone_constraints"] = tuple(problem.signs())

    def matrix(rows):
        kinds = ["c" if i in rows.categories() else "q" for i in range(rows.x.shape[1])]
        y, weight = label_and_weight(rows)
        return xgboost.DMatrix(rows.arrays(), y, weight=weight, feature_types=kinds,
                               enable_categorical=True)

    if rounds:
        best = xgboost.train(params, matrix(problem.train), rounds)
    else:
        booster = xgboost.train(params, matrix(problem.train), ROUNDS, verbose_eval=False,
                                evals=[(matrix(problem.valid), "valid")],
                                callbacks=[xgboost.callback.EarlyStopping(rounds=PATIENCE),
                                           deadline.for_xgboost(xgboost, until)])
        best = booster[:booster.best_iteration + 1]

    def predict(rows):
        return best.predict(matrix(rows))

    predict.rounds = best.num_boosted_rounds()
    return predict


def fit_lightgbm(problem, loss, settings, seed, threads, until=None, rounds=None):
    import lightgbm
    params = {"num_threads": threads, "seed": seed, "verbosity": -1, **settings}
    if is_constrained(loss):
        params |= {"monotone_constraints": problem.signs(), "tweedie_variance_power": POWER}
    else:
        params.pop("monotone_constraints_method", None)
    name = "quantile" if isinstance(loss, float) else loss
    params |= {"objective": name, "metric": "binary_logloss" if loss == "binary" else name}
    if name == "quantile":
        params["alpha"] = loss

    def dataset(rows, **more):
        y, weight = label_and_weight(rows)
        return lightgbm.Dataset(rows.arrays(), y, weight=weight,
                                categorical_feature=rows.categories(), **more)

    train = dataset(problem.train)
    if rounds:
        booster = lightgbm.train(params, train, rounds)
    else:
        booster = lightgbm.train(params, train, ROUNDS,
                                 valid_sets=[dataset(problem.valid, reference=train)],
                                 callbacks=[lightgbm.early_stopping(PATIENCE, verbose=False),
                                            deadline.for_lightgbm(lightgbm, until)])

    def predict(rows):
        return booster.predict(rows.arrays())

    predict.rounds = rounds or booster.best_iteration
    return predict


def fit_scikit_learn(problem, loss, settings, seed, threads, until=None):
    from sklearn.ensemble import HistGradientBoostingRegressor
    from threadpoolctl import threadpool_limits
    kind = {"loss": "quantile", "quantile": loss} if isinstance(loss, float) else {
        "loss": loss, "monotonic_cst": problem.signs()}
    model = HistGradientBoostingRegressor(
        early_stopping=True, scoring="loss", n_iter_no_change=PATIENCE, random_state=seed,
        categorical_features=problem.train.categories(), **kind, **settings)
    (y, weight), (valid_y, valid_weight) = map(label_and_weight, (problem.train, problem.valid))
    arrays, valid_arrays = problem.train.arrays(), problem.valid.arrays()

    def fit(model):
        with threadpool_limits(threads, user_api="openmp"):
            model.fit(arrays, y, weight, X_val=valid_arrays, y_val=valid_y,
                      sample_weight_val=valid_weight)

    deadline.fit_scikit_learn(model, ROUNDS, until, fit)
    # An early stop leaves the trees of the rounds after the best; the first score is of no tree.
    best = max(1, int(np.argmax(model.validation_score_)))

    def predict(rows):
        return next(itertools.islice(model.staged_predict(rows.arrays()), best - 1, None))

    return predict


def fit_quantiles(fit, problem, quantiles, settings, seed, threads, until=None):
    """A model for each quantile, without constraints, which no library keeps here."""
    parts = [fit(problem, level, settings, seed, threads,
                 deadline.share(until, len(quantiles) - number))
             for number, level in enumerate(quantiles)]
    return lambda rows: np.column_stack([part(rows) for part in parts])


def fit_thresholds(fit, problem, settings, seed, threads, until=None, rounds=None):
    """P(y = grade) by a monotone binary model of P(y >= grade) for each grade but the lowest. The
    least of those up to a grade keeps them in order, and is as monotone as they are. Grades would get the
    probability 0 where that binds, so that they are mixed with the frequencies of the grades; the
    validation rows choose the weight, which then belongs to the `rounds`."""
    parts = []
    rounds, weight = rounds or (None, None)
    frequencies = np.bincount(problem.train.y.astype(int), minlength=problem.num_grades)
    frequencies = (frequencies + 1) / np.sum(frequencies + 1)
    for grade in range(1, problem.num_grades):
        def at_least(rows):
            return rows._replace(y=(rows.y >= grade).astype(np.float64))

        own = problem._replace(train=at_least(problem.train),
                               valid=problem.valid and at_least(problem.valid))
        parts.append(fit(own, "binary", settings, seed, threads,
                         deadline.share(until, problem.num_grades - grade),
                         rounds and rounds[grade - 1]))

    def plain(rows):
        reached = np.minimum.accumulate(np.column_stack([part(rows) for part in parts]), axis=1)
        edges = np.ones((len(reached), 1))
        return -np.diff(np.hstack([edges, reached, 0 * edges]), axis=1)

    def mixed(each, weight):
        return (1 - weight) * each + weight * frequencies

    if weight is None:
        held_out = plain(problem.valid)
        weight = min(PRIOR_WEIGHTS,
                     key=lambda given: log_loss(problem.valid.y, mixed(held_out, given)))

    def predict(rows):
        return mixed(plain(rows), weight)

    predict.rounds = [part.rounds for part in parts], weight
    return predict


def fit_classes(fit, problem, settings, seed, threads, until=None, rounds=None):
    return fit(problem, "grades", settings, seed, threads, until, rounds)
