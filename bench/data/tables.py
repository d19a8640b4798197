#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# The tables that contenders share, each made once: a folder with options.json (as `espalier train
# --config` reads it), all.csv, its split into train.csv and valid.csv, and test.csv.
#
#   bench/data/tables.py adult FOLDER      # UCI Adult with names for its columns
#
# Adult wants adult.data and adult.test (as published) in $ESPALIER_DATA/adult, else in
# ../shared/data/adult. The other tables are made up by `espalier simulate`.
import csv
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


def adult_source():
    """The folder of the published files, or None."""
    folder = Path(os.environ.get("ESPALIER_DATA") or ROOT.parent / "shared" / "data") / "adult"
    return folder if all((folder / f"adult.{part}").exists() for part in ("data", "test")) else None


def write_rows(path, rows):
    with open(path, "w", newline="") as file:
        csv.writer(file, lineterminator="\n").writerows(rows)


def write_adult(folder):
    kept = [i for i, name in enumerate(ADULT_COLUMNS) if name not in ADULT_DROPPED]
    source = adult_source()
    if source is None:
        sys.exit("tables.py: adult.data and adult.test are not there; ESPALIER_DATA names a folder "
                 "that has them in adult/")
    for part, name in (("data", "all"), ("test", "test")):
        rows = [[ADULT_COLUMNS[i] for i in kept]]
        for line in (source / f"adult.{part}").read_text().splitlines():
            cells = [cell.strip() for cell in line.split(",")]
            if len(cells) != len(ADULT_COLUMNS):
                continue  # an empty line, and the note that opens the test file
            cells[-1] = cells[-1].rstrip(".")  # the labels of the test file end in a full stop
            rows.append([cells[i] for i in kept])
        write_rows(folder / f"{name}.csv", rows)
    shutil.copy(HERE / "adult.json", folder / "options.json")


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


def split(folder):
    with open(folder / "all.csv", newline="") as file:
        header, *rows = csv.reader(file)
    random.Random(1).shuffle(rows)
    held_out = round(VALID_FRACTION * len(rows))
    write_rows(folder / "valid.csv", [header, *rows[:held_out]])
    write_rows(folder / "train.csv", [header, *rows[held_out:]])


WRITERS = {"adult": write_adult, "loans": write_loans, "rater": write_rater}


def make(name, parent):
    """The folder of a table, made if it is not there."""
    folder = Path(parent) / name
    if not (folder / "train.csv").exists():
        folder.mkdir(parents=True, exist_ok=True)
        WRITERS[name](folder)
        split(folder)
    return folder


def make_large(rows, parent):
    """A CSV of nine numbers, a category and a label; no split."""
    path = Path(parent) / f"large_{rows}.csv"
    if not path.exists():
        Path(parent).mkdir(parents=True, exist_ok=True)
        simulate(path, rows, 1, 9, 1)
    return path


if __name__ == "__main__":
    if len(sys.argv) != 3 or sys.argv[1] not in WRITERS:
        sys.exit(f"usage: tables.py {'|'.join(WRITERS)} FOLDER")
    make(sys.argv[1], sys.argv[2])
