# SPDX-License-Identifier: Apache-2.0
"""The scripts of examples/ run, on small samples."""
import os
import subprocess
import sys

from conftest import ROOT


def printed_by(script, folder, *words):
    done = subprocess.run([sys.executable, ROOT / "examples" / script, *words], cwd=folder,
                          capture_output=True, text=True,
                          env={**os.environ, "ROWS": "1500", "MPLBACKEND": "agg",
                               "OMP_NUM_THREADS": "1"})
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_the_notebook_runs(tmp_path):
    lines = {line.split()[0]: line.split()
             for line in printed_by("credit.py", tmp_path).splitlines() if line.strip()}
    assert {"espalier", "HistGradientBoosting", "XGBoost"} <= set(lines)
    falls = -2
    assert float(lines["espalier"][falls]) == 0


def test_a_cluster_of_dask_predicts_as_one_process(tmp_path):
    printed = printed_by("dask_scoring.py", tmp_path, "--rows", "4000", "--folder", "loans")
    assert "4,000 rows in" in printed and "bit for bit" in printed
