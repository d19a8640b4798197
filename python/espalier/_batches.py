# SPDX-License-Identifier: Apache-2.0
"""Tables that come in batches of rows, and need not be in memory.

Parquet files and folders, Arrow datasets, scanners and readers, and iterators of record batches or
frames are read batch by batch into a table on disk, which has the cells that `read_table` would
make of the whole. pyarrow reads Parquet; iterators of frames do without it.
"""
from __future__ import annotations

import itertools
import os
import re
import sys
from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np

from . import _core
from ._tables import IsCategory, MissingWords, is_frame, read_table

# What pandas calls the index of a frame in a Parquet file; read_csv leaves that of a CSV file out.
PANDAS_INDEX = re.compile(r"__index_level_\d+__")
BATCH_ROWS = 1 << 16
# Of the memory that a fit may take, a batch may have one part in so many.
SHARE_OF_A_BATCH, BYTES_A_CELL = 256, 16
# Batches and files that pyarrow reads before they are asked for; its own numbers are larger.
READ_AHEAD = {"batch_readahead": 2, "fragment_readahead": 1}
# Words of any case that usually mean missing: all that a label may be called nevertheless.
MISSING_WORDS = ["?"] + ["".join(letters) for word in ("na", "n/a", "nan", "null")
                         for letters in itertools.product(*({c, c.upper()} for c in word))]
WANTED = ("wanted a Parquet file or folder, a pyarrow dataset, scanner, reader or table, a frame, "
          "or an iterator of record batches or frames")


def is_path(X: Any) -> bool:
    return isinstance(X, (str, os.PathLike))


def frames_of(X: Any, place: str, memory: int = 0) -> Iterator[Any]:
    """The batches of X as frames that `read_table` takes."""
    for batch in _batches_of(X, place, memory):
        if not is_frame(batch) and hasattr(batch, "__arrow_c_array__"):
            batch = sys.modules["pyarrow"].Table.from_batches([batch])
        if not is_frame(batch):
            raise _core.Error(f"{place}: {type(batch).__name__} is no batch; {WANTED}")
        yield batch


def _rows_within(memory: int, columns: int) -> int:
    """Rows of a batch, so that a few of them are a small part of the memory; 0: any."""
    return BATCH_ROWS if memory == 0 else max(
        1, min(BATCH_ROWS, memory // (SHARE_OF_A_BATCH * BYTES_A_CELL * columns)))


def _batches_of(X: Any, place: str, memory: int) -> Iterable[Any]:
    if is_path(X):
        X = _dataset_of(X, place)
    if hasattr(X, "get_fragments"):  # a dataset
        return X.to_batches(batch_size=_rows_within(memory, len(X.schema)), **READ_AHEAD)
    if hasattr(X, "iter_batches"):  # a Parquet file that is open
        return X.iter_batches(batch_size=_rows_within(memory, len(X.schema_arrow)))
    if hasattr(X, "to_batches"):  # a scanner, a table
        return X.to_batches()
    if hasattr(X, "__iter__") and hasattr(X, "read_next_batch"):
        return X
    if is_frame(X):
        return [X]
    if isinstance(X, Iterable):
        return X
    raise _core.Error(f"{place}: {type(X).__name__} does not come in batches; {WANTED}")


def _dataset_of(path: Any, place: str) -> Any:
    """The Parquet files of a path, all of which must have the same columns and some rows."""
    try:
        from pyarrow import dataset
    except ImportError:
        raise _core.Error(f"{place}: {os.fspath(path)!r}: Parquet is read by pyarrow, which is not "
                          "installed") from None
    name = os.fspath(path)
    if not os.path.exists(name):
        raise _core.Error(f"{place}: cannot read {name}: No such file or directory")
    found = dataset.dataset(name, format="parquet", partitioning="hive")
    fragments = list(found.get_fragments())
    if not fragments:
        raise _core.Error(f"{place}: {name}: the folder has no Parquet files")
    columns = fragments[0].physical_schema.names
    for fragment in fragments:
        names = fragment.physical_schema.names
        if names != columns:
            raise _core.Error(f"{place}: {fragment.path}: its columns are others than those of "
                              f"{fragments[0].path}: {', '.join(names)}")
        if fragment.count_rows() == 0:
            raise _core.Error(f"{place}: {fragment.path}: there are no rows")
    return found


def files_text(path: Any) -> str:
    """The files of a path with their inodes, sizes and times, which change if the files do."""
    name = os.path.abspath(os.fspath(path))
    files = [name] if not os.path.isdir(name) else sorted(
        os.path.join(folder, file) for folder, _, found in os.walk(name) for file in found)
    parts = []
    for file in files:
        try:
            status = os.stat(file)
        except OSError as error:
            raise _core.Error(f"cannot read {file}: {error.strerror}") from None
        parts.append(f"{file}\0{status.st_ino}\0{status.st_size}\0{status.st_mtime_ns}\0"
                     f"{status.st_ctime_ns}")
    return "\0".join(parts)


class Batches:
    """The batches of X, of which the first is known."""

    def __init__(self, X: Any, place: str, memory: int = 0) -> None:
        self.place = place
        self.path = os.fspath(X) if is_path(X) else None
        self.files = files_text(X) if self.path is not None else ""
        frames = (frame for frame in frames_of(X, place, memory) if _num_rows(frame) > 0)
        first = next(frames, None)
        if first is None:
            raise _core.Error(f"{place}: there are no rows")
        self.first: Any = first
        self._frames = itertools.chain([self.first], frames)
        table = read_table(self.first, place, lambda name, index: False).table
        self.names = [name for name in table.names if not PANDAS_INDEX.fullmatch(name)]
        self.orders: dict[str, list[str]] = table.orders

    def dtype(self, column: str) -> np.dtype:
        """Of a column in the first batch."""
        return np.asarray(self.first[column]).dtype

    def store(self, folder: bytes, keeps: bool, is_category: IsCategory,
              not_missing: dict[str, list[str]], infinity: str) -> _core.Table:
        """All rows as a table in a folder, in memory if that is empty; `infinity` is what to say of
        infinite numbers. A folder that keeps tables is asked first, for files."""
        name = self.place if self.path is None else self.path
        keeps = keeps and self.path is not None
        categories = [column for index, column in enumerate(self.names)
                      if is_category(column, index)]
        source = repr((self.files, categories, not_missing, self.names)).encode()
        table = _core.find_table(name, folder, source) if keeps else None
        if table is None:
            writer = _core.TableWriter(name, folder, keeps, source)
            for piece in self._pieces(set(categories), not_missing, infinity):
                writer.add(piece)
            if self.path is not None and files_text(self.path) != self.files:
                raise _core.Error(f"{self.path}: changed while it was read")
            table = writer.finish()
        table.orders = self.orders
        return table

    def _pieces(self, categories: set[str], not_missing: dict[str, list[str]],
                infinity: str) -> Iterator[_core.Table]:
        for number, frame in enumerate(self._frames, 1):
            place = f"{self.place}: batch {number}"
            piece = read_table(frame, place, lambda name, _: name in categories,
                               words=MissingWords(not_missing=not_missing)).table
            for name in piece.names:
                if PANDAS_INDEX.fullmatch(name):
                    piece.drop(name)
            for name, words in piece.orders.items():
                if words != self.orders.get(name):
                    raise _core.Error(f"{place}: column '{name}': its order is {'<'.join(words)}, "
                                      f"before it was {'<'.join(self.orders.get(name, []))}")
            if (column := piece.infinite_column()) is not None:
                raise _core.Error(f"{infinity}: column '{column}'")
            yield piece


def _num_rows(frame: Any) -> int:
    if hasattr(frame, "num_rows"):
        return frame.num_rows
    if isinstance(frame, dict):
        return len(next(iter(frame.values()), ()))
    return len(frame) if hasattr(frame, "__len__") else 1
