# SPDX-License-Identifier: Apache-2.0
"""The scripts of examples/ run, on small samples."""
import os
import subprocess
import sys

import pytest

from conftest import ROOT


@pytest.mark.parametrize("script", sorted((ROOT / "examples").glob("*.py")), ids=lambda p: p.name)
def test_example_runs(script, tmp_path):
    done = subprocess.run([sys.executable, script], cwd=tmp_path, capture_output=True, text=True,
                          env={**os.environ, "ROWS": "1500", "MPLBACKEND": "agg",
                               "OMP_NUM_THREADS": "1"})
    assert done.returncode == 0, done.stderr
    lines = {line.split()[0]: line.split() for line in done.stdout.splitlines() if line.strip()}
    assert {"espalier", "HistGradientBoosting", "XGBoost"} <= set(lines)
    falls = -2
    assert float(lines["espalier"][falls]) == 0
