# SPDX-License-Identifier: Apache-2.0
# scikit-learn's HistGradientBoosting, tuned: see boosting.py.
import itertools

import boosting
import deadline
import peers
import spaces
import trees

ensemble = peers.require("sklearn.ensemble", "scikit-learn")
threadpoolctl = peers.require("threadpoolctl", "scikit-learn")


def predictor(model, data, rounds):
    """Predicts by the first rounds. An early stop leaves the trees of the rounds after the best."""
    staged = model.staged_predict if data.regression else model.staged_predict_proba

    def predict(x):
        stage = next(itertools.islice(staged(x), rounds - 1, None))
        return stage if data.regression else stage[:, 1]

    return predict


def fit(data, settings, rounds, threads, until=None):
    kind = (ensemble.HistGradientBoostingRegressor if data.regression
            else ensemble.HistGradientBoostingClassifier)
    settings = dict(settings)
    model = kind(early_stopping="valid" in data.parts, scoring="loss",
                 n_iter_no_change=trees.PATIENCE, monotonic_cst=data.signs,
                 categorical_features=data.categories, random_state=settings.pop("seed", 1),
                 **settings)
    valid = dict(zip(("X_val", "y_val"), data.parts.get("valid", ())))

    def train(model):
        with threadpoolctl.threadpool_limits(threads, user_api="openmp"):
            model.fit(*data.parts["train"], **valid)

    deadline.fit_scikit_learn(model, rounds, until, train)
    if not valid:
        return predictor(model, data, rounds), []
    # The first score is that of no tree, and that of regression half of the squared error.
    scale = 2 if data.regression else 1
    losses = [-scale * score for score in model.validation_score_[1:]]
    return predictor(model, data, 1 + losses.index(min(losses))), losses


boosting.compete("scikit-learn", spaces.SCIKIT_LEARN, fit)
