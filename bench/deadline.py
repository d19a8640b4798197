# SPDX-License-Identifier: Apache-2.0
# Fits that end in time with the best round so far. A deadline is a time of time.monotonic(), or
# None.
import math
import time


def is_over(deadline):
    return deadline is not None and time.monotonic() >= deadline


def share(deadline, parts):
    """The deadline of the first of so many parts that have equal times."""
    if deadline is None:
        return None
    return time.monotonic() + max(0, deadline - time.monotonic()) / parts


def for_xgboost(xgboost, deadline):
    """A callback; at least one round is made."""
    class Deadline(xgboost.callback.TrainingCallback):
        def after_iteration(self, model, epoch, evals_log):
            return is_over(deadline)

    return Deadline()


def for_lightgbm(lightgbm, deadline):
    """A callback that remembers the best round."""
    best = (math.inf, 0, None)

    def stop(env):
        nonlocal best
        loss = env.evaluation_result_list[0][2]
        if loss < best[0]:
            best = loss, env.iteration, env.evaluation_result_list
        if is_over(deadline):
            raise lightgbm.callback.EarlyStopException(*best[1:])

    return stop


FIRST_ROUNDS = 50


def fit_scikit_learn(model, rounds, deadline, fit):
    """Fits with twice the rounds again and again until the model stops by itself or time is over,
    because scikit-learn has no callback. `fit` fits the model or continues it."""
    if deadline is None:
        fit(model.set_params(max_iter=rounds))
        return
    model.set_params(warm_start=True)
    planned = FIRST_ROUNDS
    while True:
        fit(model.set_params(max_iter=min(planned, rounds)))
        if model.n_iter_ < planned or planned >= rounds or is_over(deadline):
            return
        planned *= 2
