#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# Training from disk beside training in memory: the most anonymous memory, the time of an epoch and
# all of it, and whether the models are the same. Prints the table of docs/scaling.md.
#
#   bench/scaling/disk.py [--rows 100000 1000000] [--most-in-memory 10000000] [--memory 1G] [--folder DIR]
import argparse
import sys
import tempfile
from pathlib import Path

BENCH = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(BENCH), str(BENCH / "data")]
import tables
from watched_train import watched_train

EPOCHS = 2
FLAGS = ("--config", tables.HERE / "loans.json", "--architecture", "dln(20x3)", "--batch-size", "1024",
         "--epochs", str(EPOCHS), "--interactions", "none")


def cells(facts):
    seconds = facts["seconds"] / EPOCHS
    return (f"{facts['peak_bytes'] / 1e6:.0f} MB", f"{seconds:.1f} s",
            f"{facts['wall_seconds']:.0f} s")


def measure(rows, folder, most_in_memory, memory):
    table = folder / f"rows_{rows}.csv"
    tables.simulate(table, rows, 1, 9, 1)
    try:
        with tempfile.TemporaryDirectory(dir=folder) as cache:
            on_disk = watched_train(tables.ESPALIER, table, *FLAGS, "--memory", memory, "--cache", cache)
        row = [f"{rows:,}", *cells(on_disk)]
        if rows > most_in_memory:
            return [*row, "", "", "", ""]
        in_memory = watched_train(tables.ESPALIER, table, *FLAGS)
        same = on_disk["certificate"]["model_hash"] == in_memory["certificate"]["model_hash"]
        return [*row, *cells(in_memory), "yes" if same else "NO"]
    finally:
        table.unlink()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--rows", type=int, nargs="+", default=[10**5, 10**6])
    parser.add_argument("--most-in-memory", type=int, default=10**7)
    parser.add_argument("--memory", default="1G")
    parser.add_argument("--folder", type=Path, default=Path(tempfile.gettempdir()))
    args = parser.parse_args()
    print("| rows | from disk: peak | epoch | in all | in memory: peak | epoch | in all | same bytes |")
    print("| --- | --- | --- | --- | --- | --- | --- | --- |")
    for rows in args.rows:
        print("|", " | ".join(measure(rows, args.folder, args.most_in_memory, args.memory)), "|", flush=True)


if __name__ == "__main__":
    main()
