# SPDX-License-Identifier: Apache-2.0
"""Trained models: what a ``.esp`` file holds."""
from __future__ import annotations

import json
import os
import warnings
from collections.abc import Iterator, Mapping
from functools import cached_property
from typing import Any, Literal, NamedTuple, get_args

import numpy as np

from . import _core
from ._arguments import free_name, require_as_many
from ._batches import frames_of
from ._explanations import Explanation, Importance, Reason
from ._params import path_bytes, threads_of, whole_number
from ._tables import MissingWords, add_labels, is_frame, read_table, rows_of, unmasked

OutputWord = Literal["prediction", "score"]
AdverseWord = Literal["either", "higher", "lower"]


class Warning(UserWarning):  # noqa: A001 - as espalier.Error is the library's error
    """What the library has to say of a table that it can use nevertheless."""


class Calibrator(NamedTuple):
    """A piecewise linear curve; of a category, one output per word."""

    name: str  #: the feature, or the wire that it calibrates inside the network
    inputs: np.ndarray  #: where it bends; the words of a category or of an ordered feature
    outputs: np.ndarray  #: float32, one per input
    missing: float | None  #: the output for a missing cell, where one was learned
    rises: bool  #: whether its outputs must never fall (with the inputs turned round if decreasing)
    layer: int  #: from 1
    member: int  #: the network of an ensemble, from 1


class Lattice(NamedTuple):
    """An interpolation table over some wires."""

    wires: list[str]  #: what goes in, one per dimension
    rises: list[bool]  #: the dimensions along which the vertices must never fall
    vertices: np.ndarray  #: float32, shape (2,) * len(wires); axis d belongs to wire d
    layer: int  #: from 1
    member: int  #: the network of an ensemble, from 1
    interpolation: str = "multilinear"  #: or simplex


class Interaction(NamedTuple):
    """A pair of columns that is crossed into a category, or has a table where one is monotone."""

    columns: tuple[str, str]
    cells: tuple[list[str], list[str]]  #: a cell of each bin or vertex, as text; of missing empty
    scores: np.ndarray  #: float32, a score for each cell where the other columns are typical
    strength: float  #: the deviation of the scores from the nearest sum of two curves


class _Feature(NamedTuple):
    name: str
    kind: str
    words: list[str] | None
    missing: list[str]
    not_missing: list[str]


class Model:
    """A trained model, immutable; any number of threads may use it.

    `espalier.load` reads one from a file, and fitted estimators hold theirs as ``model_``.

    Examples
    --------
    >>> import espalier
    >>> loans = espalier.simulate(rows=500)
    >>> y = loans.pop("default")
    >>> risk = espalier.MonotonicClassifier(monotonic_cst={"debt_ratio": 1}, epochs=1)
    >>> model = risk.fit(loans, y).model_
    >>> model.predict(loans).shape
    (500,)
    >>> model.verify().holds
    True
    >>> model.save("loans.esp")
    >>> espalier.load("loans.esp").hash == model.hash
    True
    """

    def __init__(self, core: _core.Model) -> None:
        self._core = core

    @classmethod
    def from_bytes(cls, data: bytes) -> Model:
        """A model from the bytes of a model file."""
        if not isinstance(data, (bytes, bytearray, memoryview)):
            raise TypeError(f"wanted the bytes of a model file, found {type(data).__name__}")
        return cls(_core.Model.from_bytes(bytes(data)))

    def to_bytes(self) -> bytes:
        """The bytes of the model file."""
        return self._core.to_bytes()

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes the file that the command line reads, atomically."""
        self._core.save(path_bytes(path))

    def export(self, path: str | os.PathLike[str]) -> None:
        """Writes the model in a form that runs without this package: a path that ends in ``.onnx``
        is for ONNX runtimes, one that ends in ``.h`` or ``.hpp`` becomes a C++17 header. The file
        appears only when it is complete."""
        name = path_bytes(path)
        if name.endswith(b".onnx"):
            self._core.export_onnx(name)
        elif name.endswith((b".h", b".hpp")):
            self._core.export_header(name)
        else:
            raise _core.Error(f"export: {os.fspath(path)!r} ends in none of .onnx, .h, .hpp")

    def report(self, X: Any, y: Any = None, path: str | os.PathLike[str] = "report.html", *,
               by: str | None = None, sample_weight: Any = None, pairs: int | None = None,
               random_state: int | None = None, n_jobs: int | None = None) -> str:
        """Writes a page for people about the model and these rows, as ``espalier report`` does, and
        returns its path: one HTML file that needs no network and holds no row. Without `y` it has
        no quality, unless X has the label as a column; `by` is a column of X whose groups are
        judged one by one. The file appears only when it is complete."""
        table = self._read(X, [*self.feature_names, *self._core.beside.values()], "X")
        for message in self._core.warnings(table):
            warnings.warn(message, Warning, stacklevel=2)
        if y is not None:
            if self.label in table.names:
                raise _core.Error(f"X has the label '{self.label}' as a column, and y is given too")
            self._add_label(table, y)
        weight = self._core.weight
        if self.label in table.names and weight and weight not in table.names:
            ones = np.ones(table.num_rows, dtype=np.float32)
            add_labels(table, weight, ones if sample_weight is None else sample_weight)
        elif sample_weight is not None:
            raise _core.Error("sample_weight: the model was trained without weights, or there is "
                              "nothing to judge" if not weight or weight not in table.names else
                              f"sample_weight: X has the weight '{weight}' as a column")
        wanted = {"pairs": pairs, "seed": random_state}
        self._core.report(table, path_bytes(path), by=by or "", threads=threads_of(n_jobs),
                          **{key: whole_number(value, key) for key, value in wanted.items()
                             if value is not None})
        return os.fspath(path)

    def __reduce__(self) -> Any:
        return Model.from_bytes, (self.to_bytes(),)

    def __repr__(self) -> str:
        return (f"<espalier.Model {self.hash}: {self.task} of '{self.label}' from "
                f"{len(self.feature_names)} features>")

    @cached_property
    def info(self) -> dict[str, Any]:
        """Everything that the model is made of, as ``espalier inspect --json`` prints it."""
        return json.loads(self._core.inspect_json())

    @cached_property
    def _features(self) -> list[_Feature]:
        return [_Feature(*feature) for feature in self._core.features()]

    @cached_property
    def feature_names(self) -> list[str]:
        """The columns that the model reads, in its order."""
        return [feature.name for feature in self._features]

    @property
    def hash(self) -> str:
        """16 hexadecimal digits that change with any bit of the model."""
        return self._core.hash

    @property
    def task(self) -> str:
        """classification or regression."""
        return self._core.task

    @property
    def loss(self) -> str:
        """What training lowered."""
        return self._core.loss

    @property
    def outputs(self) -> list[str]:
        """What the numbers of a prediction are called: prediction, or q0.1 for a quantile, ge_good
        for reaching a grade, p_red for a class."""
        return self._core.outputs

    @property
    def label(self) -> str:
        """The name of the column that is predicted."""
        return self._core.label

    @property
    def architecture(self) -> str:
        """The layers with all their sizes."""
        return self._core.architecture

    def summary(self) -> str:
        """A page of text, as ``espalier inspect`` prints it."""
        return self._core.inspect_text()

    def rows(self, X: Any) -> np.ndarray:
        """X as the predictor reads it: float32, a column for each of feature_names, then the
        exposure and the offset if the model was trained with them; categories as the indices of
        their words.

        Frames are matched by column name, and columns that the model does not read are ignored. An
        array has the columns of feature_names in that order, its categories as words.
        """
        table = self._read(X, [*self.feature_names, *self._core.beside.values()], "X")
        return self._rows(table, stacklevel=3)

    def _read(self, X: Any, names: list[str], place: str) -> _core.Table:
        """The table of X; `names` are those of the columns of an array."""
        table = read_table(X, place, lambda name, _: name in self._categories,
                           None if is_frame(X) else names, self._words).table
        table.read_as_numbers(self._numbers)
        return table

    def _rows(self, table: _core.Table, stacklevel: int) -> np.ndarray:
        for message in self._core.warnings(table):
            warnings.warn(message, Warning, stacklevel=stacklevel)
        return self._core.rows(table)

    @cached_property
    def _words(self) -> MissingWords:
        label = (self.label, *self._core.label_words)
        columns = [(own.name, own.missing, own.not_missing) for own in self._features] + [label]
        return MissingWords({name: words for name, words, _ in columns if words},
                            {name: words for name, _, words in columns if words})

    @cached_property
    def _categories(self) -> set[str]:
        """The columns that are read as words, whatever they have."""
        label = set() if self._core.label_is_number else {self.label}
        return {own.name for own in self._features if own.kind != "number"} | label

    @cached_property
    def _numbers(self) -> list[str]:
        """The columns that are read as numbers, also where they have words such as '12'."""
        others = [self._core.weight, *self._core.beside.values()]
        label = [self.label] if self._core.label_is_number else []
        return [own.name for own in self._features if own.kind == "number"] + others + label

    @cached_property
    def _missing_numbers(self) -> dict[int, np.ndarray]:
        """Of some columns the numbers that mean missing there."""
        found = {index: np.array(_core.missing_numbers(own.missing))
                 for index, own in enumerate(self._features) if own.kind == "number"}
        return {index: numbers for index, numbers in found.items() if len(numbers)}

    def _without_missing(self, X: Any, rows: np.ndarray) -> np.ndarray:
        """The rows of an array of numbers, where those that mean missing are NaN."""
        if not self._missing_numbers or rows.shape[1] < len(self._features):
            return rows
        given = unmasked(X)
        rows = rows.copy() if np.may_share_memory(rows, given) else rows
        for column, numbers in self._missing_numbers.items():
            own = given[:, column]
            wanted = numbers.astype(own.dtype) if own.dtype.kind == "f" else numbers
            rows[np.isin(own, wanted), column] = np.nan
        return rows

    def predict(self, X: Any, *, output: OutputWord = "prediction",
                n_jobs: int | None = None) -> np.ndarray:
        """One number per row: the probability of the positive class, or the label; a column for
        each of `outputs` if there are several.

        `output` "score" gives what the network says: a logit in classification. An array of numbers
        has the columns of `rows`, its categories as the codes that it gives; float32 in C order is
        not copied.
        """
        if output not in get_args(OutputWord):
            raise _core.Error(f"output: {output!r} is neither prediction nor score")
        rows = rows_of(X)
        rows = self.rows(X) if rows is None else self._without_missing(X, rows)
        return self._core.predict(rows, output, threads_of(n_jobs))

    def predict_batches(self, X: Any, *, output: OutputWord = "prediction",
                        n_jobs: int | None = None) -> Iterator[np.ndarray]:
        """The predictions of rows that come in batches, an array for each batch, in memory for some
        of them: X is a Parquet file or folder, a pyarrow dataset, scanner or reader, or an iterator
        of record batches or frames."""
        for frame in frames_of(X, "X"):
            yield self.predict(frame, output=output, n_jobs=n_jobs)

    def verify(self, pairs: int | None = None, *, random_state: int | None = None,
               n_jobs: int | None = None) -> _core.Certificate:
        """The proof: every inequality of monotonicity, checked on the stored numbers with tolerance
        0; then a hunt through `pairs` pairs of rows for a prediction that contradicts it."""
        wanted = {"pairs": pairs, "seed": random_state}
        return self._core.verify(threads=threads_of(n_jobs),
                                 **{key: whole_number(value, key) for key, value in wanted.items()
                                    if value is not None})

    def calibrators(self) -> list[Calibrator]:
        """The curves of all calibrators, those of the features first."""
        return [Calibrator(name, np.array(inputs, dtype=object) if isinstance(inputs, list)
                           else inputs, *rest)
                for name, inputs, *rest in self._core.calibrators()]

    def lattices(self) -> list[Lattice]:
        """The vertices of all lattices."""
        # Neighbours along wire 0 lie side by side: it is the last axis of the table.
        return [Lattice(wires, rises, vertices.T, *rest)
                for wires, rises, vertices, *rest in self._core.lattices()]

    def interactions(self) -> list[Interaction]:
        """The pairs of columns that the model has, each with what it does to the score."""
        pairs = json.loads(self._core.inspect_json()).get("pairs", [])
        return [Interaction(tuple(pair["columns"]), tuple(pair["cells"]),
                            np.array(pair["scores"], dtype=np.float32), pair["strength"])
                for pair in pairs]

    def explain(self, X: Any, *, baseline: Any = None, output: str | None = None,
                exact_columns: int | None = None, permutations: int | None = None,
                random_state: int = 1, n_jobs: int | None = None) -> Explanation:
        """How the score of each row differs from that of a baseline, shared among the columns by
        baseline Shapley values, as ``espalier explain`` does.

        `baseline` is a table with one row, or with several, of which the medians and most frequent
        words are taken; without it they are those of the training rows. `output` is one of
        `outputs`; without it the middle one of quantiles and grades, of classes the most probable
        one of the row. Rows that differ from the baseline in more than `exact_columns` columns are
        shared by `permutations`, the same ones for all rows: 128 without it, and fewer where more
        than 100 columns differ.
        """
        return self._explain(self.rows(X), baseline, output, exact_columns, permutations,
                             random_state, n_jobs)

    def _explain(self, rows: np.ndarray, baseline: Any, output: str | None,
                 exact_columns: int | None, permutations: int | None, random_state: int,
                 n_jobs: int | None) -> Explanation:
        given = None if baseline is None else self._read(baseline, self.feature_names, "baseline")
        cells = _core.baseline_row(self._core, given)
        wanted = {"exact_columns": exact_columns, "permutations": permutations,
                  "seed": random_state}
        numbers = {key: whole_number(value, key) for key, value in wanted.items()
                   if value is not None}
        found = _core.explain(self._core, rows, cells, output or "", threads=threads_of(n_jobs),
                              **numbers)
        return Explanation(self.feature_names, cells, [self.outputs[i] for i in found["outputs"]],
                           found["scores"], found["baselines"], found["shares"], found["errors"])

    def reasons(self, X: Any, top: int = 4, *, adverse: AdverseWord = "either",
                sentences: Mapping[str, str] | None = None, **options: Any) -> list[list[Reason]]:
        """The columns that make most of the difference of each row, at most `top`, the worst first.

        `adverse` says which side of the score is bad for whom the row is about: "higher" names
        columns that raise it, "lower" those that lower it. `sentences` maps columns to what stands
        for them. The other options are those of `explain`.
        """
        return reasons_of(self.explain(X, **options), top, adverse, sentences)

    def importance(self, X: Any, y: Any = None, *, metric: str = "auto", repeats: int = 5,
                   rows: int = 1000, shuffled_rows: int | None = None, random_state: int = 1,
                   n_jobs: int | None = None) -> Importance:
        """What each column is worth on the rows of X, as ``espalier importance`` says: how much
        worse `metric` becomes when its cells are shuffled (`repeats` times; without y there is no
        such loss), how far the score then moves, and the mean size of its share of the score over
        `rows` rows drawn from X. Columns are shuffled among `shuffled_rows` rows; without it among
        all rows, and with more than 100 columns among fewer."""
        names = [*self.feature_names, *self._core.beside.values()]
        table = self._read(X, names, "X")
        if y is not None:  # a column of that name is another one now
            table.names = [free_name(name, table.names) if name == self.label else name
                           for name in table.names]
            self._add_label(table, y)
        found = _core.importance(self._core, table, y is not None, metric,
                                 whole_number(repeats, "repeats"), whole_number(rows, "rows"),
                                 whole_number(shuffled_rows or 0, "shuffled_rows"),
                                 whole_number(random_state, "random_state"), threads_of(n_jobs))
        return Importance(self.feature_names, found["metric"], found["value"], *found["loss"],
                          *found["move"], *found["share"])

    def _add_label(self, table: _core.Table, y: Any) -> None:
        """Adds y as the label, with the words that mean missing there."""
        require_as_many(np.asarray(unmasked(y)), table.num_rows)
        add_labels(table, self.label, y)
        table.read_as_numbers(self._numbers)


def reasons_of(explained: Explanation, top: int, adverse: str,
               sentences: Mapping[str, str] | None) -> list[list[Reason]]:
    """The reasons of rows that are explained."""
    texts = dict(sentences or {})
    chosen = _core.top_columns(explained.shares, whole_number(top, "top"), adverse)
    return [[Reason(explained.columns[i], float(shares[i]),
                    texts.get(explained.columns[i], explained.columns[i])) for i in places]
            for shares, places in zip(explained.shares, chosen)]


def load(path: str | os.PathLike[str]) -> Model:
    """Reads a model file, whether the command line, C++ or Python wrote it."""
    return Model(_core.Model.load(path_bytes(path)))
