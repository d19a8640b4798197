#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# What a change of the recipe does: trains variants of `espalier train` on several tables with
# several seeds and prints their metric on held-out rows, with the difference to the first variant.
# A seed holds out another fifth of the rows, the same for all variants, which choose nothing: the
# rows that choose the epoch are part of the others. The test rows of the tables are not read.
#
#   bench/accuracy/ablate.py '' '--ensemble 4' 'long: --epochs 40' [--tables adult,compas]
#       [--seeds 5] [--json FILE]
#
# Wants build/espalier (make build) and the files of the tables; bench/data/tables.py says where.
import argparse
import concurrent.futures
import json
import os
import shlex
import statistics
import tempfile
from pathlib import Path

from program import espalier, tables

ALL_TABLES = "adult,bank,credit,blog,california,compas,heart,auto-mpg"
HELD_OUT = 0.2
FEW_ROWS, MORE_SEEDS = 6000, 4  # small tables say little with one split


def hold_out(table, seed, folder):
    """Writes fit.csv and held_out.csv."""
    header, *rows = tables.read_rows(table / "all.csv")
    held_out, fit = tables.cut(rows, HELD_OUT, seed)
    tables.write_rows(folder / "held_out.csv", [header, *held_out])
    tables.write_rows(folder / "fit.csv", [header, *fit])


def judge(table, folder, flags, seed):
    """(metric on the held-out rows, its name, seconds of training)"""
    with tempfile.TemporaryDirectory() as scratch:
        model = Path(scratch) / "model.esp"
        trained = espalier("train", folder / "fit.csv", "--config", table / "options.json",
                           "--seed", seed, "--threads", 1, "--quiet", "-o", model, *flags)
        held_out = espalier("evaluate", model, folder / "held_out.csv")
    metric = "log_loss" if "log_loss" in held_out else "mse"
    return held_out[metric], metric, trained["seconds"]


def spread(values):
    return statistics.stdev(values) / len(values) ** 0.5 if len(values) > 1 else float("nan")


def compare(table, variants, seeds, pool, scratch):
    """A line for each variant, printed when all of its seeds are done."""
    if len(tables.read_rows(table / "all.csv")) < FEW_ROWS:
        seeds *= MORE_SEEDS
    folders = {seed: scratch / f"{table.name}_{seed}" for seed in range(1, seeds + 1)}
    for seed, folder in folders.items():
        folder.mkdir()
        hold_out(table, seed, folder)
    runs = {name: [pool.submit(judge, table, folder, flags, seed)
                   for seed, folder in folders.items()] for name, flags in variants.items()}
    base, lines = None, []
    for name, futures in runs.items():
        results = [future.result() for future in futures]
        values = [value for value, _, _ in results]
        base = base or values
        change = [value - first for value, first in zip(values, base)]
        line = {"table": table.name, "variant": name, "metric": results[0][1], "seeds": seeds,
                "mean": statistics.mean(values), "change": statistics.mean(change),
                "change_error": spread(change),
                "seconds": statistics.median(seconds for _, _, seconds in results)}
        print(f"{line['table']:10} {line['metric']:9}{line['mean']:11.6g} {line['change']:+11.3g} "
              f"±{line['change_error']:9.2g} {line['seconds']:7.1f} s  {name}", flush=True)
        lines.append(line)
    return lines


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("variants", nargs="+", help="flags of train, after 'name:' if wanted")
    parser.add_argument("--tables", default=ALL_TABLES)
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--json", help="where all lines go as JSON")
    args = parser.parse_args()
    variants = {}
    for text in args.variants:
        name, _, flags = text.rpartition(": ")
        variants[name or flags or "default"] = shlex.split(flags)
    print(f"{'table':10} {'metric':9}{'mean':>11} {'change':>11}  {'error':>9} {'time':>9}  variant")
    lines = []
    with (concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool,
          tempfile.TemporaryDirectory() as scratch):
        for name in args.tables.split(","):
            table = tables.make(name, tables.ROOT / "build" / "bench" / "data")
            lines += compare(table, variants, args.seeds, pool, Path(scratch))
    if args.json:
        Path(args.json).write_text(json.dumps(lines, indent=1))


if __name__ == "__main__":
    main()
