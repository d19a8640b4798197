# SPDX-License-Identifier: Apache-2.0
# Espalier on the same problems; see trees.py. Each model is verified before it is evaluated.
import atexit
import signal
import subprocess
import tempfile
import time
from pathlib import Path

import numpy as np
import pandas as pd
import spaces
from judges import POWER
from rows import ROOT

ESPALIER = ROOT / "build" / "espalier"
PAIRS = 2000  # of the counter-example search


def draw(random):
    return {"learning_rate": spaces.log_uniform(random, 0.005, 0.1),
            "weight_decay": spaces.log_uniform(random, 0.03, 3),
            "tree_rate": spaces.log_uniform(random, 0.03, 0.3),
            "tree_leaves": round(spaces.log_uniform(random, 7, 127))}


class OutOfTime(Exception):
    """Training ended before there was a model."""


DEFAULTS = spaces.Space([{}], draw)


class Files:
    """Rows as CSV files, each written once."""

    def __init__(self):
        self.folder = tempfile.TemporaryDirectory()
        self.written = {}  # by the identity of a label; the rows are kept so that it stays theirs
        atexit.register(self.folder.cleanup)

    def path(self, name):
        return Path(self.folder.name) / name

    def of(self, rows):
        if id(rows.y) not in self.written:
            path = self.path(f"{len(self.written)}.csv")
            frame = rows.x.assign(label=rows.y)
            if rows.exposure is not None:
                frame["exposure"] = rows.exposure
            frame.to_csv(path, index=False)
            self.written[id(rows.y)] = rows, path
        return self.written[id(rows.y)][1]


FILES = Files()


def train(words, until):
    """Runs `espalier train`, which saves the best model so far when it is interrupted."""
    process = subprocess.Popen([ESPALIER, "train", "--quiet", *map(str, words)],
                               stderr=subprocess.PIPE, text=True)
    try:
        _, errors = process.communicate(timeout=until and max(1, until - time.monotonic()))
    except subprocess.TimeoutExpired:
        process.send_signal(signal.SIGINT)
        _, errors = process.communicate()
        if process.returncode != 0:
            raise OutOfTime(errors.strip()) from None
    if process.returncode != 0:
        raise RuntimeError(f"espalier train: {errors.strip()}")


class Proven:
    """What predicts Rows by a verified model: the last columns that `espalier predict` prints."""

    def __init__(self, path, columns, threads):
        subprocess.run([ESPALIER, "verify", path, "--pairs", str(PAIRS), "--threads", str(threads)],
                       check=True, stdout=subprocess.DEVNULL)
        self.path, self.columns, self.threads = path, columns, threads

    def __call__(self, rows):
        words = ["--rate"] if rows.exposure is not None else []
        out = FILES.path("predictions.csv")
        subprocess.run([ESPALIER, "predict", self.path, FILES.of(rows), "-o", out, "--threads",
                        str(self.threads), *words], check=True)
        return pd.read_csv(out).iloc[:, -self.columns:].to_numpy(np.float64).squeeze()


def fit(problem, words, columns, settings, seed, threads, until):
    signs = dict(zip(problem.train.x, problem.signs()))
    if increasing := [name for name, sign in signs.items() if sign > 0]:
        words = [*words, "--increasing", ",".join(increasing)]
    if problem.valid:
        words = [*words, "--valid", FILES.of(problem.valid)]
    for name, value in settings.items():
        words = [*words, f"--{name.replace('_', '-')}", value]
    model = FILES.path(f"{time.monotonic_ns()}.esp")
    train([FILES.of(problem.train), "--label", "label", "--seed", seed, "--threads", threads, "-o",
           model, *words], until)
    return Proven(model, columns, threads)


def fit_rate(problem, loss, settings, seed, threads, until=None):
    power = ["--power", POWER] if loss == "tweedie" else []
    return fit(problem, ["--loss", loss, "--exposure", "exposure", *power], 1, settings, seed,
               threads, until)


def fit_quantiles(problem, quantiles, settings, seed, threads, until=None):
    return fit(problem, ["--quantile", ",".join(map(str, quantiles))], len(quantiles), settings,
               seed, threads, until)


def fit_grades(problem, settings, seed, threads, until=None, rounds=None):
    """Probabilities of the grades 0, 1, ...; without validation rows networks hold out some in turn."""
    parts = [problem.train, problem.valid] if problem.valid else [problem.train]
    grades = np.unique(np.concatenate([part.y for part in parts]))
    order = "<".join(f"{grade:g}" for grade in grades)
    predict = fit(problem, ["--task", "classification", "--grades", order], len(grades), settings,
                  seed, threads, until)

    def spread_out(rows):
        every = np.zeros((len(rows.y), problem.num_grades))
        every[:, grades.astype(int)] = predict(rows)
        return every

    spread_out.rounds = None
    return spread_out
