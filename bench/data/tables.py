#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# The tables that contenders share, each made once: a folder with options.json (as `espalier train
# --config` reads it), all.csv, its split into train.csv and valid.csv, and test.csv.
#
#   bench/data/tables.py adult FOLDER      # UCI Adult with names for its columns
#
# Published tables are read from the folder $ESPALIER_DATA, else from ../shared/data: see PUBLISHED
# below. loans and rater are made up by `espalier simulate`.
import csv
import functools
import gzip
import os
import random
import shutil
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent.parent
ESPALIER = ROOT / "build" / "espalier"

ADULT_COLUMNS = (
    "age,workclass,fnlwgt,education,education-num,marital-status,occupation,relationship,race,sex,"
    "capital-gain,capital-loss,hours-per-week,native-country,income").split(",")
ADULT_DROPPED = ("fnlwgt", "education")
VALID_FRACTION = 0.2
TEST_FRACTION = 0.2

# The files of each published table: rows to train on, rows to test on if they come apart.
PUBLISHED = {
    "adult": ("adult/adult.data", "adult/adult.test"),
    "compas": ("compas/train_compas.csv", "compas/test_compas.csv"),
    "blog": ("blog/train_blog.csv.gz", "blog/test_blog.csv.gz"),
    "auto-mpg": ("auto_mpg/train.csv", "auto_mpg/test.csv"),
    "heart": ("heart/heart_train.csv", "heart/heart_test.csv"),
    "credit": ("gmsc/cs-training.csv.gz",),
    "california": ("california/cal_housing.csv.gz",),
    "bank": ("bank/bank.csv.gz",),
    "fremtpl2": ("fremtpl2/fremtpl2.csv.gz",),
    "bike": ("bike/bike.csv.gz",),
    "king_county": ("king_county/king_county.csv.gz",),
    "credit_default": ("credit_default/credit_default.csv.gz",),
    "diamonds": ("diamonds/diamonds.csv.gz",),
}
# The rows of these files are in random order already. The last fifth are the test rows. Of the
# others, the last fifth are the validation rows.
IN_FILE_ORDER = ("bike", "king_county", "credit_default", "diamonds")
# Categories that the files have as numbers. A letter before the number makes them words, which all
# contenders read as categories.
CODED = {"bike": ("season", "weekday"), "credit_default": ("SEX", "EDUCATION", "MARRIAGE")}


def published_files(name):
    """The paths of a published table's files, or None if one is not there."""
    folder = Path(os.environ.get("ESPALIER_DATA") or ROOT.parent / "shared" / "data")
    paths = [folder / file for file in PUBLISHED[name]]
    return paths if all(path.exists() for path in paths) else None


def write_rows(path, rows):
    with open(path, "w", newline="") as file:
        csv.writer(file, lineterminator="\n").writerows(rows)


def write_adult(folder, paths):
    kept = [i for i, name in enumerate(ADULT_COLUMNS) if name not in ADULT_DROPPED]
    for path, name in zip(paths, ("all", "test")):
        rows = [[ADULT_COLUMNS[i] for i in kept]]
        for line in path.read_text().splitlines():
            cells = [cell.strip() for cell in line.split(",")]
            if len(cells) != len(ADULT_COLUMNS):
                continue  # an empty line, and the note that opens the test file
            cells[-1] = cells[-1].rstrip(".")  # the labels of the test file end in a full stop
            rows.append([cells[i] for i in kept])
        write_rows(folder / f"{name}.csv", rows)


def read_rows(path):
    """All rows, the header first; a column without a name, the row's number, is left out."""
    with (gzip.open if path.suffix == ".gz" else open)(path, "rt", newline="") as file:
        rows = list(csv.reader(file))
    first = 0 if rows[0][0] else 1
    return [row[first:] for row in rows]


def write_published(folder, name):
    paths = published_files(name)
    if paths is None:
        sys.exit(f"tables.py: {' or '.join(PUBLISHED[name])} is not there; ESPALIER_DATA names the "
                 "folder that has them")
    if name == "adult":
        write_adult(folder, paths)
    elif len(paths) == 2:
        for path, part in zip(paths, ("all", "test")):
            write_rows(folder / f"{part}.csv", read_rows(path))
    else:
        header, *rows = read_rows(paths[0])
        for i in [header.index(column) for column in CODED.get(name, ())]:
            rows = [[*row[:i], f"c{row[i]}", *row[i + 1:]] for row in rows]
        test, rest = cut_last_fifth(rows) if name in IN_FILE_ORDER else cut(rows, TEST_FRACTION)
        write_rows(folder / "all.csv", [header, *rest])
        write_rows(folder / "test.csv", [header, *test])
    shutil.copy(HERE / f"{name}.json", folder / "options.json")


def simulate(path, rows, seed, numbers, categories):
    subprocess.run([ESPALIER, "simulate", "--rows", str(rows), "--seed", str(seed), "--numbers",
                    str(numbers), "--categories", str(categories), "-o", path],
                   check=True, stderr=subprocess.DEVNULL)


def write_loans(folder, rows=32000, numbers=6, categories=3):
    for seed, name, count in ((1, "all", rows), (2, "test", rows // 2)):
        simulate(folder / f"{name}.csv", count, seed, numbers, categories)
    shutil.copy(HERE / "loans.json", folder / "options.json")


def write_rater(folder):
    """Ten numbers and nothing else, the shape of the paper's Rater Score table."""
    write_loans(folder, rows=50000, numbers=10, categories=1)
    for name in ("all", "test"):
        with open(folder / f"{name}.csv", newline="") as file:
            rows = list(csv.reader(file))
        category = rows[0].index("region")
        write_rows(folder / f"{name}.csv", [row[:category] + row[category + 1:] for row in rows])


def cut(rows, fraction, seed=1):
    """(that share of the rows, the rest), both in an order of their own"""
    random.Random(seed).shuffle(rows)
    count = round(fraction * len(rows))
    return rows[:count], rows[count:]


def cut_last_fifth(rows):
    """(the last fifth of the rows, the rest)"""
    count = len(rows) * 4 // 5
    return rows[count:], rows[:count]


def split(table, folder, seed=1):
    """Cuts the all.csv of a table into the train.csv and valid.csv of a folder; without a seed the
    last fifth are the validation rows."""
    with open(table / "all.csv", newline="") as file:
        header, *rows = csv.reader(file)
    valid, train = cut_last_fifth(rows) if seed is None else cut(rows, VALID_FRACTION, seed)
    write_rows(folder / "valid.csv", [header, *valid])
    write_rows(folder / "train.csv", [header, *train])


WRITERS = {"loans": write_loans, "loans_300000": functools.partial(write_loans, rows=300_000),
           "rater": write_rater} | {
    name: functools.partial(write_published, name=name) for name in PUBLISHED if name != "fremtpl2"}


def make(name, parent):
    """The folder of a table, made if it is not there."""
    folder = Path(parent) / name
    if not (folder / "train.csv").exists():
        folder.mkdir(parents=True, exist_ok=True)
        WRITERS[name](folder)
        split(folder, folder, None if name in IN_FILE_ORDER else 1)
    return folder


def make_large(rows, parent):
    """A CSV of nine numbers, a category and a label; no split."""
    path = Path(parent) / f"large_{rows}.csv"
    if not path.exists():
        Path(parent).mkdir(parents=True, exist_ok=True)
        simulate(path, rows, 1, 9, 1)
    return path


def make_simulated(rows, numbers, parent):
    """A folder with so many training rows and nothing else: numbers, and a category."""
    folder = Path(parent) / f"loans_{rows}_{numbers}"
    if not (folder / "train.csv").exists():
        folder.mkdir(parents=True, exist_ok=True)
        shutil.copy(HERE / "loans.json", folder / "options.json")
        simulate(folder / "train.csv", rows, 1, numbers, 1)
    return folder


def make_policies(parent):
    """A folder with all policies of freMTPL2 as training rows, with the usual caps."""
    folder = Path(parent) / "fremtpl2"
    if not (folder / "train.csv").exists():
        folder.mkdir(parents=True, exist_ok=True)
        shutil.copy(HERE / "fremtpl2.json", folder / "options.json")
        header, *rows = read_rows(published_files("fremtpl2")[0])
        dropped = {header.index(name) for name in ("IDpol", "ClaimAmount")}
        for name, most in (("ClaimNb", 4), ("Exposure", 1)):
            column = header.index(name)
            for row in rows:
                row[column] = min(float(row[column]), most)
        write_rows(folder / "train.csv", [[cell for i, cell in enumerate(row) if i not in dropped]
                                          for row in (header, *rows)])
    return folder


if __name__ == "__main__":
    if len(sys.argv) != 3 or sys.argv[1] not in WRITERS:
        sys.exit(f"usage: tables.py {'|'.join(WRITERS)} FOLDER")
    make(sys.argv[1], sys.argv[2])
