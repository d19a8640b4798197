# SPDX-License-Identifier: Apache-2.0
"""How fit tells of its progress: a callback, a tqdm bar, or nothing."""
from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from typing import Any

from . import _core

Callback = Callable[[dict[str, Any]], Any]
KEYS = ("member", "epoch", "epochs", "train_loss", "valid_metric", "metric", "seconds")


@contextlib.contextmanager
def progress_of(callback: Callback | None, wants_bar: bool) -> Iterator[Callback | None]:
    """What the library calls every few steps; true ends training."""
    _require_callable(callback)
    if callback is None and not wants_bar:
        yield None
        return
    bar = _bar("fit", "row") if wants_bar else None

    def report(progress: dict[str, Any]) -> bool:
        if bar is not None:
            bar.total = progress["rows_total"]
            bar.set_postfix(loss=f"{progress['loss']:.4g}", refresh=False)
            bar.update(progress["rows_done"] - bar.n)
        if callback is None or not progress["epoch_finished"]:
            return False
        return bool(callback({key: progress[key] for key in KEYS}))

    try:
        yield report
    finally:
        if bar is not None:
            bar.close()


@contextlib.contextmanager
def search_progress_of(callback: Callback | None, wants_bar: bool,
                       minutes: float) -> Iterator[Callback | None]:
    """What the library calls during a search; true ends it. The bar counts seconds if the search
    has an end in time, else trainings."""
    _require_callable(callback)
    if callback is None and not wants_bar:
        yield None
        return
    bar = _bar("tune", "s" if minutes > 0 else " trainings") if wants_bar else None
    if bar is not None and minutes > 0:
        bar.total = 60 * minutes

    def report(progress: dict[str, Any]) -> bool:
        if bar is not None:
            bar.update((round(progress["seconds"]) if minutes > 0 else progress["runs"]) - bar.n)
        if callback is None or progress["finished"] is None:
            return False
        return bool(callback({**progress, **progress["finished"]}))

    try:
        yield report
    finally:
        if bar is not None:
            bar.close()


def _require_callable(callback: Any) -> None:
    if callback is not None and not callable(callback):
        raise _core.Error(f"callback: {callback!r} cannot be called")


def _bar(name: str, unit: str) -> Any:
    try:
        from tqdm.auto import tqdm
    except ImportError as error:
        raise ImportError("progress=True wants tqdm: pip install tqdm") from error
    return tqdm(desc=name, unit=unit, unit_scale=True)
