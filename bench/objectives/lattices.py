# SPDX-License-Identifier: Apache-2.0
# Espalier on the same problems; see trees.py. Each model is proven before it is judged.
import numpy as np
from judges import POWER

from espalier import MonotonicClassifier, MonotonicRegressor

HUNTED = 2000
# Tried beside the defaults on the validation rows.
SETTINGS = [{}, {"ensemble": 3}]


def proven(model):
    assert model.model_.verify(pairs=HUNTED).holds
    return model


def fit_rate(problem, loss, settings, seed, threads):
    model = MonotonicRegressor(loss=loss, power=POWER, random_state=seed, n_jobs=threads,
                               monotonic_cst=dict.fromkeys(problem.increasing, 1), **settings)
    valid = problem.valid
    model.fit(problem.train.x, problem.train.y, exposure=problem.train.exposure,
              eval_set={"X": valid.x, "y": valid.y, "exposure": valid.exposure})
    return lambda rows: proven(model).predict(rows.x).astype(np.float64)


def fit_quantiles(problem, quantiles, settings, seed, threads):
    model = MonotonicRegressor(quantile=list(quantiles), random_state=seed, n_jobs=threads,
                               monotonic_cst=dict.fromkeys(problem.increasing, 1), **settings)
    model.fit(problem.train.x, problem.train.y, eval_set=(problem.valid.x, problem.valid.y))
    return lambda rows: proven(model).predict(rows.x).reshape(len(rows.y), -1)


def fit_grades(rows, settings, seed, threads):
    """Probabilities of the grades 0, 1, ...; the networks hold out rows in turn."""
    model = MonotonicClassifier(grades=np.unique(rows.y).tolist(), random_state=seed, n_jobs=threads,
                                monotonic_cst=dict.fromkeys(rows.x, 1), **settings)
    model.fit(rows.x, rows.y)
    return lambda given: proven(model).predict_proba(given.x)
