# SPDX-License-Identifier: Apache-2.0
# Which rows train, choose and judge: the same files for all contenders.
#
# A table of many rows keeps its test file, and each seed holds out another fifth of the other rows
# to choose the epoch or the number of trees.
#
# A table of a few hundred rows says little that way. It is cross-validated, each seed with another
# partition of all of its rows, and no rows are held out to choose anything. Its published split is
# judged beside that. Contenders tune on the published training rows, by folds of their own, so that
# nothing of the published split's test rows is known to them; the settings, not the models, have
# seen rows that judge in the cross-validation.
import random
from pathlib import Path
from typing import NamedTuple

from program import tables

TABLES = ("adult", "california", "bank", "compas", "blog", "auto-mpg", "heart", "credit")
CROSS_VALIDATED = ("auto-mpg", "heart")
FOLDS = 5
MEMBERS = 5  # of ensembles, each of which holds out other rows


class Case(NamedTuple):
    """A training and its judgement."""
    protocol: str
    seed: int
    folder: Path  # train.csv, test.csv, options.json; unless rows are few valid.csv, and all.csv


def new_folder(scratch, name, table):
    folder = scratch / f"{table.name}_{name}"
    folder.mkdir()
    (folder / "options.json").symlink_to(table / "options.json")
    return folder


def held_out(table, seeds, scratch):
    cases = []
    for seed in range(1, seeds + 1):
        folder = new_folder(scratch, seed, table)
        for name in ("all.csv", "test.csv"):
            (folder / name).symlink_to(table / name)
        tables.split(table, folder, seed)
        cases.append(Case("test file", seed, folder))
    return cases


def published(table, seeds, scratch):
    """One split, whatever the seed: only what a contender draws differs."""
    folder = new_folder(scratch, "published", table)
    (folder / "train.csv").symlink_to(table / "all.csv")
    (folder / "test.csv").symlink_to(table / "test.csv")
    return [Case("published split", seed, folder) for seed in range(1, seeds + 1)]


def cross_validated(table, seeds, scratch):
    header, *rows = tables.read_rows(table / "all.csv")
    rows += tables.read_rows(table / "test.csv")[1:]
    cases = []
    for seed in range(1, seeds + 1):
        order = random.Random(seed).sample(rows, len(rows))
        for fold in range(FOLDS):
            folder = new_folder(scratch, f"{seed}_{fold}", table)
            train = [row for number, row in enumerate(order) if number % FOLDS != fold]
            tables.write_rows(folder / "train.csv", [header, *train])
            tables.write_rows(folder / "test.csv", [header, *order[fold::FOLDS]])
            cases.append(Case(f"{FOLDS}-fold cross-validation", seed, folder))
    return cases


def cases_of(name, seeds, scratch):
    """All cases of a table; contenders tune on the first one's rows."""
    table = tables.make(name, tables.ROOT / "build" / "bench" / "data")
    if name in CROSS_VALIDATED:
        return published(table, seeds, scratch) + cross_validated(table, seeds, scratch)
    return held_out(table, seeds, scratch)
