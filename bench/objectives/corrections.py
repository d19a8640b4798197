# SPDX-License-Identifier: Apache-2.0
# What is done to the predictions of all contenders alike after they are fitted: Espalier's own
# offset does it while it trains.
import numpy as np


def balanced(predict, problem):
    """Predictions times the factor that makes the totals of training and validation rows agree."""
    rows = (problem.train, problem.valid)
    predicted = sum(float(np.sum(predict(part) * part.exposure)) for part in rows)
    factor = sum(float(np.sum(part.y)) for part in rows) / predicted
    return lambda given: factor * predict(given)


def shifted(predict, problem, quantiles):
    """Each quantile plus the constant that puts its share of the validation rows below it."""
    lacks = problem.valid.y[:, None] - predict(problem.valid)
    offsets = [np.quantile(lack, level, method="inverted_cdf")
               for lack, level in zip(lacks.T, quantiles)]
    return lambda given: predict(given) + offsets
