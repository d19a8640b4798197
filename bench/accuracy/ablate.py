#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# What flags of `espalier train` change: the loss of held-out rows and CPU seconds, on several tables.
#
#   bench/accuracy/ablate.py --decisions [--tables adult,compas] [--seeds 5] [--jobs 2] [--json FILE]
#   bench/accuracy/ablate.py '' '--ensemble 4' 'long: --epochs 40' ...
#
# The first form compares the default with every decision of it switched off (DECISIONS), the second
# form the first variant with the others. A seed holds out another fifth of the rows, the same for all
# variants. Nothing is selected on these rows: training holds out rows of its own. The test rows of
# the tables are not read. Prints Markdown: the loss of the first variant, and of the others the
# paired change in percent with its standard error, each with CPU seconds of one thread.
#
# Needs build/espalier (make build) and the files of the tables; bench/data/tables.py says where.
import argparse
import concurrent.futures
import json
import os
import shlex
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

from program import espalier, tables

ALL_TABLES = ("adult,bank,credit,blog,california,compas,heart,auto-mpg,bike,king_county,"
              "credit_default,diamonds")
HELD_OUT = 0.2
FEW_ROWS, MORE_SEEDS = 6000, 4  # small tables say little with one split
DECISIONS = {
    "default": "",
    "no pairs": "--interactions none",
    "no trees": "--trees 0",
    "trees alone": "--tree-share 1",
    "half trees": "--tree-share 0.5",
    "1 network": "--ensemble 1",
    "no averages": "--schedule cosine",
    "no weight decay": "--weight-decay 0",
    "no penalty on bends": "--calibrator-hessian 0",
}


def hold_out(table, seed, folder):
    """Writes fit.csv and held_out.csv."""
    header, *rows = tables.read_rows(table / "all.csv")
    held_out, fit = tables.cut(rows, HELD_OUT, seed)
    tables.write_rows(folder / "held_out.csv", [header, *held_out])
    tables.write_rows(folder / "fit.csv", [header, *fit])


def cpu_seconds_of(*arguments):
    """Runs the program and waits; other children may run at the same time."""
    with tempfile.TemporaryFile("w+") as errors:
        process = subprocess.Popen([tables.ESPALIER, *map(str, arguments)],
                                   stdout=subprocess.DEVNULL, stderr=errors)
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        if process.returncode != 0:
            errors.seek(0)
            sys.exit(f"espalier {shlex.join(map(str, arguments))}: {errors.read().strip()}")
    return usage.ru_utime + usage.ru_stime


def evaluate(table, folder, flags, seed):
    """(loss of the held-out rows, CPU seconds of the training)"""
    with tempfile.TemporaryDirectory() as scratch:
        model = Path(scratch) / "model.esp"
        seconds = cpu_seconds_of("train", folder / "fit.csv", "--config", table / "options.json",
                                 "--seed", seed, "--threads", 1, "--quiet", "-o", model, *flags)
        held_out = espalier("evaluate", model, folder / "held_out.csv")
    return held_out.get("log_loss", held_out.get("mse")), seconds


def mean_and_error(values):
    error = statistics.stdev(values) / len(values) ** 0.5 if len(values) > 1 else float("nan")
    return statistics.mean(values), error


def cell_of(losses, first, seconds):
    mean, error = mean_and_error([100 * (loss / base - 1) for loss, base in zip(losses, first)])
    change = f"{mean:+.2f} ± {error:.2f} %" if losses != first else "the same"
    return f"{change}, {statistics.mean(seconds):.2g} s"


def compare(table, variants, seeds, pool, scratch):
    """What every variant gave; prints a row when all are done."""
    if len(tables.read_rows(table / "all.csv")) < FEW_ROWS:
        seeds *= MORE_SEEDS
    folders = {seed: scratch / f"{table.name}_{seed}" for seed in range(1, seeds + 1)}
    for seed, folder in folders.items():
        folder.mkdir()
        hold_out(table, seed, folder)
    futures = {name: [pool.submit(evaluate, table, folder, flags, seed)
                      for seed, folder in folders.items()] for name, flags in variants.items()}
    found = {}
    for name, each in futures.items():
        losses, seconds = zip(*(future.result() for future in each))
        found[name] = {"losses": losses, "cpu_seconds": seconds}
    first, *others = found.values()
    cells = [f"{statistics.mean(first['losses']):.5g}, "
             f"{statistics.mean(first['cpu_seconds']):.2g} s",
             *(cell_of(each["losses"], first["losses"], each["cpu_seconds"]) for each in others)]
    print(f"| {table.name} | {seeds} |", " | ".join(cells), "|", flush=True)
    return found


def arguments():
    parser = argparse.ArgumentParser(description="Compares flags of train on held-out rows.")
    parser.add_argument("variants", nargs="*", help="flags of train, after 'name:' if wanted")
    parser.add_argument("--decisions", action="store_true",
                        help="the default, and each of its decisions switched off")
    parser.add_argument("--tables", default=ALL_TABLES)
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--jobs", type=int, default=os.cpu_count(), help="trainings side by side")
    parser.add_argument("--json", metavar="FILE", type=Path, help="all losses and seconds")
    args = parser.parse_args()
    if args.decisions == bool(args.variants):
        parser.error("give either --decisions or variants")
    return args


def variants_of(args):
    """{name: words of train}"""
    if args.decisions:
        return {name: shlex.split(flags) for name, flags in DECISIONS.items()}
    variants = {}
    for text in args.variants:
        name, _, flags = text.rpartition(": ")
        variants[name or flags or "default"] = shlex.split(flags)
    return variants


def main():
    args = arguments()
    variants = variants_of(args)
    print("| dataset | seeds |", " | ".join(variants), "|\n" + "| --- " * (len(variants) + 2) + "|")
    found = {}
    with (concurrent.futures.ThreadPoolExecutor(args.jobs) as pool,
          tempfile.TemporaryDirectory() as scratch):
        for name in args.tables.split(","):
            table = tables.make(name, tables.ROOT / "build" / "bench" / "data")
            found[name] = compare(table, variants, args.seeds, pool, Path(scratch))
            if args.json:
                args.json.write_text(json.dumps(found, indent=1) + "\n")


if __name__ == "__main__":
    main()
