# SPDX-License-Identifier: Apache-2.0
# What the extension has; python/bindings.cc, python/tables.cc and python/training.cc
# define it.
from collections.abc import Callable
from typing import Any

import numpy as np

version: str

class Error(ValueError):
    """Everything that the library refuses, with its message."""

class LayerProof:
    """The inequalities of one layer."""

    layer: str
    inequalities: int
    violations: int

class Certificate:
    """The proof that a model is monotone, and the hunt for pairs of rows that contradict it."""

    model_hash: str
    increasing: list[str]
    decreasing: list[str]
    layers: list[LayerProof]
    inequalities: int
    violations: int
    pairs: int
    pair_violations: int
    largest_drop: float
    seed: int
    culprits: list[str]
    holds: bool

class Table:
    """Columns of one length; some borrow the memory of arrays, which they keep alive."""

    num_rows: int
    names: list[str]
    orders: dict[str, list[str]]
    def __init__(self, name: str) -> None: ...
    def add_matrix(self, names: list[str], values: np.ndarray) -> None: ...
    def add_words(self, name: str, words: list[str], codes: np.ndarray) -> None: ...
    def add_arrow(self, stream: Any, is_category: Callable[[str, int], bool]) -> None: ...
    def thinned(self, count: int) -> Table: ...
    def infinite_column(self) -> str | None: ...

class TuneOptions:
    """How to search."""

    def __init__(self, trials: int, minutes: float, confirm: int, folds: int, search: list[str],
                 fix: list[str]) -> None: ...

class Model:
    """A model and its predictor."""

    hash: str
    @staticmethod
    def load(path: str) -> Model: ...
    @staticmethod
    def from_bytes(data: bytes) -> Model: ...
    def to_bytes(self) -> bytes: ...
    def save(self, path: str) -> None: ...
    def predict(self, rows: np.ndarray, output: str, threads: int) -> np.ndarray: ...
    def rows(self, table: Table) -> np.ndarray: ...
    def verify(self, pairs: int = ..., seed: int = ..., threads: int = ...) -> Certificate: ...
    def inspect_json(self) -> str: ...
    def inspect_text(self) -> str: ...

def train_fields() -> list[dict[str, Any]]: ...
def tune_fields() -> list[dict[str, Any]]: ...
def number_word(value: float) -> str: ...
def simulate(**options: Any) -> dict[str, Any]: ...
def train(table: Table, options: str, valid: Table | None,
          progress: Callable[[dict[str, Any]], Any] | None,
          warn: Callable[[str], None], checkpoint: str, checkpoint_seconds: float,
          resume: bool) -> dict[str, Any]: ...
def remove_checkpoint(folder: str) -> None: ...
def tune(table: Table, options: str, valid: Table | None, tune_options: TuneOptions, results: str,
         progress: Callable[[dict[str, Any]], Any] | None,
         final_progress: Callable[[dict[str, Any]], Any] | None,
         warn: Callable[[str], None]) -> dict[str, Any]: ...
def has_infinity(rows: np.ndarray) -> bool: ...
