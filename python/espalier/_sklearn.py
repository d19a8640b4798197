# SPDX-License-Identifier: Apache-2.0
"""What the estimators take from scikit-learn, and small stand-ins for where it is not installed."""
from __future__ import annotations

import inspect
from typing import Any

import numpy as np

from ._core import Error

try:
    from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin
    from sklearn.exceptions import NotFittedError
    from sklearn.utils.multiclass import check_classification_targets, type_of_target
    from sklearn.utils.validation import check_random_state, column_or_1d
except ImportError:

    class NotFittedError(ValueError, AttributeError):  # type: ignore[no-redef]
        """An estimator was used before it was fitted."""

    class BaseEstimator:  # type: ignore[no-redef]
        """Parameters by name, as scikit-learn has them."""

        def get_params(self, deep: bool = True) -> dict[str, Any]:
            """The constructor parameters and their values."""
            names = inspect.signature(type(self)).parameters
            return {name: getattr(self, name) for name in names}

        def set_params(self, **params: Any) -> BaseEstimator:
            """Sets constructor parameters."""
            for name, value in params.items():
                if name not in inspect.signature(type(self)).parameters:
                    raise ValueError(f"{type(self).__name__} has no parameter '{name}'")
                setattr(self, name, value)
            return self

        def __repr__(self) -> str:
            defaults = inspect.signature(type(self)).parameters
            shown = [f"{name}={value!r}" for name, value in self.get_params().items()
                     if value is not defaults[name].default]
            return f"{type(self).__name__}({', '.join(shown)})"

    class ClassifierMixin:  # type: ignore[no-redef]
        """Judges a classifier."""

        predict: Any

        def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
            """The share of rows whose class is predicted."""
            return float(np.average(self.predict(X) == np.asarray(y), weights=sample_weight))

    class RegressorMixin:  # type: ignore[no-redef]
        """Judges a regressor."""

        predict: Any

        def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
            """R^2, the share of the variance that is explained."""
            y = np.asarray(y, dtype=np.float64)
            around_mean = (y - np.average(y, weights=sample_weight)) ** 2
            missed = (y - self.predict(X)) ** 2
            return float(1 - np.average(missed, weights=sample_weight) /
                         np.average(around_mean, weights=sample_weight))

    def check_classification_targets(y: Any) -> None:
        """The library refuses labels of more than two values."""

    def type_of_target(y: Any) -> str:
        """binary or multiclass."""
        return "binary" if len(np.unique(y)) <= 2 else "multiclass"

    def column_or_1d(y: Any, *, warn: bool = False) -> np.ndarray:
        """y as one dimension."""
        y = np.asarray(y)
        if y.ndim == 2 and y.shape[1] == 1:
            return y.ravel()
        if y.ndim != 1:
            raise Error(f"y should be a 1d array, got an array of shape {y.shape} instead.")
        return y

    def check_random_state(seed: Any) -> Any:
        """A generator of random numbers."""
        return np.random.RandomState(seed) if seed is None or isinstance(seed, int) else seed


__all__ = ["BaseEstimator", "ClassifierMixin", "NotFittedError", "RegressorMixin",
           "check_classification_targets", "check_random_state", "column_or_1d", "type_of_target"]
