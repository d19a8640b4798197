# SPDX-License-Identifier: Apache-2.0
# The estimators for type checkers: their constructors are made of the library's list of fields when
# the package is imported. Tests compare the names and the words.
import os
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Literal

import numpy as np

from ._base import _MonotonicEstimator
from ._sklearn import ClassifierMixin, RegressorMixin

Directions = Mapping[str, int | str] | Sequence[int | str] | np.ndarray | None

class MonotonicClassifier(ClassifierMixin, _MonotonicEstimator):
    classes_: np.ndarray

    def __init__(
        self,
        *,
        monotonic_cst: Directions = ...,
        categorical_features: str | Sequence[Any] | None = ...,
        not_missing: Mapping[str, str | Sequence[str]] | None = ...,
        order: Mapping[str, Sequence[str]] | Sequence[str] | None = ...,
        grades: Sequence[Any] | None = ...,
        class_weight: str | Mapping[Any, float] | None = ...,
        max_categories: int = ...,
        interactions: str | Sequence[str] = ...,
        architecture: str = ...,
        monotone_calibrators: Literal["required", "all"] = ...,
        keypoints: Literal["auto", "distinct", "quantile", "uniform"] = ...,
        continuous_keypoints: int | Literal["auto"] | None = ...,
        initialization: Literal["auto", "data", "paper"] = ...,
        lattice_noise: float = ...,
        ensemble: int | Literal["auto"] | None = ...,
        trees: int | Literal["auto"] | None = ...,
        tree_leaves: int | Literal["auto"] | None = ...,
        tree_rate: float | Literal["auto"] | None = ...,
        tree_share: float | Literal["auto"] | None = ...,
        epochs: int | Literal["auto"] | None = ...,
        batch_size: int | Literal["auto"] | None = ...,
        learning_rate: float | Literal["auto"] | None = ...,
        adam_epsilon: float | Literal["auto"] | None = ...,
        schedule: Literal["auto", "averaged", "cosine", "constant"] = ...,
        weight_decay: float | Literal["auto"] | None = ...,
        projection: Literal["auto", "sweep", "exact", "admm"] = ...,
        calibrator_laplacian: float = ...,
        calibrator_hessian: float | Literal["auto"] | None = ...,
        lattice_laplacian: float = ...,
        lattice_torsion: float = ...,
        valid_fraction: float = ...,
        metric: Literal["auto", "accuracy", "log_loss", "auc", "brier", "mse", "rmse",
            "mae", "r2", "rps", "clipped", "pinball", "coverage", "deviance", "d2", "gini",
            "balance"] = ...,
        patience: int = ...,
        random_state: int | np.random.RandomState | np.random.Generator | None = ...,
        n_jobs: int | None = ...,
    ) -> None: ...
    def fit(self, X: Any, y: Any, sample_weight: Any = None, *, offset: Any = None,
            eval_set: Any = None,
            callback: Callable[[dict[str, Any]], Any] | None = None,
            progress: bool = False, checkpoint: str | os.PathLike[str] | None = None,
            checkpoint_seconds: float = 30, resume: bool = False,
            cache: str | os.PathLike[str] | None = None, memory: str | int | None = None,
            communicator: Any = None) -> MonotonicClassifier: ...
    def decision_function(self, X: Any, *, offset: Any = None) -> np.ndarray: ...
    def predict_proba(self, X: Any, *, offset: Any = None) -> np.ndarray: ...
    def predict(self, X: Any, *, offset: Any = None) -> np.ndarray: ...
    def score(self, X: Any, y: Any, sample_weight: Any = None, *,
              offset: Any = None) -> float: ...

class MonotonicRegressor(RegressorMixin, _MonotonicEstimator):
    def __init__(
        self,
        *,
        monotonic_cst: Directions = ...,
        categorical_features: str | Sequence[Any] | None = ...,
        not_missing: Mapping[str, str | Sequence[str]] | None = ...,
        order: Mapping[str, Sequence[str]] | Sequence[str] | None = ...,
        max_categories: int = ...,
        interactions: str | Sequence[str] = ...,
        loss: Literal["auto", "log_loss", "squared_error", "absolute_error", "quantile",
            "poisson", "gamma", "tweedie"] = ...,
        quantile: float | Sequence[float] | None = ...,
        power: float = ...,
        architecture: str = ...,
        monotone_calibrators: Literal["required", "all"] = ...,
        keypoints: Literal["auto", "distinct", "quantile", "uniform"] = ...,
        continuous_keypoints: int | Literal["auto"] | None = ...,
        initialization: Literal["auto", "data", "paper"] = ...,
        lattice_noise: float = ...,
        ensemble: int | Literal["auto"] | None = ...,
        trees: int | Literal["auto"] | None = ...,
        tree_leaves: int | Literal["auto"] | None = ...,
        tree_rate: float | Literal["auto"] | None = ...,
        tree_share: float | Literal["auto"] | None = ...,
        epochs: int | Literal["auto"] | None = ...,
        batch_size: int | Literal["auto"] | None = ...,
        learning_rate: float | Literal["auto"] | None = ...,
        adam_epsilon: float | Literal["auto"] | None = ...,
        schedule: Literal["auto", "averaged", "cosine", "constant"] = ...,
        weight_decay: float | Literal["auto"] | None = ...,
        projection: Literal["auto", "sweep", "exact", "admm"] = ...,
        calibrator_laplacian: float = ...,
        calibrator_hessian: float | Literal["auto"] | None = ...,
        lattice_laplacian: float = ...,
        lattice_torsion: float = ...,
        valid_fraction: float = ...,
        metric: Literal["auto", "accuracy", "log_loss", "auc", "brier", "mse", "rmse",
            "mae", "r2", "rps", "clipped", "pinball", "coverage", "deviance", "d2", "gini",
            "balance"] = ...,
        patience: int = ...,
        random_state: int | np.random.RandomState | np.random.Generator | None = ...,
        n_jobs: int | None = ...,
    ) -> None: ...
    def fit(self, X: Any, y: Any, sample_weight: Any = None, *, exposure: Any = None,
            offset: Any = None, eval_set: Any = None,
            callback: Callable[[dict[str, Any]], Any] | None = None,
            progress: bool = False, checkpoint: str | os.PathLike[str] | None = None,
            checkpoint_seconds: float = 30, resume: bool = False,
            cache: str | os.PathLike[str] | None = None, memory: str | int | None = None,
            communicator: Any = None) -> MonotonicRegressor: ...
    def predict(self, X: Any, *, exposure: Any = None,
                offset: Any = None) -> np.ndarray: ...
    def score(self, X: Any, y: Any, sample_weight: Any = None, *, exposure: Any = None,
              offset: Any = None) -> float: ...
