# SPDX-License-Identifier: Apache-2.0
"""The scikit-learn estimators."""
from __future__ import annotations

import warnings
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

import numpy as np

from . import _core
from ._arguments import (Named, category_test, directions_of, free_name, grades_of, label_column,
                         not_missing_of, one_per_row, orders_of, require_as_many)
from ._explanations import Reason
from ._model import AdverseWord, Model, Warning, reasons_of
from ._params import (options_json, path_bytes, real_number, seed_of, threads_of,
                      with_parameters)
from ._progress import progress_of
from ._sklearn import (BaseEstimator, ClassifierMixin, NotFittedError, RegressorMixin,
                       check_classification_targets)
from ._tables import (NUMBERS, Input, as_text, default_names, is_frame, read_table, rows_of,
                      word_of)

IMPORTANCE_ROWS = 1000
# Its time grows with the square of the columns.
IMPORTANCE_COLUMNS = 1000
TOO_LARGE = "Input X contains infinity or a value too large for dtype('float32')"


class Posed(NamedTuple):
    """A problem for the library."""
    given: Input
    table: _core.Table
    names: list[str]
    options: dict[str, Any]
    valid: _core.Table | None
    sample: _core.Table  #: rows to judge the importance of features on
    classes: np.ndarray | None


class Beside(NamedTuple):
    """Numbers that stand beside the features, one per row."""
    sample_weight: Any = None
    exposure: Any = None
    offset: Any = None


WORDS_OF_ROLES = {"weight": "weights", "exposure": "an exposure", "offset": "an offset"}


def valid_rows_of(eval_set: Any) -> tuple[Any, Any, Beside]:
    """X, y and what stands beside them."""
    rows = eval_set[0] if isinstance(eval_set, list) and len(eval_set) == 1 else eval_set
    if isinstance(rows, tuple) and len(rows) in (2, 3):
        return rows[0], rows[1], Beside(*rows[2:])
    if isinstance(rows, dict) and {"X", "y"} <= rows.keys() <= {"X", "y", *Beside._fields}:
        return rows["X"], rows["y"], Beside(**{key: rows[key] for key in Beside._fields
                                               if key in rows})
    raise _core.Error("eval_set: wanted (X, y), (X, y, sample_weight), or a dictionary of X, y and "
                      f"any of {', '.join(Beside._fields)}")


class _MonotonicEstimator(BaseEstimator):
    """What both estimators do: tables in, a model out."""

    def _fit(self, X: Any, y: Any, beside: Beside, eval_set: Any, callback: Any,
             progress: bool, checkpoint: Any, checkpoint_seconds: float, resume: bool) -> Any:
        posed = self._pose(X, y, beside, eval_set)
        folder = b"" if checkpoint is None else path_bytes(checkpoint)
        if resume and not folder:
            raise _core.Error("resume: wanted a checkpoint, the folder of the earlier fit")
        seconds = real_number(checkpoint_seconds, "checkpoint_seconds")
        with progress_of(callback, progress) as report:
            result = _core.train(posed.table, options_json(posed.options), posed.valid, report,
                                 _warn, folder, seconds, bool(resume))
        self._keep(result, posed)
        if folder and not result["stopped"]:
            _core.remove_checkpoint(folder)
        return self

    def _pose(self, X: Any, y: Any, beside: Beside, eval_set: Any) -> Posed:
        """What the library is to be trained on."""
        if y is None:
            raise _core.Error(f"{type(self).__name__} requires y to be passed, but the target y is "
                              "None")
        y, classes = self._read_label(y)
        is_category = category_test(self.categorical_features, self.order, X)
        not_missing = not_missing_of(self.not_missing, X)
        given = read_table(X, "X", is_category, not_missing=not_missing)
        table, names = given.table, given.table.names
        self._require_usable(table, len(names), least_rows=2)
        options = self._options(given)
        # The label and what stands beside it are columns too, and no two share a name.
        label = free_name(as_text(str(getattr(y, "name", None) or "y"), "the name of y"), names)
        options |= {"label": label, **self._add_label(table, label, y, classes)}
        for role, argument, values in self._beside(beside, y, table.num_rows, classes):
            given_name = as_text(str(getattr(getattr(beside, argument), "name", None) or argument),
                                 f"the name of {argument}")
            options[role] = free_name(given_name, table.names)
            table.add_matrix([options[role]], values)
        valid = None
        if eval_set is not None:
            valid = self._valid_table(eval_set, is_category, names, options, classes)
        return Posed(given, table, names, options, valid, table.thinned(IMPORTANCE_ROWS), classes)

    def _read_label(self, y: Any) -> tuple[Any, np.ndarray | None]:
        """y as _add_label takes it, and its classes if it has any."""
        return y, None

    def _keep(self, result: dict[str, Any], posed: Posed) -> None:
        """Sets what a fit leaves, all of it after the last thing that can fail."""
        given, names = posed.given, posed.names
        model, history = Model(result["model"]), result["history"]
        importances = self._importances(model, posed)
        self.model_ = model
        self.n_features_in_ = len(names)
        if given.names is not None:
            self.feature_names_in_ = np.array(names, dtype=object)
        elif hasattr(self, "feature_names_in_"):
            del self.feature_names_in_
        self.history_ = {key: np.array([epoch[key] for epoch in history])
                         for key in ("member", "epoch", "train_loss", "valid_metric")}
        self.n_iter_ = int(self.history_["epoch"].max())
        # Whether rows of numbers can go to the predictor as they are, with nothing to warn of.
        self._takes_rows = (given.names is None and model.feature_names == names and
                            not model._categories)
        if importances is not None:
            self.feature_importances_ = importances
        elif hasattr(self, "feature_importances_"):
            del self.feature_importances_
        if posed.classes is not None:
            self.classes_ = posed.classes

    def _importances(self, model: Model, posed: Posed) -> np.ndarray | None:
        if len(posed.names) > IMPORTANCE_COLUMNS:
            return None
        moves = _core.importance(model._core, posed.sample, False, "automatic", 1, 0, 1,
                                 threads_of(self.n_jobs))["move"][0]
        by_name = dict(zip(model.feature_names, moves / (moves.sum() or 1)))
        return np.array([by_name.get(name, 0.0) for name in posed.names])

    def _require_usable(self, table: _core.Table, num_columns: int, least_rows: int) -> None:
        shape = (table.num_rows, num_columns)
        for count, least, what in ((num_columns, 1, "feature(s)"),
                                   (table.num_rows, least_rows, "sample(s)")):
            if count < least:
                raise _core.Error(f"Found array with {count} {what} (shape={shape}) while a "
                                  f"minimum of {least} is required by {type(self).__name__}.")
        if (column := table.infinite_column()) is not None:
            raise _core.Error(f"{TOO_LARGE}: column '{column}'")

    def _options(self, given: Input) -> dict[str, Any]:
        """The fields that the parameters stand for."""
        fields = [field["name"] for field in _core.train_fields()]
        params = self.get_params(deep=False)
        options = {name: params[name] for name in fields if name in params}
        options["seed"] = seed_of(self.random_state)
        options["threads"] = threads_of(self.n_jobs)
        options |= directions_of(self.monotonic_cst, given.table.names)
        options["order"] = orders_of(self.order, given.table.orders)
        return options | self._objective()

    def _objective(self) -> dict[str, Any]:
        """The fields of what is predicted, where scikit-learn writes them in its own way."""
        return {}

    def _beside(self, beside: Beside, y: Any, num_rows: int,
                classes: Any) -> Iterator[tuple[str, str, np.ndarray]]:
        """Role, argument and numbers of the columns beside the features."""
        for role, argument, values in (
                ("weight", "sample_weight", self._weights(beside.sample_weight, y, num_rows,
                                                          classes)),
                ("exposure", "exposure", one_per_row(beside.exposure, "exposure", num_rows)),
                ("offset", "offset", one_per_row(beside.offset, "offset", num_rows))):
            if values is not None:
                yield role, argument, values.reshape(-1, 1)

    def _weights(self, sample_weight: Any, y: Any, num_rows: int,
                 classes: Any) -> np.ndarray | None:
        weights = one_per_row(sample_weight, "sample_weight", num_rows)
        if weights is not None and not weights.any():
            raise _core.Error("sample_weight: all weights are zero")
        return weights

    def _valid_table(self, eval_set: Any, is_category: Any, names: list[str],
                     options: dict[str, Any], classes: Any) -> _core.Table:
        X, y, beside = valid_rows_of(eval_set)
        given = read_table(X, "eval_set", is_category, None if is_frame(X) else names,
                           not_missing_of(self.not_missing, X))
        self._add_label(given.table, options["label"], y, classes)
        if "weight" in options and beside.sample_weight is None:
            beside = beside._replace(sample_weight=1.0)
        found = set()
        for role, argument, values in self._beside(beside, y, given.table.num_rows, classes):
            if role not in options:
                raise _core.Error(f"eval_set: it has {WORDS_OF_ROLES[role]}, but fit got no "
                                  f"{argument}")
            given.table.add_matrix([options[role]], values)
            found.add(role)
        for role in {"exposure", "offset"} & options.keys() - found:
            if options[role]:
                raise _core.Error(f"eval_set: wanted its {role} too: a dictionary with 'X', 'y' "
                                  f"and '{role}'")
        return given.table

    def _require_fitted(self) -> Model:
        model = self.__dict__.get("model_")
        if model is None:
            raise NotFittedError(f"This {type(self).__name__} instance is not fitted yet. Call "
                                 "'fit' with appropriate arguments before using this estimator.")
        return model

    def _predict(self, X: Any, output: str, exposure: Any = None,
                 offset: Any = None) -> np.ndarray:
        model = self._require_fitted()
        threads = threads_of(self.n_jobs)
        beside = Beside(exposure=exposure, offset=offset)
        rows = rows_of(X) if self._takes_rows else None
        if rows is None or rows.shape[1] != self.n_features_in_ or len(rows) == 0:
            return model._core.predict(self._rows(X, model, beside), output, threads)
        if _core.has_infinity(rows):
            raise _core.Error(TOO_LARGE)
        for _, values in self._beside_rows(model, beside, len(rows)):
            rows = np.column_stack([rows, values.astype(np.float32)])
        return model._core.predict(rows, output, threads)

    @staticmethod
    def _beside_rows(model: Model, beside: Beside,
                     num_rows: int) -> Iterator[tuple[str, np.ndarray]]:
        """Name and numbers of the columns that a prediction reads besides those of X."""
        columns = model._core.beside
        for role in ("exposure", "offset"):
            values = one_per_row(getattr(beside, role), role, num_rows)
            if role not in columns:
                if values is not None:
                    raise _core.Error(f"{role}: fit got none")
            elif values is not None or role == "exposure":
                wrong = values is not None and not (np.isfinite(values).all() and
                                                    (role == "offset" or (values > 0).all()))
                if wrong:
                    raise _core.Error(f"{role}: wanted a finite number for each row"
                                      f"{', more than 0' if role == 'exposure' else ''}")
                yield columns[role], np.ones(num_rows) if values is None else values
            else:
                raise _core.Error("offset: fit got one, so predictions need one too")

    def _rows(self, X: Any, model: Model, beside: Beside) -> np.ndarray:
        fitted = getattr(self, "feature_names_in_", None)
        names = default_names(self.n_features_in_) if fitted is None else fitted.tolist()
        by_place = {place: words for place, name in zip(default_names(len(names)), names)
                    if (words := model._not_missing.get(name))}
        given = read_table(X, "X", lambda name, index: names[index:index + 1] and
                           names[index] in model._categories,
                           not_missing={**by_place, **model._not_missing})
        if given.names is not None and fitted is not None:
            self._require_same_names(given.names, names)
        if len(given.table.names) != self.n_features_in_:
            raise _core.Error(f"X has {len(given.table.names)} features, but "
                              f"{type(self).__name__} is expecting {self.n_features_in_} features "
                              "as input.")
        self._require_usable(given.table, len(names), least_rows=1)
        if given.names is None and fitted is not None:
            warnings.warn(f"X does not have valid feature names, but {type(self).__name__} was "
                          "fitted with feature names", stacklevel=4)
        if given.names is not None and fitted is None:
            warnings.warn(f"X has feature names, but {type(self).__name__} was fitted without "
                          "feature names", stacklevel=4)
        given.table.names = names
        for name, values in self._beside_rows(model, beside, given.table.num_rows):
            given.table.add_matrix([name], values.reshape(-1, 1))
        return model._rows(given.table, stacklevel=5)

    def reasons(self, X: Any, top: int = 4, *, adverse: AdverseWord = "either",
                sentences: Mapping[str, str] | None = None, baseline: Any = None,
                output: str | None = None, exact_columns: int | None = None,
                permutations: int | None = None, offset: Any = None) -> list[list[Reason]]:
        """The columns that make most of the difference between the score of each row and that of a
        baseline, with their shares: see `Model.reasons` and `Model.explain`."""
        model = self._require_fitted()
        rows = self._rows(X, model, Beside(offset=offset))
        found = model._explain(rows, baseline, output, exact_columns, permutations, 1, self.n_jobs)
        return reasons_of(found, top, adverse, sentences)

    @staticmethod
    def _require_same_names(found: list[str], wanted: list[str]) -> None:
        if found == wanted:
            return
        lines = ["The feature names should match those that were passed during fit."]
        for title, names in (("Feature names unseen at fit time:", set(found) - set(wanted)),
                             ("Feature names seen at fit time, yet now missing:",
                              set(wanted) - set(found))):
            if names:
                lines += [title, *(f"- {name}" for name in sorted(names)[:5])]
        if len(lines) == 1:
            lines.append("Feature names must be in the same order as they were in fit.")
        raise _core.Error("\n".join(lines) + "\n")

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.input_tags.categorical = True
        return tags

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "model_")


@with_parameters(is_classifier=True)
class MonotonicClassifier(ClassifierMixin, _MonotonicEstimator):
    """A deep lattice network for classes. Of two, the probability of the second rises with the
    features that must raise it; of grades, that of reaching each: proven, and true of every
    prediction to the last bit. Classes without an order have no directions.

    Parameters
    ----------
    {parameters}

    Attributes
    ----------
    classes_ : the classes, sorted, or the grades from low to high
    model_ : `espalier.Model`, to save, verify and look into
    n_features_in_, feature_names_in_ : the columns of X
    n_iter_ : epochs trained
    history_ : arrays `member`, `epoch`, `train_loss`, `valid_metric`, one element per epoch
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
            resume: bool = False) -> MonotonicClassifier:
        """Trains a model.

        Parameters
        ----------
        X : array or frame of shape (rows, features); NaN, None and nulls are missing
        y : classes, one per row: two, with or without an order (see `grades`) up to 100
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
        """
        return self._fit(X, y, Beside(sample_weight, offset=offset), eval_set, callback, progress,
                         checkpoint, checkpoint_seconds, resume)

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

    def _options(self, given: Input) -> dict[str, Any]:
        options = super()._options(given)
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
    history_ : arrays `member`, `epoch`, `train_loss`, `valid_metric`, one element per epoch
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
            resume: bool = False) -> MonotonicRegressor:
        """Trains a model; the arguments are those of `MonotonicClassifier.fit`, with numbers as
        y, and with the losses poisson and tweedie the exposure of each row."""
        return self._fit(X, y, Beside(sample_weight, exposure, offset), eval_set, callback,
                         progress, checkpoint, checkpoint_seconds, resume)

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

    def _objective(self) -> dict[str, Any]:
        if self.loss == "log_loss":
            raise _core.Error("loss: log_loss is for classes; wanted MonotonicClassifier")
        return {"quantile": [] if self.quantile is None else self.quantile}

    def predict(self, X: Any, *, exposure: Any = None, offset: Any = None) -> np.ndarray:
        """The label, one float32 a row; of several quantiles a column for each. Without an exposure
        it is predicted for exposure 1."""
        return self._predict(X, "prediction", exposure, offset)


def _warn(message: str) -> None:
    warnings.warn(message, Warning, stacklevel=4)
