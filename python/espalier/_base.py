# SPDX-License-Identifier: Apache-2.0
"""What both estimators do."""
from __future__ import annotations

import os
import tempfile
import warnings
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

import numpy as np

from . import _core
from ._arguments import (category_test, directions_of, free_name, hint, not_missing_of, one_per_row,
                         orders_of)
from ._batches import MISSING_WORDS, Batches
from ._explanations import Reason
from ._model import AdverseWord, Model, Warning, reasons_of
from ._params import (in_python_names, memory_of, options_json, path_bytes, python_names,
                      real_number, seed_of, threads_of)
from ._progress import progress_of
from ._ranks import ranks_of
from ._sklearn import BaseEstimator, NotFittedError
from ._tables import (Input, MissingWords, as_text, default_names, is_frame, read_table,
                      rows_of)

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
    scratch: bytes = b""  #: a folder for what need not be in memory; empty: none


class Beside(NamedTuple):
    """Numbers that stand beside the features, one per row."""
    sample_weight: Any = None
    exposure: Any = None
    offset: Any = None


ARGUMENTS = {"weight": "sample_weight", "exposure": "exposure", "offset": "offset"}
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

    model_: Model
    n_features_in_: int
    feature_names_in_: np.ndarray
    n_iter_: int
    history_: dict[str, np.ndarray]
    feature_importances_: np.ndarray

    def _fit(self, X: Any, y: Any, beside: Beside, eval_set: Any, callback: Any,
             progress: bool, checkpoint: Any, checkpoint_seconds: float, resume: bool,
             cache: Any, memory: Any, communicator: Any) -> Any:
        most = memory_of(memory)
        if isinstance(y, str):
            posed = self._pose_batches(X, y, beside, eval_set, cache, most)
        elif cache is not None or most > 0:
            what = "memory" if cache is None else "cache"
            raise _core.Error(f"{what}: only batches are trained on from disk; wanted y as the "
                              "name of a column of X")
        else:
            posed = self._pose(X, y, beside, eval_set)
        folder = b"" if checkpoint is None else path_bytes(checkpoint)
        if resume and not folder:
            raise _core.Error("resume: wanted a checkpoint, the folder of the earlier fit")
        seconds = real_number(checkpoint_seconds, "checkpoint_seconds")
        with (python_names(), progress_of(callback, progress) as report,
              ranks_of(communicator) as ranks):
            if ranks is not None:
                ranks.share_seed(posed.options)
            result = _core.train(posed.table, options_json(posed.options), posed.valid, report,
                                 _warn, folder, seconds, bool(resume), posed.scratch, most,
                                 ranks)
        self._keep(result, posed)
        is_first = ranks is None or ranks.rank == 0
        if folder and is_first and not result["stopped"]:
            _core.remove_checkpoint(folder)
        return self

    def _pose(self, X: Any, y: Any, beside: Beside, eval_set: Any) -> Posed:
        """What the library is to be trained on."""
        if isinstance(y, str):
            raise _core.Error(f"y: wanted a value for each row, found the text {y!r}")
        if y is None:
            raise _core.Error(f"{type(self).__name__} requires y to be passed, but the target y is "
                              "None")
        y, classes = self._read_label(y)
        is_category = category_test(self.categorical_features, self.order, X)
        words = MissingWords(not_missing=not_missing_of(self.not_missing, X))
        given = read_table(X, "X", is_category, words=words)
        table, names = given.table, given.table.names
        self._require_usable(table, len(names), least_rows=2)
        options = self._options(names, table.orders)
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

    def _pose_batches(self, X: Any, label: str, beside: Beside, eval_set: Any,
                      cache: Any, memory: int) -> Posed:
        """The same of rows that come in batches, with y and what stands beside it by name: from
        disk."""
        batches = Batches(X, "X", memory)
        columns = {role: getattr(beside, argument) for role, argument in ARGUMENTS.items()
                   if getattr(beside, argument) is not None}
        for what, column in {"label": label, **columns}.items():
            what = ARGUMENTS.get(what, "y")
            if not isinstance(column, str):
                raise _core.Error(f"{what}: wanted the name of a column of X, as y is one")
            if column not in batches.names:
                raise _core.Error(f"{what}: X has no column '{column}'"
                                  f"{hint(column, batches.names)}")
        names = [name for name in batches.names if name not in (label, *columns.values())]
        store = self._store_of(batches, names, label)
        scratch = self._scratch_of(cache)
        table = store(batches, scratch, cache is not None)
        self._require_usable(table, len(names), least_rows=2)
        order = batches.orders.get(label)
        table.orders = {name: words for name, words in table.orders.items() if name in names}
        options = self._options(names, table.orders)
        of_label, classes = self._stored_label(table, label, batches.dtype(label), order)
        options |= {"label": label, **of_label, **columns}
        valid = None
        if eval_set is not None and isinstance(valid_rows_of(eval_set)[1], str):
            valid = store(Batches(valid_rows_of(eval_set)[0], "eval_set", memory), b"", False)
        elif eval_set is not None:
            is_category = category_test(self.categorical_features, self.order, dict.fromkeys(names))
            valid = self._valid_table(eval_set, is_category, names, options, classes)
        return Posed(Input(table, names), table, names, options, valid,
                     table.thinned(IMPORTANCE_ROWS), classes, scratch)

    def _store_of(self, batches: Batches, names: list[str], label: str) -> Any:
        """How batches with those columns become tables."""
        features = dict.fromkeys(names)
        of_features = category_test(self.categorical_features, self.order, features)
        places = {name: index for index, name in enumerate(names)}
        label_is_category = self._is_category(batches.dtype(label))
        not_missing = {**not_missing_of(self.not_missing, features), label: MISSING_WORDS}

        def is_category(name: str, _: int) -> bool:
            return label_is_category if name == label else (
                name in places and of_features(name, places[name]))

        def store(given: Batches, folder: bytes, keeps: bool) -> _core.Table:
            table = given.store(folder, keeps, is_category, not_missing, TOO_LARGE)
            table.settle_not_missing(label)
            if table.has_missing(label):
                raise _core.Error("Input y contains NaN.")
            return table

        return store

    @staticmethod
    def _scratch_of(cache: Any) -> bytes:
        if cache is None:
            return path_bytes(tempfile.gettempdir())
        os.makedirs(cache, exist_ok=True)
        return path_bytes(cache)

    def _is_category(self, dtype: np.dtype) -> bool:
        """Whether a label of that type has words where it is no number."""
        return False

    def _stored_label(self, table: _core.Table, name: str, dtype: np.dtype,
                      order: list[str] | None) -> tuple[dict[str, Any], np.ndarray | None]:
        """The options that a label on disk adds, and its classes if it has any."""
        raise NotImplementedError

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
                            not model._core.beside and
                            all(own.kind == "number" for own in model._features))
        if importances is not None:
            self.feature_importances_ = importances
        elif hasattr(self, "feature_importances_"):
            del self.feature_importances_
        if posed.classes is not None:
            self.classes_ = posed.classes

    def _importances(self, model: Model, posed: Posed) -> np.ndarray | None:
        if len(posed.names) > IMPORTANCE_COLUMNS:
            return None
        moves = _core.importance(model._core, posed.sample, False, "auto", repeats=1,
                                 shared_rows=0, shuffled_rows=0, seed=1,
                                 threads=threads_of(self.n_jobs))["move"][0]
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

    def _options(self, names: list[str], orders: dict[str, list[str]]) -> dict[str, Any]:
        """The fields that the parameters stand for; of the features, and of those with an order."""
        fields = [field["name"] for field in _core.train_fields()]
        params = self.get_params(deep=False)
        options = {name: params[name] for name in fields if name in params}
        options["seed"] = seed_of(self.random_state)
        options["threads"] = threads_of(self.n_jobs)
        options |= directions_of(self.monotonic_cst, names)
        options["order"] = orders_of(self.order, orders)
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
                           MissingWords(not_missing=not_missing_of(self.not_missing, X)))
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
        is_plain = self._takes_rows and exposure is None and offset is None
        rows = rows_of(X) if is_plain else None
        if rows is None or rows.shape[1] != self.n_features_in_ or len(rows) == 0:
            return model._core.predict(self._rows(X, model, beside), output, threads)
        if _core.has_infinity(rows):
            raise _core.Error(TOO_LARGE)
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
                yield columns[role], np.ones(num_rows) if values is None else values
            else:
                raise _core.Error("offset: fit got one, so predictions need one too")

    def _rows(self, X: Any, model: Model, beside: Beside) -> np.ndarray:
        fitted = getattr(self, "feature_names_in_", None)
        names = default_names(self.n_features_in_) if fitted is None else fitted.tolist()
        places = default_names(len(names))
        words = MissingWords(*({**{place: of[name] for place, name in zip(places, names)
                                   if name in of}, **of} for of in model._words))
        given = read_table(X, "X", lambda name, index: index < len(names) and
                           names[index] in model._categories, words=words)
        if given.names is not None and fitted is not None:
            self._require_same_names(given.names, names)
        if len(given.table.names) != self.n_features_in_:
            raise _core.Error(f"X has {len(given.table.names)} features, but "
                              f"{type(self).__name__} is expecting {self.n_features_in_} features "
                              "as input.")
        if given.names is None and fitted is not None:
            warnings.warn(f"X does not have valid feature names, but {type(self).__name__} was "
                          "fitted with feature names", stacklevel=4)
        if given.names is not None and fitted is None:
            warnings.warn(f"X has feature names, but {type(self).__name__} was fitted without "
                          "feature names", stacklevel=4)
        given.table.names = names
        given.table.read_as_numbers(model._numbers)
        self._require_usable(given.table, len(names), least_rows=1)
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


def _warn(message: str) -> None:
    warnings.warn(in_python_names(message), Warning, stacklevel=4)
