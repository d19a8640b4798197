# SPDX-License-Identifier: Apache-2.0
"""Models of tables whose prediction provably rises with the inputs that must raise it.

>>> import espalier
>>> loans = espalier.simulate(rows=1000)
>>> y = loans.pop("default")
>>> risk = espalier.MonotonicClassifier(monotonic_cst={"debt_ratio": 1, "income": -1}, epochs=2)
>>> risk.fit(loans, y).model_.verify().holds
True
"""
from . import plot
from ._core import Certificate, Error, LayerProof
from ._core import version as __version__
from ._estimators import MonotonicClassifier, MonotonicRegressor
from ._explanations import Explanation, Importance, Reason
from ._model import Calibrator, Lattice, Model, Warning, load
from ._simulate import simulate
from ._tune import Trial, Tuning, tune

# Their users look for them here.
for _public in (Calibrator, Certificate, Error, Explanation, Importance, Lattice, LayerProof, Model,
                MonotonicClassifier, MonotonicRegressor, Reason, Trial, Tuning, Warning):
    _public.__module__ = __name__

__all__ = ["Calibrator", "Certificate", "Error", "Explanation", "Importance", "Lattice",
           "LayerProof", "Model", "MonotonicClassifier", "MonotonicRegressor", "Reason", "Trial",
           "Tuning", "Warning",
           "__version__", "load", "plot", "simulate", "tune"]
