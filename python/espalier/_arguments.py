# SPDX-License-Identifier: Apache-2.0
"""The arguments of the estimators in the words of the library."""
from __future__ import annotations

import difflib
from typing import Any

import numpy as np

from . import _core
from ._sklearn import column_or_1d
from ._tables import IsCategory, default_names, is_frame, unmasked, word_of

DIRECTIONS = {1: "increasing", -1: "decreasing", 0: "none"}


def category_test(categorical_features: Any, order: Any, X: Any) -> IsCategory:
    """Whether a column of numbers counts as one of words, by its name and position: those with an
    order do, as in prediction."""
    ordered = set(order if isinstance(order, dict) else map(_name_of_order, _order_texts(order)))
    if categorical_features is None or (isinstance(categorical_features, str) and
                                        categorical_features == "from_dtype"):
        return lambda name, index: name in ordered
    names = names_of(X)
    chosen = _chosen(values_of(categorical_features, "categorical_features"), names)
    if names is not None:
        for each in chosen:
            if each not in names and not (isinstance(each, int) and 0 <= each < len(names)):
                raise _core.Error(f"categorical_features: X has no column {each!r}"
                                  f"{hint(each, names)}")
    return lambda name, index: name in chosen or index in chosen or name in ordered


def values_of(given: Any, what: str) -> list[Any]:
    """The values of a list, an array or another sequence, each as the Python value that it is."""
    if isinstance(given, (str, bytes)) or not hasattr(given, "__iter__"):
        raise _core.Error(f"{what}: wanted a list, found {given!r}")
    if isinstance(given, np.ndarray) and given.ndim != 1:
        raise _core.Error(f"{what}: wanted one dimension, found {given.ndim}")
    values = [value.item() if isinstance(value, np.generic) else value for value in given]
    for value in values:
        if value.__hash__ is None:
            raise _core.Error(f"{what}: {value!r} is neither a number nor a word")
    return values


def _chosen(values: list[Any], names: list[str] | None) -> set[Any]:
    """The columns that names, positions or a mask stand for."""
    if not values or not all(isinstance(value, bool) for value in values):
        return set(values)
    if names is not None and len(values) != len(names):
        raise _core.Error(f"categorical_features: a mask of {len(values)} for the {len(names)} "
                          "columns of X")
    return {index for index, value in enumerate(values) if value}


class Named:
    """An array that kept the name of its column, and the order of its classes."""

    def __init__(self, values: np.ndarray, name: str | None,
                 grades: list[Any] | None = None) -> None:
        self.grades = grades
        self.values, self.name = values, name

    def __array__(self, *args: Any, **kwargs: Any) -> np.ndarray:
        return self.values


def label_column(y: Any) -> np.ndarray:
    """y as an array of one dimension without missing values."""
    if isinstance(y, Named):
        return y.values
    values = column_or_1d(np.asarray(unmasked(y)), warn=True)
    if values.dtype.kind == "c":
        raise ValueError(f"Complex data not supported\n{values}\n")
    if (values.dtype.kind == "f" and np.isnan(values).any()) or (
            values.dtype.kind == "O" and any(v is None or v != v for v in values)):
        raise _core.Error("Input y contains NaN.")
    if values.dtype.kind == "f" and np.isinf(values).any():
        raise _core.Error("Input y contains infinity or a value too large for dtype('float32').")
    return values


def one_per_row(values: Any, what: str, num_rows: int) -> np.ndarray | None:
    """A number for each row, or for all of them; None stays."""
    if values is None:
        return None
    try:
        numbers = np.asarray(unmasked(values), dtype=np.float64)
    except (TypeError, ValueError, OverflowError):
        raise _core.Error(f"{what}: wanted a number for each row") from None
    if numbers.ndim == 0:
        numbers = np.full(num_rows, numbers)
    if numbers.ndim != 1:
        raise _core.Error("Sample weights must be 1D array or scalar" if what == "sample_weight"
                          else f"{what}: wanted one dimension, found {numbers.ndim}")
    if numbers.shape != (num_rows,):
        raise _core.Error(f"{what}.shape == {numbers.shape}, expected {(num_rows,)}!")
    return numbers


def grades_of(grades: Any, y: Any) -> list[Any] | None:
    """The classes from low to high, of the parameter or of an ordered categorical."""
    if grades is None:
        return y.grades if isinstance(y, Named) else ordered_categories(y)
    found = values_of(grades, "grades")
    if any("<" in word_of(grade) for grade in found):
        raise _core.Error("grades: a word has a '<', which cannot be written in an order; rename "
                          "it")
    return found


def ordered_categories(y: Any) -> list[Any] | None:
    """Of a pandas categorical with an order."""
    dtype: Any = getattr(y, "dtype", None)
    return list(dtype.categories) if getattr(dtype, "ordered", False) else None


def require_as_many(values: np.ndarray, num_rows: int) -> None:
    if len(values) != num_rows:
        raise _core.Error("Found input variables with inconsistent numbers of samples: "
                          f"{[num_rows, len(values)]}")


def names_of(X: Any) -> list[str] | None:
    """The names of the columns, where they can be had without reading X."""
    if hasattr(X, "column_names"):
        return list(X.column_names)
    if is_frame(X) and hasattr(X, "columns"):
        return list(X.columns)
    if isinstance(X, dict):
        return list(X)
    return default_names(X.shape[1]) if hasattr(X, "shape") and len(X.shape) == 2 else None


def free_name(name: Any, taken: list[str]) -> str:
    free = str(name)
    while free in taken:
        free += "_"
    return free


def hint(name: Any, names: list[str]) -> str:
    close = difflib.get_close_matches(str(name), names, 1)
    return f"; did you mean '{close[0]}'?" if close else ""


def not_missing_of(not_missing: Any, X: Any) -> dict[str, list[str]]:
    """The words of columns that do not mean missing there."""
    if not_missing is None:
        return {}
    if not isinstance(not_missing, dict):
        raise _core.Error("not_missing: wanted a dictionary of columns to words, found "
                          f"{not_missing!r}")
    names = names_of(X)
    found = {}
    for name, words in not_missing.items():
        if names is not None and name not in names:
            raise _core.Error(f"not_missing: X has no column '{name}'{hint(name, names)}")
        found[str(name)] = [str(word) for word in ([words] if isinstance(words, str) else words)]
    return found


def _ends_with_a_column(name: Any, known: set[str]) -> bool:
    """Whether it is class:column; the library knows the classes."""
    parts = name.split(":") if isinstance(name, str) else []
    return any(":".join(parts[i:]) in known for i in range(1, len(parts)))


def directions_of(monotonic_cst: Any, names: list[str]) -> dict[str, list[str]]:
    """The fields increasing and decreasing."""
    if monotonic_cst is None:
        return {}
    if not isinstance(monotonic_cst, dict):
        wanted = values_of(monotonic_cst, "monotonic_cst")
        if len(wanted) != len(names):
            raise _core.Error(f"monotonic_cst: wanted a value for each of the {len(names)} "
                              f"columns, found {monotonic_cst!r}")
        monotonic_cst = dict(zip(names, wanted))
    found: dict[str, list[str]] = {word: [] for word in DIRECTIONS.values()}
    known = set(names)
    for name, value in monotonic_cst.items():
        if name not in known and not _ends_with_a_column(name, known):
            raise _core.Error(f"monotonic_cst: X has no column '{name}'{hint(name, names)}")
        word = None if value.__hash__ is None else DIRECTIONS.get(value, value)
        if word not in found:
            raise _core.Error(f"monotonic_cst: '{name}': {value!r} is no direction; wanted 1 or "
                              "'increasing', -1 or 'decreasing', 0 or 'none'")
        found[word].append(name)
    return {word: found[word] for word in ("increasing", "decreasing")}


def _order_texts(order: Any) -> list[str]:
    """An order as on the command line: one text, or some."""
    if order is None:
        return []
    texts = [order] if isinstance(order, str) else values_of(order, "order")
    for text in texts:
        if not isinstance(text, str):
            raise _core.Error(f"order: {text!r} is no text such as 'size=S<M<L'")
    return texts


def _name_of_order(text: str) -> str:
    return text.partition("=")[0]


def orders_of(order: Any, of_dtypes: dict[str, list[str]]) -> list[str]:
    """The field order, from the parameter and from ordered dtypes."""
    if order is None or isinstance(order, dict):
        orders = {**of_dtypes, **(order or {})}
        texts = []
    else:
        texts = _order_texts(order)
        named = set(map(_name_of_order, texts))
        orders = {name: words for name, words in of_dtypes.items() if name not in named}
    for name, given in orders.items():
        words = [word_of(word) for word in values_of(given, f"order: column '{name}'")]
        name = str(name)
        if "=" in name or any("<" in word for word in words):
            raise _core.Error(f"order: column '{name}': its name has a '=' or one of its words a "
                              "'<', which cannot be written as an order; rename it or make the "
                              "column unordered")
        texts.append(f"{name}={'<'.join(words)}")
    return texts
