# SPDX-License-Identifier: Apache-2.0
"""What `Model.explain`, `Model.reasons` and `Model.importance` give."""
from __future__ import annotations

from typing import NamedTuple

import numpy as np


class Explanation(NamedTuple):
    """Scores, and their differences from that of a baseline, shared among the columns: the shares
    of a row sum to its score minus its baseline."""

    columns: list[str]  #: the features of the model
    baseline: np.ndarray  #: float32, the cells that rows are compared with, as in `Model.rows`
    outputs: list[str]  #: of each row the output that is explained
    scores: np.ndarray  #: float32, of each row
    baselines: np.ndarray  #: float32, of each row the score of the baseline, with the row's offset
    shares: np.ndarray  #: float64, of shape (rows, columns)
    errors: np.ndarray  #: the standard error of each share, 0 where it is exact


class Reason(NamedTuple):
    """A column that makes part of a difference."""

    column: str
    share: float  #: of the difference of the scores
    text: str  #: its sentence, or its name


class Importance(NamedTuple):
    """What the columns of a model are worth; an entry of each array for each column."""

    columns: list[str]  #: the features of the model
    metric: str  #: that becomes worse; automatic without y
    value: float  #: of the metric before a column is shuffled, NaN without y
    loss: np.ndarray  #: how much worse the metric is when the column is shuffled, NaN without y
    loss_deviation: np.ndarray  #: over the repeats
    move: np.ndarray  #: how far the score then moves, the mean over rows
    move_deviation: np.ndarray  #: over the repeats
    share: np.ndarray  #: the mean size of the column's share of the score
    share_deviation: np.ndarray  #: over rows
