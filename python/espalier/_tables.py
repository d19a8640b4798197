# SPDX-License-Identifier: Apache-2.0
"""From arrays and frames to the table that the library trains on.

numpy arrays, pandas, polars, pyarrow, anything with ``__arrow_c_stream__`` and dictionaries of
columns give the table that ``read_csv`` would make of the same cells. float32 columns that lie in
one piece are borrowed, everything else is copied once.
"""
from __future__ import annotations

import sys
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from . import _core

IsCategory = Callable[[str, int], bool]
NUMBERS = (bool, int, float, np.number, np.bool_)
WANTED = "wanted numbers, booleans, strings or categories"


class Input(NamedTuple):
    """A table, and the names that its columns came with, if they had any."""

    table: _core.Table
    names: list[str] | None


class MissingWords(NamedTuple):
    """By column, words that mean missing beyond the usual ones, and usual ones that do not."""

    missing: Mapping[str, list[str]] = {}
    not_missing: Mapping[str, list[str]] = {}


def is_pandas(X: Any) -> bool:
    pandas = sys.modules.get("pandas")
    return pandas is not None and isinstance(X, pandas.DataFrame)


def is_frame(X: Any) -> bool:
    """Whether X has columns of its own, so that it is not read as one array."""
    return is_pandas(X) or isinstance(X, Mapping) or hasattr(X, "__arrow_c_stream__")


def read_table(X: Any, place: str, is_category: IsCategory,
               names: Sequence[str] | None = None,
               words: MissingWords | None = None) -> Input:
    """The table of X. `is_category(name, index)` says which numbers count as words; `names` are
    those of the columns of an array."""
    if hasattr(X, "toarray") and hasattr(X, "nnz"):
        raise TypeError("Sparse data was passed, but dense data is required. "
                        "Use '.toarray()' to convert to a dense numpy array.")
    if type(X).__name__ == "LazyFrame":
        raise _core.Error(f"{place} is a LazyFrame, which has no rows yet; wanted "
                          f"{place}.collect()")
    table = _core.Table(place)
    if words is not None:
        table.missing, table.not_missing = dict(words.missing), dict(words.not_missing)
    if is_frame(X):
        found = _read_frame(X, table, is_category)
        _require_distinct(table)
        return Input(table, found)
    array = _as_array(X, place)
    if names is not None and array.shape[1] != len(names):
        raise _core.Error(f"{place} has {array.shape[1]} columns, wanted {len(names)}")
    _read_array(array, table, is_category, names or default_names(array.shape[1]))
    return Input(table, None)


def rows_of(X: Any) -> np.ndarray | None:
    """An array of numbers as rows of float32, itself if it is that already; None for others."""
    X = unmasked(X)
    if not isinstance(X, np.ndarray) or X.ndim != 2 or X.dtype.kind not in "biuf":
        return None
    if X.dtype == np.float32:
        return np.ascontiguousarray(X)
    with np.errstate(over="ignore"):  # what is too large becomes infinite
        return X.astype(np.float32, order="C")


def unmasked(values: Any) -> Any:
    """A masked array with its masked cells missing; anything else as it is."""
    if not isinstance(values, np.ma.MaskedArray):
        return values
    if not np.ma.is_masked(values):
        return values.data
    is_number = values.dtype.kind in "iuf"
    filled = values.data.astype(np.float64 if is_number else object)
    filled[np.ma.getmaskarray(values)] = np.nan if is_number else None
    return filled


def as_text(text: str, what: str) -> str:
    """`text`, which the library will get as UTF-8."""
    try:
        text.encode()
    except UnicodeEncodeError as error:
        raise _core.Error(f"{what} {text!r} is no Unicode text: {error.reason}") from None
    return text


def default_names(count: int) -> list[str]:
    """The names of the columns of an array, as scikit-learn has them."""
    return [f"x{i}" for i in range(count)]


def _as_array(X: Any, place: str) -> np.ndarray:
    """X as an array of two dimensions."""
    array = np.asarray(unmasked(X))
    if array.dtype.kind == "c":
        raise ValueError(f"Complex data not supported\n{array}\n")
    if array.ndim != 2:
        raise _core.Error(
            f"Expected 2D array, got {array.ndim}D array instead for {place}.\n"
            "Reshape your data either using array.reshape(-1, 1) if your data has a single feature "
            "or array.reshape(1, -1) if it contains a single sample.")
    return array


def _require_distinct(table: _core.Table) -> None:
    names = table.names
    if len(set(names)) < len(names):
        twice = next(name for name in names if names.count(name) > 1)
        raise _core.Error(f"two columns are named '{twice}'")


def _read_frame(X: Any, table: _core.Table, is_category: IsCategory) -> list[str] | None:
    """Adds the columns of X and returns their names if they are strings."""
    if isinstance(X, Mapping):
        found: list[Any] = list(X)
        columns = [X[name] for name in found]
    elif is_pandas(X):
        found = list(X.columns)
        columns = [X.iloc[:, i] for i in range(len(found))]
    else:
        table.add_arrow(X.__arrow_c_stream__(), is_category)
        return table.names
    strings = [isinstance(name, str) for name in found]
    if any(strings) and not all(strings):
        kinds = sorted({type(name).__name__ for name in found})
        raise TypeError("Feature names are only supported if all input features have string "
                        f"names, but your input has {kinds} as feature name / column name types.")
    kept = found if all(strings) else default_names(len(found))
    for name in kept:
        as_text(name, "the column name")
    for index, (name, column) in enumerate(zip(kept, columns)):
        _add_column(table, name, column, is_category(name, index))
    return found if found and all(strings) else None


def _read_array(array: np.ndarray, table: _core.Table, is_category: IsCategory,
                names: Sequence[str]) -> None:
    categories = [is_category(name, index) for index, name in enumerate(names)]
    if array.dtype.kind in "biuf" and not any(categories):
        table.add_matrix(list(names), _as_floats(array))
        return
    for index, name in enumerate(names):
        _add_column(table, name, array[:, index], categories[index])


def _as_floats(values: np.ndarray) -> np.ndarray:
    """Numbers as the float32 or float64 that the library reads."""
    if values.dtype in (np.float32, np.float64):
        return values
    return values.astype(np.float64 if values.dtype.itemsize > 2 else np.float32)


def _add_column(table: _core.Table, name: str, column: Any, is_category: bool) -> None:
    pandas = sys.modules.get("pandas")
    if pandas is not None and isinstance(column, pandas.Series):
        column = _read_series(name, column, pandas, is_category)
    if isinstance(column, _Words):
        column.add_to(table, name)
        return
    values: Any = np.asarray(unmasked(column))
    if values.ndim != 1:
        raise _core.Error(f"column '{name}' has {values.ndim} dimensions, wanted one")
    if values.dtype.kind in "OSUT":
        values = _read_objects(name, values, is_category, table)
    if isinstance(values, _Words):
        values.add_to(table, name)
    elif values.dtype.kind not in "biuf":
        raise _core.Error(f"column '{name}' has the type {values.dtype}; {WANTED}")
    elif is_category:
        _words_of_numbers(values).add_to(table, name)
    else:
        table.add_matrix([name], _as_floats(values).reshape(-1, 1))


def add_labels(table: _core.Table, name: str, y: Any) -> None:
    """Adds labels to evaluate with, numbers or words, some of them missing."""
    values = np.asarray(unmasked(y))
    if values.ndim == 2 and values.shape[1] == 1:
        values = values[:, 0]
    _add_column(table, name, values, values.dtype.kind == "b")


class _Words(NamedTuple):
    """A column of categories: codes index words, negative ones are missing."""

    words: list[str]
    codes: np.ndarray
    ordered: bool = False

    def add_to(self, table: _core.Table, name: str) -> None:
        for word in self.words:
            as_text(word, f"column '{name}': the word")
        table.add_words(name, self.words, np.ascontiguousarray(self.codes, dtype=np.int32))
        if self.ordered:
            table.add_order(name, self.words)


def word_of(value: Any) -> str:
    """A category as a word: a number as in a CSV file, or what it prints, such as an interval."""
    number = value.item() if isinstance(value, np.generic) else value
    if not isinstance(number, (bool, int, float)) or (isinstance(number, int) and
                                                      not -2**63 <= number < 2**64):
        return str(value)
    return _core.number_word(number)


def _words_of_numbers(values: np.ndarray) -> _Words:
    numbers, codes = np.unique(values, return_inverse=True)
    if values.dtype.kind == "f":
        codes = np.where(np.isnan(values), -1, codes)
    return _Words([word_of(number) for number in numbers.tolist()], codes)


def _read_series(name: str, series: Any, pandas: Any, is_category: bool) -> Any:
    """A pandas column as words, or as an array of numbers or objects."""
    if isinstance(series.dtype, pandas.CategoricalDtype):
        words = [word_of(category) for category in series.cat.categories]
        return _Words(words, series.cat.codes.to_numpy(), bool(series.cat.ordered))
    if isinstance(series.dtype, np.dtype) and series.dtype.kind != "O":
        return series.to_numpy()
    if pandas.api.types.is_bool_dtype(series.dtype) or pandas.api.types.is_numeric_dtype(
            series.dtype):
        if is_category:
            codes, numbers = pandas.factorize(series)
            return _Words([word_of(number) for number in numbers], codes)
        return series.to_numpy(dtype=np.float64, na_value=np.nan)
    if pandas.api.types.is_string_dtype(series.dtype) and series.dtype != object:
        codes, words = pandas.factorize(series)
        return _Words([str(word) for word in words], codes)
    if pandas.api.types.infer_dtype(series, skipna=True) == "string":
        codes, words = pandas.factorize(series)
        return _Words(list(words), codes)
    if series.dtype != object:
        raise _core.Error(f"column '{name}' has the type {series.dtype}; {WANTED}")
    return series.to_numpy()


def _is_missing(value: Any) -> bool:
    """None, NaN, what a mask hides, and the NA of pandas, which equals nothing and is no bool."""
    return value is None or value is np.ma.masked or type(value).__name__ == "NAType" or (
        isinstance(value, (float, np.floating)) and value != value)


def _float_of(value: Any, place: str) -> float:
    try:
        return float(value)
    except OverflowError:
        raise _core.Error(f"{place}: {str(value)[:20]}... is too large for a number") from None


def _read_objects(name: str, values: np.ndarray, is_category: bool,
                  table: _core.Table) -> np.ndarray | _Words:
    """A column of Python objects: all numbers or all strings, some of them missing; words, if it is
    a category."""
    missing, not_missing = table.missing.get(name, []), table.not_missing.get(name, [])
    index: dict[str, int] = {}
    codes = np.empty(len(values), dtype=np.int32)
    numbers = np.full(len(values), np.nan)
    a_number: Any = None
    for row, value in enumerate(values.tolist()):
        if _is_missing(value) or (isinstance(value, str) and value not in index and
                                  _core.means_missing(as_text(value, f"column '{name}': the word"),
                                                      missing, not_missing)):
            codes[row] = -1
        elif isinstance(value, str) or (is_category and isinstance(value, NUMBERS)):
            codes[row] = index.setdefault(word_of(value), len(index))
        elif isinstance(value, NUMBERS):
            a_number = value
            numbers[row] = _float_of(value, f"column '{name}': row {row + 1}")
        else:
            raise TypeError(f"column '{name}': argument must be a string or a number, not "
                            f"'{type(value).__name__}'")
    if not index:
        return numbers
    if a_number is not None:
        raise _core.Error(f"column '{name}' has words such as '{next(iter(index))}' and numbers "
                          f"such as {a_number}; wanted one or the other")
    return _Words(list(index), codes)
