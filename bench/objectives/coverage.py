#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# The coverage of an interval between two quantiles on new rows, over random splits of a dataset.
#
#   bench/objectives/coverage.py [TABLE] [--splits 20] [--first 1] [--quantiles 0.1,0.5,0.9]
#       [--flags '--ensemble 5'] [--threads 2] [--json FILE]
#
# Each split holds out another fifth of the rows as test rows and trains on the others with the
# split's number as seed. Prints the coverage that `train` reports and the coverage of the test rows,
# then the mean of each over the splits with its standard error. Needs the program and the dataset:
# bench/data/tables.py says where it looks.
import argparse
import json
import shlex
import statistics
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "bench" / "accuracy"))
from program import espalier, tables


def coverage_of(header, rows, split, args, folder):
    """What `train` reports and what the test rows give."""
    test, rest = tables.cut(list(rows), tables.TEST_FRACTION, split)
    tables.write_rows(folder / "test.csv", [header, *test])
    tables.write_rows(folder / "train.csv", [header, *rest])
    trained = espalier("train", folder / "train.csv", "--config", args.options, "--quantile",
                       args.quantiles, "--seed", split, "--threads", args.threads, "-o",
                       folder / "model.esp", "--quiet", *shlex.split(args.flags))
    fresh = espalier("evaluate", folder / "model.esp", folder / "test.csv")
    return {"split": split, "reported": trained["metrics"]["coverage"],
            "fresh": fresh["coverage"], "pinball": fresh["pinball"]}


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("table", nargs="?", default="california")
    parser.add_argument("--splits", type=int, default=20)
    parser.add_argument("--first", type=int, default=1)
    parser.add_argument("--quantiles", default="0.1,0.5,0.9")
    parser.add_argument("--flags", default="")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--json")
    args = parser.parse_args()
    args.options = ROOT / "bench" / "data" / f"{args.table}.json"
    paths = tables.published_files(args.table)
    if paths is None:
        sys.exit(f"coverage.py: {args.table} is not there; ESPALIER_DATA names the folder that has it")
    header, *rows = tables.read_rows(paths[0])
    results = []
    with tempfile.TemporaryDirectory() as scratch:
        for split in range(args.first, args.first + args.splits):
            results.append(coverage_of(header, rows, split, args, Path(scratch)))
            own = results[-1]
            print(f"split {split}: reported {own['reported']:.4f}, fresh {own['fresh']:.4f}, "
                  f"pinball {own['pinball']:.6g}", flush=True)
    for name in ("reported", "fresh", "pinball"):
        values = [own[name] for own in results]
        error = statistics.stdev(values) / len(values) ** 0.5 if len(values) > 1 else 0
        print(f"{name}: {statistics.mean(values):.6g} ± {error:.2g}")
    if args.json:
        Path(args.json).write_text(json.dumps(results))


main()
