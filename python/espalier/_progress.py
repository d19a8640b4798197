# SPDX-License-Identifier: Apache-2.0
"""How fit tells of its progress: a callback, a tqdm bar, or nothing."""
from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from typing import Any

Callback = Callable[[dict[str, Any]], Any]
KEYS = ("member", "epoch", "epochs", "train_loss", "valid_metric", "metric", "seconds")


@contextlib.contextmanager
def progress_of(callback: Callback | None, wants_bar: bool) -> Iterator[Callback | None]:
    """What the library calls every few steps; true ends training."""
    if callback is None and not wants_bar:
        yield None
        return
    bar = _bar() if wants_bar else None

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


def _bar() -> Any:
    try:
        from tqdm.auto import tqdm
    except ImportError as error:
        raise ImportError("progress=True wants tqdm: pip install tqdm") from error
    return tqdm(desc="fit", unit="row", unit_scale=True)
