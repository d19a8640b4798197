# SPDX-License-Identifier: Apache-2.0
"""Made-up loans."""
from __future__ import annotations

from typing import Any

import numpy as np

from . import _core


def simulate(**options: Any) -> dict[str, np.ndarray]:
    """A made-up table of loans whose true risk is known and monotone: columns by name, ready for
    `fit` or for a data frame.

    The options are the flags of ``espalier simulate``: kind, rows, numbers, categories, missing,
    truth, seed. The risk rises with debt_ratio and late_payments and falls with income and
    years_employed; the label is `default`, or that of the kind: claims, prices, grades.

    >>> import espalier
    >>> sorted(espalier.simulate(rows=3, seed=1))[:3]
    ['age', 'debt_ratio', 'default']
    """
    return {name: np.asarray(cells, dtype=object) if isinstance(cells, list) else cells
            for name, cells in _core.simulate(**options).items()}
