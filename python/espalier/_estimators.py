# SPDX-License-Identifier: Apache-2.0
"""The scikit-learn estimators."""
from __future__ import annotations

from typing import Any

import numpy as np

from . import _core
from ._arguments import Named, grades_of, label_column, one_per_row, require_as_many
from ._base import Beside, _MonotonicEstimator
from ._params import with_parameters
from ._sklearn import ClassifierMixin, RegressorMixin, check_classification_targets
from ._tables import NUMBERS, word_of

MOST_CLASSES = 100  # of the library


@with_parameters(is_classifier=True)
class MonotonicClassifier(ClassifierMixin, _MonotonicEstimator):
    """A deep lattice network for classes. Of two, the probability of the second rises with the
    features that must raise it; of grades, that of reaching each: proven, and true of every
    prediction to the last bit. A direction of classes without an order names its class:
    `monotonic_cst={"prime:income": 1}`.

    Parameters
    ----------
    {parameters}

    Attributes
    ----------
    classes_ : the classes, sorted, or the grades from low to high
    model_ : `espalier.Model`, to save, verify and look into
    n_features_in_, feature_names_in_ : the columns of X
    n_iter_ : epochs trained
    history_ : arrays `member`, `epoch`, `train_loss`, `valid_metric`, one per evaluated epoch
    feature_importances_ : share of the movement of the score when a feature is shuffled, for up
        to 1,000 columns

    Examples
    --------
    >>> import espalier
    >>> loans = espalier.simulate(rows=1000)
    >>> y = loans.pop("default")
    >>> risk = espalier.MonotonicClassifier(
    ...     monotonic_cst={"debt_ratio": "increasing", "income": "decreasing"}, epochs=2)
    >>> risk.fit(loans, y).predict_proba(loans).shape
    (1000, 2)
    >>> risk.classes_.tolist()
    ['no', 'yes']
    >>> risk.model_.verify(pairs=1000).holds
    True
    """

    def fit(self, X: Any, y: Any, sample_weight: Any = None, *, offset: Any = None,
            eval_set: Any = None, callback: Any = None, progress: bool = False,
            checkpoint: Any = None, checkpoint_seconds: float = 30,
            resume: bool = False, cache: Any = None, memory: Any = None,
            communicator: Any = None) -> MonotonicClassifier:
        """Trains a model.

        Parameters
        ----------
        X : array or frame of shape (rows, features); NaN, None and nulls are missing. Or rows that
            come in batches and are trained on from disk, the same model: a Parquet file or folder,
            a pyarrow dataset, scanner or reader, an iterator of record batches or frames
        y : classes, one per row: two, with or without an order (see `grades`) up to 100; of
            batches the name of their column, and so are sample_weight, exposure and offset
        sample_weight : one per row
        offset : one per row, added to the score; predictions then need it too
        eval_set : (X, y) or (X, y, sample_weight) to choose the epoch on, instead of
            valid_fraction of the rows; or a dictionary of X, y and what stands beside them
        callback : called after each epoch with a dictionary; what is true ends training with the
            best model so far
        progress : shows a tqdm bar
        checkpoint : a folder for the state of training, so that a fit that was ended by Ctrl-C, a
            kill or the callback can go on; emptied when the fit is done
        checkpoint_seconds : at most this long from one checkpoint to the next
        resume : goes on from the checkpoint, from the beginning if there is none. The model is the
            same, to the last bit, as if nothing had ended the fit
        cache : a folder to keep the table of batches in, for later fits of the same Parquet files;
            without it the table is in the system's folder for temporary files until the fit is done
        memory : the most that training may take from disk, "512M", "2G" or a number of bytes, apart
            from files, from what Python and its packages take and from the batch that is read;
            if it needs more, an error says how much before the first step. None: any
        communicator : of mpi4py, MPI.COMM_WORLD say, whose processes all call fit with the same
            rows and train this model together: each gets the one that a single process would get.
            The first has the checkpoint. None: this process alone
        """
        return self._fit(X, y, Beside(sample_weight, offset=offset), eval_set, callback, progress,
                         checkpoint, checkpoint_seconds, resume, cache, memory,
                         communicator)

    def _read_label(self, y: Any) -> tuple[Any, np.ndarray | None]:
        name = getattr(y, "name", None)
        labels = label_column(y)
        try:
            classes = np.unique(labels)
        except TypeError:
            kinds = sorted({type(label).__name__ for label in labels})
            raise _core.Error("y: its classes are of different kinds, "
                              f"{', '.join(kinds)}") from None
        check_classification_targets(labels)
        grades = grades_of(self.grades, y)
        if grades is None:
            return Named(labels, name), classes
        for label in classes.tolist():
            if label not in grades:
                raise _core.Error(f"grades: {label!r} of y is none of {grades!r}")
        return Named(labels, name, grades), np.array(grades, dtype=classes.dtype)

    def _is_category(self, dtype: np.dtype) -> bool:
        return dtype.kind not in "iuf"

    def _stored_label(self, table: _core.Table, name: str, dtype: np.dtype,
                      order: list[str] | None) -> tuple[dict[str, Any], np.ndarray | None]:
        if isinstance(self.class_weight, dict):
            raise _core.Error("class_weight: a dictionary does not suit batches; wanted "
                              "'balanced', or sample_weight as the name of a column")
        values = table.distinct(name, MOST_CLASSES)
        if values is None:
            return {"task": "classification"}, None  # which the library refuses
        numeric = dtype.kind in "iuf"
        if numeric and dtype.kind != "f" and any(abs(value) >= 2**53 for value in values):
            raise _core.Error("y: its numbers are too large for classes; wanted words")
        classes = (np.array(values).astype(dtype) if numeric else
                   np.array([value == "True" for value in values]) if dtype.kind == "b" else
                   np.array(values, dtype=object))
        check_classification_targets(classes)
        grades = order if self.grades is None else grades_of(self.grades, None)
        if grades is not None:
            for label in classes.tolist():
                if label not in grades:
                    raise _core.Error(f"grades: {label!r} of y is none of {grades!r}")
            return ({"grades": "<".join(word_of(label) for label in grades)},
                    np.array(grades, dtype=classes.dtype))
        return {"task": "classification"} if numeric and len(classes) > 2 else {}, classes

    def _options(self, names: list[str], orders: dict[str, list[str]]) -> dict[str, Any]:
        options = super()._options(names, orders)
        if self.class_weight is None or isinstance(self.class_weight, dict):
            options["class_weight"] = "none"
        return options

    def _weights(self, sample_weight: Any, y: Any, num_rows: int,
                 classes: Any) -> np.ndarray | None:
        if not isinstance(self.class_weight, dict):
            return super()._weights(sample_weight, y, num_rows, classes)
        given = 1.0 if sample_weight is None else sample_weight
        weights = super()._weights(given, y, num_rows, classes)
        labels = label_column(y)
        for label, weight in self.class_weight.items():
            if label not in classes.tolist():
                raise _core.Error(f"class_weight: {label!r} is no class of y; its classes are "
                                  f"{', '.join(map(repr, classes.tolist()))}")
            if not isinstance(weight, NUMBERS):
                raise _core.Error(f"class_weight: {label!r}: {weight!r} is no number")
            weights[labels == label] *= float(weight)
        return weights

    def _add_label(self, table: _core.Table, name: str, y: Any,
                   classes: Any) -> dict[str, Any]:
        labels = label_column(y)
        require_as_many(labels, table.num_rows)
        numeric = classes.dtype.kind in "iuf"
        ordered = grades_of(self.grades, y) is not None
        if numeric and len(np.unique(classes.astype(np.float64))) == len(classes):
            table.add_matrix([name], labels.astype(np.float64).reshape(-1, 1))
            if ordered:
                return {"grades": "<".join(word_of(label) for label in classes.tolist())}
            return {"task": "classification"} if len(classes) > 2 else {}
        words, codes = np.unique(labels, return_inverse=True)
        # A label is never missing here, whatever its class is called.
        table.not_missing = {**table.not_missing,
                             name: [str(w) for w in words if str(w) and
                                    _core.means_missing(str(w))]}
        table.add_words(name, [str(word) for word in words], codes.astype(np.int32))
        if ordered:
            return {"grades": "<".join(map(str, classes))}
        last = str(classes[-1])
        return {} if len(classes) > 2 or last == max(map(str, classes)) else {"positive": last}

    def _objective(self) -> dict[str, Any]:
        return {"grades": ""}  # _add_label knows them

    def _columns(self) -> list[int]:
        """Which class of the model each of classes_ is."""
        words = self.model_._core.classes
        if self.classes_.dtype.kind in "iuf" or self.model_._core.ordered:
            return list(range(len(words)))
        return [words.index(str(label)) for label in self.classes_]

    def decision_function(self, X: Any, *, offset: Any = None) -> np.ndarray:
        """Of two classes the logit of the second one, one per row; of more their scores before the
        softmax, of shape (rows, classes); of grades the logits of reaching each but the lowest."""
        scores = self._predict(X, "score", offset=offset)
        if scores.ndim == 1 or self.model_._core.ordered:
            return scores
        return scores[:, self._columns()]

    def predict_proba(self, X: Any, *, offset: Any = None) -> np.ndarray:
        """The probability of each of classes_, float32 of shape (rows, classes)."""
        predicted = self._predict(X, "prediction", offset=offset)
        if predicted.ndim == 2 and not self.model_._core.ordered:
            return predicted[:, self._columns()]
        # What is predicted is the probability of reaching each class but the first.
        reached = np.pad(predicted.reshape(len(predicted), -1), ((0, 0), (1, 1)),
                         constant_values=((0, 0), (1, 0)))
        return reached[:, :-1] - reached[:, 1:]

    def predict(self, X: Any, *, offset: Any = None) -> np.ndarray:
        """The likelier class, one per row; of grades the largest that is reached with probability
        1/2, which never falls with what must raise it."""
        scores = self.decision_function(X, offset=offset)
        if scores.ndim == 1:
            return self.classes_[(scores > 0).astype(np.intp)]
        if self.model_._core.ordered:
            return self.classes_[(scores >= 0).sum(axis=1)]
        return self.classes_[scores.argmax(axis=1)]

    def score(self, X: Any, y: Any, sample_weight: Any = None, *, offset: Any = None) -> float:
        """The accuracy: the share of rows whose class is predicted."""
        right = self.predict(X, offset=offset) == label_column(y)
        return float(np.average(right, weights=one_per_row(sample_weight, "sample_weight",
                                                           len(right))))


def _explained(loss: np.ndarray, base: np.ndarray, weights: np.ndarray) -> float:
    """The share of a loss that predictions save beside a constant."""
    lost, whole = np.average(loss, weights=weights), np.average(base, weights=weights)
    return float(1 - lost / whole if whole > 0 else lost == 0)


def _deviance(power: float, y: np.ndarray, mean: np.ndarray) -> np.ndarray:
    """Of rates y with that mean, where the variance is that power of the mean."""
    with np.errstate(divide="ignore", invalid="ignore"):
        if power == 1:
            return 2 * (np.where(y > 0, y * np.log(y / mean), 0) - y + mean)
        if power == 2:
            return 2 * (y / mean - 1 - np.log(y / mean))
        return 2 * (y ** (2 - power) / ((1 - power) * (2 - power)) -
                    y * mean ** (1 - power) / (1 - power) + mean ** (2 - power) / (2 - power))


@with_parameters(is_classifier=False)
class MonotonicRegressor(RegressorMixin, _MonotonicEstimator):
    """A deep lattice network for a number that rises with the features that must raise it: proven,
    and true of every prediction to the last bit.

    Parameters
    ----------
    {parameters}

    Attributes
    ----------
    model_ : `espalier.Model`, to save, verify and look into
    n_features_in_, feature_names_in_ : the columns of X
    n_iter_ : epochs trained
    history_ : arrays `member`, `epoch`, `train_loss`, `valid_metric`, one per evaluated epoch
    feature_importances_ : share of the movement of the prediction when a feature is shuffled, for
        up to 1,000 columns

    Examples
    --------
    >>> import numpy as np, espalier
    >>> X = np.random.default_rng(1).uniform(size=(300, 2))
    >>> y = 3 * X[:, 0] - X[:, 1] ** 2
    >>> price = espalier.MonotonicRegressor(monotonic_cst=[1, -1]).fit(X, y)
    >>> bool(price.score(X, y) > 0.9)
    True
    """

    def fit(self, X: Any, y: Any, sample_weight: Any = None, *, exposure: Any = None,
            offset: Any = None, eval_set: Any = None, callback: Any = None, progress: bool = False,
            checkpoint: Any = None, checkpoint_seconds: float = 30,
            resume: bool = False, cache: Any = None, memory: Any = None,
            communicator: Any = None) -> MonotonicRegressor:
        """Trains a model; the arguments are those of `MonotonicClassifier.fit`, with numbers as
        y, and with the losses poisson and tweedie the exposure of each row."""
        return self._fit(X, y, Beside(sample_weight, exposure, offset), eval_set, callback,
                         progress, checkpoint, checkpoint_seconds, resume, cache, memory,
                         communicator)

    def _add_label(self, table: _core.Table, name: str, y: Any,
                   classes: Any) -> dict[str, Any]:
        values = label_column(y)
        require_as_many(values, table.num_rows)
        if values.dtype.kind in "mM":
            raise _core.Error(f"y: regression wants numbers, found {values.dtype}")
        try:
            numbers = values.astype(np.float64)
        except (TypeError, ValueError, OverflowError) as error:
            raise _core.Error(f"y: regression wants numbers, found {values.dtype}") from error
        if not np.isfinite(numbers).all():
            raise _core.Error("Input y contains NaN or infinity.")
        table.add_matrix([name], numbers.reshape(-1, 1))
        # The library takes two values for classes unless it is told.
        others = numbers[numbers != numbers[0]]
        few = len(others) == 0 or bool((others == others[0]).all())
        return {"task": "regression"} if few else {}

    def _stored_label(self, table: _core.Table, name: str, dtype: np.dtype,
                      order: list[str] | None) -> tuple[dict[str, Any], np.ndarray | None]:
        # The library takes two values for classes unless it is told.
        return {"task": "regression"} if table.distinct(name, 2) is not None else {}, None

    def _objective(self) -> dict[str, Any]:
        if self.loss == "log_loss":
            raise _core.Error("loss: log_loss is for classes; wanted MonotonicClassifier")
        return {"quantile": [] if self.quantile is None else self.quantile}

    def predict(self, X: Any, *, exposure: Any = None, offset: Any = None) -> np.ndarray:
        """The label, one float32 a row; of several quantiles a column for each. Without an exposure
        it is predicted for exposure 1."""
        return self._predict(X, "prediction", exposure, offset)

    def score(self, X: Any, y: Any, sample_weight: Any = None, *, exposure: Any = None,
              offset: Any = None) -> float:
        """The share that the model explains, 1 at best and 0 for a constant: with the losses
        poisson, gamma and tweedie of the deviance of the rates y / exposure, weighted by exposure,
        as ``espalier evaluate`` prints it as d2; with all others of the variance, R^2."""
        values = label_column(y).astype(np.float64)
        weights = one_per_row(1.0 if sample_weight is None else sample_weight, "sample_weight",
                              len(values))
        width = one_per_row(1.0 if exposure is None else exposure, "exposure", len(values))
        if not (np.isfinite(width).all() and (width > 0).all()):
            raise _core.Error("exposure: wanted a finite number above 0 for each row")
        predicted = self.predict(X, exposure=exposure, offset=offset).astype(np.float64)
        if predicted.ndim > 1:
            raise _core.Error("score: the model predicts several quantiles; wanted one")
        require_as_many(values, len(predicted))
        if self.model_.loss in ("poisson", "gamma", "tweedie"):
            return self._explained_deviance(values, predicted, weights, width)
        mean = np.average(values, weights=weights)
        return _explained((values - predicted) ** 2, (values - mean) ** 2, weights)

    def _explained_deviance(self, values: np.ndarray, predicted: np.ndarray, weights: np.ndarray,
                            exposure: np.ndarray) -> float:
        power = self.model_.info["power"]
        if not ((values > 0) if power == 2 else (values >= 0)).all():
            raise _core.Error(f"y: the loss {self.model_.loss} wanted "
                              f"{'numbers above 0' if power == 2 else '0 or more'}")
        rates, weights = values / exposure, weights * exposure
        mean = np.full(len(rates), np.average(rates, weights=weights))
        return _explained(_deviance(power, rates, predicted / exposure),
                          _deviance(power, rates, mean), weights)
