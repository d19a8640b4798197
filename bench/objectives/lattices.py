# SPDX-License-Identifier: Apache-2.0
# Espalier on the same problems; see trees.py. Each model is proven before it is judged.
import numpy as np
from judges import POWER

from espalier import MonotonicClassifier, MonotonicRegressor

HUNTED = 2000
# Tried on the validation rows.
RATE_SETTINGS = [{}, {"batch_size": 2048, "learning_rate": 0.03}]
QUANTILE_SETTINGS = [{}, {"learning_rate": 0.03}]
GRADE_SETTINGS = [{}, {"learning_rate": 0.03, "epochs": 1000}]


class Proven:
    """What predicts Rows by a model that was proven."""

    def __init__(self, model, method="predict"):
        assert model.model_.verify(pairs=HUNTED).holds
        self.model, self.method = model, method

    def __call__(self, rows):
        return getattr(self.model, self.method)(rows.x).astype(np.float64)


def fit_rate(problem, loss, settings, seed, threads):
    model = MonotonicRegressor(loss=loss, power=POWER, random_state=seed, n_jobs=threads,
                               monotonic_cst=dict.fromkeys(problem.increasing, 1), **settings)
    valid = problem.valid
    model.fit(problem.train.x, problem.train.y, exposure=problem.train.exposure,
              eval_set={"X": valid.x, "y": valid.y, "exposure": valid.exposure})
    return Proven(model)


def fit_quantiles(problem, quantiles, settings, seed, threads):
    model = MonotonicRegressor(quantile=list(quantiles), random_state=seed, n_jobs=threads,
                               monotonic_cst=dict.fromkeys(problem.increasing, 1), **settings)
    model.fit(problem.train.x, problem.train.y, eval_set=(problem.valid.x, problem.valid.y))
    return Proven(model)


def fit_grades(rows, settings, seed, threads, free=()):
    """Probabilities of the grades 0, 1, ..., which rise with all columns but the free ones; the
    networks hold out rows in turn."""
    signs = {column: int(column not in free) for column in rows.x}
    model = MonotonicClassifier(grades=np.unique(rows.y).tolist(), random_state=seed,
                                n_jobs=threads, monotonic_cst=signs, **settings)
    model.fit(rows.x, rows.y)
    return Proven(model, "predict_proba")
