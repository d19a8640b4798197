# SPDX-License-Identifier: Apache-2.0
"""The constructor parameters of the estimators, made of the library's list of fields.

Names, defaults and help stand in ``include/espalier/options.h`` and nowhere else. Four fields have
the names that scikit-learn users know (see `RENAMED`), and `fit` gets what describes the table.
"""
from __future__ import annotations

import contextlib
import inspect
import json
import os
import re
import textwrap
from collections.abc import Iterator
from typing import Any

import numpy as np

from . import _core
from ._sklearn import check_random_state

# The label and the columns beside it are arguments of fit; monotonic_cst holds the directions; the
# class of the estimator is the task, and its classes_ say which one is positive.
LEFT_OUT = ("label", "weight", "exposure", "offset", "increasing", "decreasing", "task", "positive")
OF_CLASSIFIERS = ("class_weight", "grades")
OF_REGRESSORS = ("loss", "quantile", "power")
RENAMED = {"seed": "random_state", "threads": "n_jobs"}
MOST_THREADS = 1024  # of the library
# What scikit-learn writes for a default of the library.
DEFAULTS = {"threads": None, "class_weight": None, "order": None, "interactions": "auto",
            "grades": None, "quantile": None}

OWN_HELP = {
    "monotonic_cst":
        "directions of the features: a dictionary of names to 1 or 'increasing', -1 or "
        "'decreasing', 0 or 'none'; or one such value for each column. The prediction never falls "
        "with an increasing feature. Of classes without an order 'class:feature' is the name: the "
        "probability of that class never falls. None: no feature is monotone.",
    "categorical_features":
        "'from_dtype': columns of strings and of categorical dtype are categories. Or columns that "
        "are so besides them: names, positions, or a mask.",
    "not_missing":
        "words of columns that do not mean missing there, though they usually do: "
        "{'quality': ['NA']}.",
    "grades":
        "classes with an order, from low to high: ['bad', 'fair', 'good']. None: an ordered "
        "categorical y brings its own, any other has none.",
    "quantile":
        "the quantiles to predict: 0.9, or [0.1, 0.5, 0.9], which never cross; None: no quantile.",
    "class_weight":
        "None; 'balanced' gives all classes the same total weight in training; or a dictionary of "
        "classes to weights, which multiply sample_weight: unlike 'balanced' they weigh the rows "
        "that choose the epoch too.",
    "order":
        "categories that count as numbers, low to high: {'size': ['S', 'M', 'L']}, or "
        "['size=S<M<L'] as on the command line. Ordered categoricals bring their own.",
    "random_state":
        "the seed: same seed, same table, same options, same model. None draws one.",
    "n_jobs":
        "threads; None and -1 use all cores. The model does not depend on it.",
}


# How Python names what the library's messages call by a flag or a field.
PYTHON_NAMES = {**RENAMED, "increasing": "monotonic_cst", "decreasing": "monotonic_cst",
                "weight": "sample_weight", "label": "y", "categorical": "categorical_features",
                "resume": "resume=True"}
FLAG = re.compile(r"(?<![\w-])--([a-z]+(?:-[a-z]+)*)")
FIELD = re.compile(r"^(\w+)(?=: )")


def in_python_names(message: str) -> str:
    """A message of the library, with the parameters that its flags and fields are here."""
    def name_of(found: re.Match[str]) -> str:
        name = found[1].replace("-", "_")
        return PYTHON_NAMES.get(name, name)

    return FIELD.sub(name_of, FLAG.sub(name_of, message.replace("(--drop)", "in X")))


@contextlib.contextmanager
def python_names() -> Iterator[None]:
    """Errors of the library name the parameters of Python."""
    try:
        yield
    except _core.Error as error:
        message = in_python_names(str(error))
        if message == str(error):
            raise
        raise _core.Error(message) from None


def _parameters(is_classifier: bool) -> dict[str, Any]:
    """Names and defaults, in the order of the constructor."""
    parameters: dict[str, Any] = {"monotonic_cst": None, "categorical_features": "from_dtype",
                                  "not_missing": None}
    for field in _core.train_fields():
        name = field["name"]
        if name in LEFT_OUT + (OF_REGRESSORS if is_classifier else OF_CLASSIFIERS):
            continue
        parameters[RENAMED.get(name, name)] = DEFAULTS.get(name, field["default"])
    return parameters


def _help() -> dict[str, str]:
    helps = {}
    for field in _core.train_fields():
        text = field["help"]
        if "words" in field:
            text = f"{' | '.join(field['words'])}: {text}"
        helps[RENAMED.get(field["name"], field["name"])] = text
    return {**helps, **OWN_HELP}


def with_parameters(is_classifier: bool) -> Any:
    """A class decorator: gives an estimator its constructor and the list of its parameters."""
    parameters = _parameters(is_classifier)
    signature = inspect.Signature(
        [inspect.Parameter("self", inspect.Parameter.POSITIONAL_OR_KEYWORD)] +
        [inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=default)
         for name, default in parameters.items()])

    def __init__(self: Any, **params: Any) -> None:
        bound = signature.bind(self, **params)
        bound.apply_defaults()
        for name in parameters:
            setattr(self, name, bound.arguments[name])

    __init__.__signature__ = signature  # type: ignore[attr-defined]

    def decorate(cls: type) -> type:
        cls.__init__ = __init__  # type: ignore[misc]
        helps = _help()
        lines = []
        for name, default in parameters.items():
            lines += [f"{name} : default={default!r}",
                      *textwrap.wrap(helps[name], 92, initial_indent="    ",
                                     subsequent_indent="    ", break_on_hyphens=False)]
        cls.__doc__ = inspect.cleandoc(cls.__doc__ or "").replace("{parameters}", "\n".join(lines))
        return cls

    return decorate


def seed_of(random_state: Any) -> int:
    """The library's seed for a random_state of scikit-learn."""
    if isinstance(random_state, (int, np.integer)):
        return int(random_state)
    if isinstance(random_state, np.random.Generator):
        return int(random_state.integers(2**32))
    return int(check_random_state(random_state).randint(2**31))


def threads_of(n_jobs: int | None) -> int:
    """The library's threads, where 0 means all cores, for an n_jobs of scikit-learn."""
    if n_jobs is None or n_jobs == -1:
        return 0
    if not isinstance(n_jobs, (int, np.integer)) or n_jobs == 0:
        raise _core.Error(f"n_jobs: {n_jobs!r} is no number of threads; wanted 1 or more, None, "
                          "or -1 for all cores")
    if n_jobs > MOST_THREADS:
        raise _core.Error(f"n_jobs: {n_jobs} are too many threads; wanted at most {MOST_THREADS}")
    return int(n_jobs) if n_jobs > 0 else max(1, (os.cpu_count() or 1) + 1 + int(n_jobs))


def real_number(value: Any, what: str) -> float:
    """A number that the library will check the range of."""
    if isinstance(value, (int, float, np.integer, np.floating)) and not isinstance(value, bool):
        return float(value)
    raise _core.Error(f"{what}: {value!r} is not a number")


def whole_number(value: Any, what: str) -> int:
    """A count or a seed, which the library holds in 64 bits."""
    if isinstance(value, (int, np.integer)) and not isinstance(value, bool) and 0 <= value < 2**64:
        return int(value)
    raise _core.Error(f"{what}: {value!r} is not a whole number from 0 to 2**64 - 1")


def memory_of(memory: Any) -> int:
    """The bytes that training may take, 0 for any number."""
    if memory is None:
        return 0
    is_size = isinstance(memory, (str, int, np.integer)) and not isinstance(memory, bool)
    return _core.read_memory(str(memory) if is_size else repr(memory))


def options_json(options: dict[str, Any]) -> str:
    """Options for the library, which checks their names, types and ranges."""
    def plain(value: Any) -> Any:
        if isinstance(value, np.generic):
            return value.item()
        raise _core.Error(f"options: {value!r} is no value of an option")

    try:
        return json.dumps(options, default=plain, allow_nan=False)
    except ValueError as error:
        if isinstance(error, _core.Error):
            raise
        raise _core.Error(f"options: a value is not finite: {options}") from error
    except TypeError as error:  # a key of a dictionary
        raise _core.Error(f"options: {error}") from error


def path_bytes(path: str | os.PathLike[str]) -> bytes:
    """The name of a file as the system has it."""
    try:
        name = os.fsencode(path)
    except UnicodeEncodeError as error:
        raise _core.Error(f"{path!r} is no name of a file: {error.reason}") from None
    if b"\0" in name:
        raise _core.Error(f"{path!r} is no name of a file: it has a NUL")
    return name
