# SPDX-License-Identifier: Apache-2.0
# Which rows train, choose and judge: the same ones for all contenders.
#
# The test rows of a table stay the same; each seed holds out another fifth of the others, which
# choose the settings, the epoch or the number of trees. Tables of grades are cut into five folds.
import os
import sys
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pandas as pd

ROOT = Path(__file__).resolve().parents[2]
FRACTION = 0.2
MOST_CLAIMS, LONGEST, LARGEST_AMOUNT = 4, 1.0, 200_000
CAR = {"buying": ["vhigh", "high", "med", "low"], "maint": ["vhigh", "high", "med", "low"],
       "doors": ["2", "3", "4", "5more"], "persons": ["2", "4", "more"],
       "lug_boot": ["small", "med", "big"], "safety": ["low", "med", "high"]}
CAR_GRADES = ["unacc", "acc", "good", "vgood"]
# Columns along which the grades of a noiseless rule fall: a car for more than four is good less often.
CONTRADICTED = {"car": ["persons"]}


class Rows(NamedTuple):
    x: pd.DataFrame  # words as pandas categories
    y: np.ndarray
    exposure: np.ndarray | None = None

    def take(self, where):
        return Rows(self.x.iloc[where], self.y[where],
                    None if self.exposure is None else self.exposure[where])

    def arrays(self):
        """x as float32, words as their codes"""
        return np.column_stack([column.cat.codes if column.dtype == "category" else column
                                for _, column in self.x.items()]).astype(np.float32)

    def categories(self):
        return [i for i, kind in enumerate(self.x.dtypes) if kind == "category"]


def together(parts):
    """Rows of a table, one part after another."""
    exposures = [part.exposure for part in parts]
    return Rows(pd.concat([part.x for part in parts]), np.concatenate([part.y for part in parts]),
                None if exposures[0] is None else np.concatenate(exposures))


class Problem(NamedTuple):
    train: Rows
    valid: Rows
    test: Rows
    increasing: list[str]
    num_grades: int = 0

    def signs(self):
        return [int(name in self.increasing) for name in self.train.x]


def read(file):
    folder = Path(os.environ.get("ESPALIER_DATA") or ROOT.parent / "shared" / "data")
    if not (folder / file).exists():
        sys.exit(f"rows.py: {file} is not there; ESPALIER_DATA names the folder that has it")
    return pd.read_csv(folder / file)


def cut(count, seed):
    """(a fifth of the row numbers, the rest)"""
    order = np.random.default_rng(seed).permutation(count)
    first = round(FRACTION * count)
    return order[:first], order[first:]


def cut_groups(groups, seed):
    """(the row numbers of a fifth of the groups, the rest); groups: a number from 0 for each row"""
    count = groups.max() + 1
    first = np.random.default_rng(seed).permutation(count)[groups] < round(FRACTION * count)
    return np.flatnonzero(first), np.flatnonzero(~first)


def held_out(rows, test, seed, increasing, groups=None):
    """A problem whose validation rows the seed draws; without test rows a fixed fifth is these. Rows
    of a group stay together."""
    def parts(where, seed):
        return cut(len(where), seed) if groups is None else cut_groups(groups[where], seed)

    where = np.arange(len(rows.y))
    if test is None:
        judging, where = parts(where, 0)
        test = rows.take(judging)
    valid, train = parts(where, seed)
    return Problem(rows.take(where[train]), rows.take(where[valid]), test, increasing)


def policies(x):
    """Numbers of the policies. A policy has several rows with numbers of their own, one a period:
    driver and vehicle grow older together, and the vehicle and the place stay."""
    stays = ["VehPower", "VehBrand", "VehGas", "Region", "Density"]
    bought = (x["DrivAge"] - x["VehAge"]).rename("bought")
    return x.groupby([*(x[name] for name in stays), bought], observed=True).ngroup().to_numpy()


def motor(label, seed, limit=None, grouped=False):
    """Rows of freMTPL2, claims or amounts, with the usual caps; grouped: what looks like the rows of
    one policy stays together."""
    frame = read("fremtpl2/fremtpl2.csv.gz")
    if limit:
        frame = frame.sample(limit, random_state=1)
    assert frame["IDpol"].is_unique
    y = (frame["ClaimNb"].clip(upper=MOST_CLAIMS) if label == "ClaimNb"
         else frame["ClaimAmount"].clip(upper=LARGEST_AMOUNT)).to_numpy(np.float64)
    exposure = frame["Exposure"].clip(upper=LONGEST).to_numpy(np.float64)
    x = frame.drop(columns=["IDpol", "ClaimNb", "ClaimAmount", "Exposure"])
    for name in ("Area", "VehBrand", "VehGas", "Region"):
        x[name] = x[name].astype("category")
    return held_out(Rows(x, y, exposure), None, seed, ["BonusMalus", "Density", "VehPower"],
                    policies(x) if grouped else None)


def california(seed):
    frame = read("california/cal_housing.csv.gz")
    y = frame.pop("median_house_value").to_numpy(np.float64) / 100_000
    return held_out(Rows(frame, y), None, seed, ["median_income"])


def blog(seed):
    parts = [read(f"blog/{part}_blog.csv.gz") for part in ("train", "test")]
    train, test = (Rows(frame.drop(columns="ground_truth"),
                        frame["ground_truth"].to_numpy(np.float64)) for frame in parts)
    return held_out(train, test, seed, [f"A{i}" for i in (51, 52, 53, 54, 56, 57, 58, 59)])


def graded(name):
    """Grades as codes from 0, columns as numbers that raise them; and the number of grades"""
    frame = read(f"ordinal/{name}.csv")
    if name == "car":
        frame = frame.astype(str)
        y = frame.pop("class").map(CAR_GRADES.index).to_numpy()
        for column, words in CAR.items():
            frame[column] = frame[column].map(words.index)
    else:
        y = frame.pop("class").to_numpy() - 1
    return Rows(frame.astype(np.float64), y), int(y.max()) + 1


def folds(rows, count, seed):
    """(training rows, judging rows) of each fold"""
    order = np.random.default_rng(seed).permutation(len(rows.y))
    for fold in range(count):
        yield (rows.take(np.concatenate([order[i::count] for i in range(count) if i != fold])),
               rows.take(order[fold::count]))


def least_of_monotone(rows):
    """The log loss and the error of grades that every model has at least on these rows whose
    P(grade >= c) rise with all columns. Let x <= x' have grades y > y'. Then P(y | x) P(y' | x') <= P(>= y | x) P(< y | x')
    <= q (1 - q) <= 1/4, so the two cost at least 2 ln 2; and the grade of x is not above that of x',
    so that they are off by at least y - y' together. Pairs that share no row add up."""
    cells, grades = rows.x.to_numpy(), rows.y
    used, log_loss, error = set(), 0.0, 0
    for i in np.argsort(-grades, kind="stable"):
        above = np.flatnonzero((cells >= cells[i]).all(axis=1) & (grades < grades[i]))
        # The nearest one leaves the others to those that have fewer.
        free = [j for j in above[np.argsort(cells[above].sum(axis=1), kind="stable")]
                if j not in used]
        if i in used or not free:
            continue
        used |= {i, free[0]}
        log_loss += 2 * np.log(2)
        error += int(grades[i] - grades[free[0]])
    return {"log_loss": float(log_loss / len(grades)), "grade_error": error / len(grades)}
