# SPDX-License-Identifier: Apache-2.0
# scikit-learn's HistGradientBoosting, tuned: see boosting.py.
import itertools

import boosting
import peers
import trees

ensemble = peers.require("sklearn.ensemble", "scikit-learn")
threadpoolctl = peers.require("threadpoolctl", "scikit-learn")

KNOWN = [{"learning_rate": 0.1, "max_leaf_nodes": 31},
         {"learning_rate": 0.05, "max_leaf_nodes": 15, "max_features": 0.5},
         # For a few hundred rows.
         {"learning_rate": 0.05, "max_leaf_nodes": 7, "min_samples_leaf": 5, "max_features": 0.5}]


def draw(random):
    return {"learning_rate": boosting.log_uniform(random, 0.02, 0.3),
            "max_leaf_nodes": round(boosting.log_uniform(random, 3, 128)),
            "min_samples_leaf": round(boosting.log_uniform(random, 3, 200)),
            "l2_regularization": boosting.log_uniform(random, 0.01, 100),
            "max_features": random.uniform(0.3, 1)}


def predictor(model, data, rounds):
    """Predicts by the first rounds. An early stop leaves the trees of the rounds after the best."""
    staged = model.staged_predict if data.regression else model.staged_predict_proba

    def predict(x):
        stage = next(itertools.islice(staged(x), rounds - 1, None))
        return stage if data.regression else stage[:, 1]

    return predict


def fit(data, settings, rounds, threads):
    kind = (ensemble.HistGradientBoostingRegressor if data.regression
            else ensemble.HistGradientBoostingClassifier)
    settings = dict(settings)
    model = kind(max_iter=rounds, early_stopping="valid" in data.parts, scoring="loss",
                 n_iter_no_change=trees.PATIENCE, monotonic_cst=data.signs,
                 categorical_features=data.categories, random_state=settings.pop("seed", 1),
                 **settings)
    with threadpoolctl.threadpool_limits(threads, user_api="openmp"):
        if "valid" not in data.parts:
            model.fit(*data.parts["train"])
            return predictor(model, data, rounds), []
        x, y = data.parts["valid"]
        model.fit(*data.parts["train"], X_val=x, y_val=y)
    # The first score is that of no tree, and that of regression half of the squared error.
    scale = 2 if data.regression else 1
    losses = [-scale * score for score in model.validation_score_[1:]]
    return predictor(model, data, 1 + losses.index(min(losses))), losses


boosting.compete("scikit-learn", KNOWN, draw, fit)
