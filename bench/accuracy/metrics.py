# SPDX-License-Identifier: Apache-2.0
# The judge of all contenders: how good predictions are. Labels of classification are 0 and 1.
import math


def accuracy(labels, probabilities):
    return sum((p > 0.5) == (y > 0) for y, p in zip(labels, probabilities)) / len(labels)


def log_loss(labels, probabilities):
    return -sum(math.log(max(p if y > 0 else 1 - p, 1e-7))
                for y, p in zip(labels, probabilities)) / len(labels)


def auc(labels, scores):
    """The share of pairs of classes that the scores order rightly; a tie counts half."""
    ranked = sorted(zip(scores, labels))
    pairs = below = first = 0  # below: rows of class 0 with a lower score
    while first < len(ranked):
        last = first
        while last < len(ranked) and ranked[last][0] == ranked[first][0]:
            last += 1
        positives = sum(label > 0 for _, label in ranked[first:last])
        negatives = last - first - positives
        pairs += positives * (below + negatives / 2)
        below += negatives
        first = last
    return pairs / (below * (len(ranked) - below))


def mse(labels, predictions):
    return sum((y - p) ** 2 for y, p in zip(labels, predictions)) / len(labels)


def rmse(labels, predictions):
    return math.sqrt(mse(labels, predictions))


CLASSIFICATION = (accuracy, log_loss, auc)
REGRESSION = (rmse, mse)
