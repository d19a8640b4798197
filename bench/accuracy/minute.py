#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# What a minute of `espalier tune` is worth beside `espalier train` as it comes.
#
#   bench/accuracy/minute.py [TABLE ...] [--minutes 1] [--seed 1] [--threads 2] [--json FILE]
#
# Both get the same rows and choose their validation rows themselves; the test rows judge, or on a
# table of a few hundred rows every row once, by the fold that holds it out. The difference is paired
# row by row, so its standard error is that of the same rows judged twice.
#
# Wants build/espalier (make build) and the files of the tables; bench/data/tables.py says where.
import argparse
import json
import math
import os
import statistics
import tempfile
import time
from pathlib import Path

import metrics
import protocol
from program import espalier, output_of, tables
from run import labels_of


def row_losses(judges, labels, predictions):
    """The log loss or squared error of each row."""
    own = metrics.mse if metrics.mse in judges else metrics.log_loss
    return [own([label], [value]) for label, value in zip(labels, predictions, strict=True)]


def judged(command, folder, rows, args, scratch):
    """(losses of the test rows, seconds, what the command says)"""
    model = scratch / "model.esp"
    begin = time.monotonic()
    said = espalier(*command, rows, "--config", folder / "options.json", "--seed", args.seed,
                    "--threads", args.threads, "-o", model, "--quiet")
    seconds = time.monotonic() - begin
    labels, judges = labels_of(folder)
    lines = output_of("predict", model, folder / "test.csv").splitlines()[1:]
    return row_losses(judges, labels, [float(line) for line in lines]), seconds, said


def folders_of(name, seed, scratch):
    """(folder, its rows to train on) of each case"""
    table = tables.make(name, tables.ROOT / "build" / "bench" / "data")
    if name not in protocol.CROSS_VALIDATED:
        return [(table, table / "all.csv")]
    cases = protocol.cross_validated(table, seed, scratch)
    return [(case.folder, case.folder / "train.csv") for case in cases if case.seed == seed]


def compete(name, args):
    found = {"defaults": [], "tuned": [], "seconds": [0, 0], "best": []}
    with tempfile.TemporaryDirectory() as scratch:
        for folder, rows in folders_of(name, args.seed, Path(scratch)):
            losses, seconds, _ = judged(["train"], folder, rows, args, Path(scratch))
            found["defaults"] += losses
            found["seconds"][0] += seconds
            losses, seconds, said = judged(["tune", "--minutes", args.minutes], folder, rows, args,
                                           Path(scratch))
            found["tuned"] += losses
            found["seconds"][1] += seconds
            found["best"].append({"trials": len(said["trials"]), **said["best"],
                                  "networks": said["trained"]["options"]["ensemble"]})
    return found


def print_row(name, found):
    differences = [b - a for a, b in zip(found["defaults"], found["tuned"])]
    error = statistics.stdev(differences) / math.sqrt(len(differences))
    mean = statistics.mean(differences)
    best = found["best"]
    print(f"{name:<12}{statistics.mean(found['defaults']):>14.6g}"
          f"{statistics.mean(found['tuned']):>14.6g}{mean:>+14.3g} ± {error:<10.2g}"
          f"{mean / error if error else 0:>+6.1f}  "
          f"{'/'.join(str(each['networks']) for each in best)} networks, trial "
          f"{'/'.join(str(each['trial']) for each in best)} of "
          f"{'/'.join(str(each['trials']) for each in best)}, "
          f"{found['seconds'][0]:.0f} s and {found['seconds'][1]:.0f} s", flush=True)


def arguments():
    parser = argparse.ArgumentParser(description="Compares tune with train on the same rows.")
    parser.add_argument("tables", nargs="*", metavar="TABLE",
                        help=f"of {', '.join(protocol.TABLES)}; all")
    parser.add_argument("--minutes", type=float, default=1)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--threads", type=int, default=os.cpu_count())
    parser.add_argument("--json", metavar="FILE", help="all that was found, row by row")
    args = parser.parse_args()
    if unknown := set(args.tables) - set(protocol.TABLES):
        parser.error(f"no table {', '.join(sorted(unknown))}; there are "
                     f"{', '.join(protocol.TABLES)}")
    return args


def main():
    args = arguments()
    print(f"{'':<12}{'defaults':>14}{'tuned':>14}{'difference':>14}   {'error':<10}{'in errors':>9}")
    results = {}
    for name in args.tables or protocol.TABLES:
        results[name] = compete(name, args)
        print_row(name, results[name])
        if args.json:
            Path(args.json).write_text(json.dumps(results) + "\n")


if __name__ == "__main__":
    main()
