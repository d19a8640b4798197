# SPDX-License-Identifier: Apache-2.0
"""What the tests share: made-up loans, and the program to compare with."""
import os
import signal
import threading
from pathlib import Path

os.environ.setdefault("SCIPY_ARRAY_API", "1")  # for scikit-learn's check of array API input
os.environ.setdefault("MPLBACKEND", "agg")
os.environ.setdefault("ESPALIER_THREADS", "1")  # pytest-xdist already uses every core

import pandas as pd  # noqa: E402
import pytest  # noqa: E402

import espalier  # noqa: E402

ROOT = Path(__file__).resolve().parents[2]
DIRECTIONS = {"debt_ratio": 1, "late_payments": 1, "income": -1, "years_employed": -1}


@pytest.fixture
def loans():
    """A frame of made-up loans with numbers, categories and missing cells."""
    return pd.DataFrame(espalier.simulate(rows=600, seed=1))


@pytest.fixture(scope="session")
def fitted():
    """A classifier fitted on the loans, not to be changed."""
    table = pd.DataFrame(espalier.simulate(rows=600, seed=1))
    label = table.pop("default")
    return espalier.MonotonicClassifier(monotonic_cst=DIRECTIONS, epochs=2).fit(table, label)


@pytest.fixture(scope="session")
def program():
    """The path of the program `espalier`."""
    path = Path(os.environ.get("ESPALIER_PROGRAM", ROOT / "build" / "espalier"))
    if not path.exists():
        pytest.fail(f"{path} is missing: make build, or set ESPALIER_PROGRAM")
    return path


@pytest.fixture
def interrupt_soon():
    """Ctrl-C in a moment, from another Python thread: it can only run because fit and verify let
    go of the GIL. In the background of a shell Ctrl-C is ignored, so it is switched on first."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    timer = threading.Timer(0.3, os.kill, (os.getpid(), signal.SIGINT))
    timer.start()
    yield
    timer.join()
    signal.signal(signal.SIGINT, before)
