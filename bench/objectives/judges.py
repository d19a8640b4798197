# SPDX-License-Identifier: Apache-2.0
# How good predictions are: the same formulas for all contenders, in double.
import numpy as np

POWER = 1.5
LEAST = 1e-7  # probability that a log sees


def poisson_deviance(rows, rate):
    """Of claims with exposure: the mean, per unit of exposure, as of y/E with weight E."""
    mean = rate * rows.exposure
    logs = np.where(rows.y > 0, rows.y * np.log(np.maximum(rows.y, LEAST) / mean), 0)
    return 2 * float(np.sum(logs - rows.y + mean) / np.sum(rows.exposure))


def tweedie_deviance(rows, rate):
    """Of y/E with weight E, at POWER."""
    y, p = rows.y / rows.exposure, POWER
    each = 2 * (y ** (2 - p) / ((1 - p) * (2 - p)) - y * rate ** (1 - p) / (1 - p)
                + rate ** (2 - p) / (2 - p))
    return float(np.average(each, weights=rows.exposure))


def gini(rows, rate):
    """Twice the area between the diagonal and the Lorenz curve of claims over exposure, the rows in
    the order of their predicted rate."""
    order = np.argsort(rate, kind="stable")
    exposure = np.concatenate([[0], np.cumsum(rows.exposure[order])])
    claims = np.concatenate([[0], np.cumsum(rows.y[order])])
    return 1 - 2 * float(np.trapezoid(claims / claims[-1], exposure / exposure[-1]))


def balance(rows, rate):
    return float(np.sum(rate * rows.exposure) / np.sum(rows.y))


def pinball(rows, predicted, quantiles):
    """One number a quantile."""
    over = rows.y[:, None] - predicted
    return np.maximum(np.multiply(over, quantiles), np.multiply(over, np.subtract(quantiles, 1))
                      ).mean(axis=0).tolist()


def coverage(rows, predicted):
    """The share of labels between the first and the last quantile."""
    return float(np.mean((predicted[:, 0] <= rows.y) & (rows.y <= predicted[:, -1])))


def crossings(predicted):
    return int((np.diff(predicted, axis=1) < 0).any(axis=1).sum())


def log_loss(codes, probabilities):
    return -float(np.mean(np.log(np.maximum(probabilities[np.arange(len(codes)), codes], LEAST))))


def median_grade(probabilities):
    """The largest grade that is reached with probability 1/2, which lowers the absolute error."""
    reached = np.cumsum(probabilities[:, ::-1], axis=1)[:, ::-1][:, 1:]
    return (reached >= 0.5).sum(axis=1)


def grade_error(codes, probabilities):
    return float(np.mean(np.abs(codes - median_grade(probabilities))))
