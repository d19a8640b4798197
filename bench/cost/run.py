#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# What a model costs: CPU seconds and test loss of Espalier and boosted trees on the same rows.
#
#   bench/cost/run.py [TABLE ...] [--before PATH] [--seeds 3] [--jobs 1] [--only NAME ...]
#       [--json FILE]
#   bench/cost/run.py --threads 1,2,4,8,16 [TABLE ...] ...  # time against threads
#   bench/cost/run.py --print FILE ... --json FILE          # the tables of such files together
#
# All contenders have the same training, validation and test rows; a seed changes the training only.
# fit.py measures one fit and says what is measured. The first form runs --jobs fits side by side,
# each with one thread. With --threads the fits run one after another, with the first seed.
# --before names an earlier version of the program; the change of the loss against it is the mean
# over the seeds with its standard error.
# Wants build/espalier, the peers, and the files of the tables: make bench-cost.
import argparse
import json
import math
import shlex
import statistics
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.append(str(HERE.parent))
import contenders as machine
import fit
import parallel
import peers
from fit import CONTENDERS, tables

TABLES = ("california", "bike", "king_county", "credit_default", "bank", "adult", "diamonds")
THREADED = ("adult", "loans_300000")
METRICS = ("rmse", "log_loss")


def commands_of(args, folder):
    """The command of each fit; each writes a file into the folder."""
    programs = {"before": args.before, "espalier": tables.ESPALIER}
    commands = []
    for table in args.tables:
        tables.make(table, fit.FOLDER)  # before several processes want it
        for seed in range(1, 2 if args.threads else args.seeds + 1):
            for contender in args.only:
                for threads in args.threads or [1]:
                    program = ["--program", programs[contender]] if contender in programs else []
                    commands.append(shlex.join(map(str, [
                        sys.executable, HERE / "fit.py", table, contender, *program, "--seed", seed,
                        "--threads", threads, "--json", folder / f"{len(commands)}.json"])))
    return commands


def compete(args):
    """What each fit wrote."""
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch)
        commands = commands_of(args, folder)
        logs = args.json.parent / "logs"
        logs.mkdir(parents=True, exist_ok=True)
        parallel.run(commands, 1 if args.threads else args.jobs, math.inf, logs)
        paths = (folder / f"{number}.json" for number in range(len(commands)))
        fits = [json.loads(path.read_text()) for path in paths if path.exists()]
    if len(fits) < len(commands):
        print(f"run.py: {len(commands) - len(fits)} fits failed; {logs} has their errors",
              file=sys.stderr)
    return fits


def mean_and_error(values):
    error = statistics.stdev(values) / len(values) ** 0.5 if len(values) > 1 else 0.0
    return statistics.mean(values), error


def loss_cell(fits, metric):
    mean, error = mean_and_error([each[metric] for each in fits])
    return f"{mean:.5f}" + (f" ± {error:.1g}" if error else "")


def change_cell(fits, earlier, metric):
    """Of the loss, in percent, over the seeds that both have."""
    before = {each["seed"]: each[metric] for each in earlier}
    changes = [100 * (each[metric] / before[each["seed"]] - 1) for each in fits
               if each["seed"] in before]
    if not changes:
        return ""
    mean, error = mean_and_error(changes)
    return f"{mean:+.2f} ± {error:.2f} %"


def grouped(fits, *keys):
    """{values of the keys: fits that have them}"""
    groups = {}
    for each in fits:
        groups.setdefault(tuple(each[key] for key in keys), []).append(each)
    return groups


def metric_of(each):
    return next(metric for metric in METRICS if metric in each)


def print_rows(header, rows):
    print("\n| " + " | ".join(header) + " |\n" + "| --- " * len(header) + "|")
    for row in rows:
        print("| " + " | ".join(row) + " |", flush=True)


def print_costs(fits):
    """Means over the seeds, a row for each table."""
    by_table = grouped(fits, "table", "contender")
    names = [name for name in CONTENDERS if any(each["contender"] == name for each in fits)]
    with_change = {"before", "espalier"} <= set(names)
    rows = []
    for table in dict.fromkeys([*TABLES, *(each["table"] for each in fits)]):
        of = {name: by_table[table, name] for name in names if (table, name) in by_table}
        if not of:
            continue
        metric = metric_of(next(iter(of.values()))[0])
        seconds = [f"{statistics.mean(each['cpu_seconds'] for each in of[name]):.2f}"
                   if name in of else "" for name in names]
        losses = [loss_cell(of[name], metric) if name in of else "" for name in names]
        change = change_cell(of.get("espalier", []), of.get("before", []), metric)
        rows.append([table, *seconds, metric.replace("_", " "), *losses,
                     *([change] if with_change else [])])
    labels = [CONTENDERS[name] for name in names]
    print_rows(["CPU seconds", *labels, "test loss", *labels, *(["change"] if with_change else [])],
               rows)


def print_threads(fits):
    """Wall and CPU seconds, a row for each table and contender."""
    counts = sorted({each["threads"] for each in fits})
    by_row = grouped(fits, "table", "contender")
    rows = []
    for (table, name), each in sorted(by_row.items(), key=lambda row: (
            row[0][0], list(CONTENDERS).index(row[0][1]))):
        cells = {one["threads"]: f"{one['wall_seconds']:.2f} ({one['cpu_seconds']:.2f})"
                 for one in each}
        rows.append([table, CONTENDERS[name], *(cells.get(count, "") for count in counts)])
    threads = [f"{count} thread{'s' * (count > 1)}" for count in counts]
    print_rows(["wall seconds (CPU seconds)", "", *threads], rows)


def print_tables(results):
    for kind, show in (("costs", print_costs), ("threads", print_threads)):
        if results.get(kind):
            show(results[kind])


def circumstances_of(args):
    return machine.circumstances(
        tables.ESPALIER, before=args.before and machine.output_of(args.before, "--version"),
        seeds=args.seeds, jobs=args.jobs,
        peers=[peers.version(name) for name in ("lightgbm", "xgboost")])


def merged(paths):
    """What all files have together. A file of fit.py belongs to the costs, or to the threads if its
    name has that word."""
    results = {"circumstances": [], "costs": [], "threads": []}
    for path in map(Path, paths):
        found = json.loads(path.read_text())
        if "contender" in found:
            results["threads" if "threads" in path.name else "costs"].append(found)
            continue
        results["circumstances"] += found["circumstances"]
        for kind in ("costs", "threads"):
            results[kind] += found.get(kind, [])
    return results


def arguments():
    parser = argparse.ArgumentParser(description="Measures CPU seconds and test losses of fits.")
    parser.add_argument("tables", nargs="*", metavar="TABLE",
                        help=f"of bench/data/tables.py; {', '.join(TABLES)}, and with --threads "
                             f"{', '.join(THREADED)}")
    parser.add_argument("--before", metavar="PATH", help="the program of an earlier version")
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--jobs", type=int, default=1, help="fits that run side by side")
    parser.add_argument("--threads", metavar="LIST", default=[],
                        type=lambda text: [int(each) for each in text.split(",")],
                        help="measure wall and CPU seconds with so many threads instead")
    parser.add_argument("--only", nargs="*", choices=CONTENDERS, help="these contenders; all")
    parser.add_argument("--json", metavar="FILE", type=Path, default=machine.BUILD / "cost.json")
    parser.add_argument("--print", nargs="+", metavar="FILE",
                        help="print what these files have together, and write it to --json")
    args = parser.parse_args()
    if unknown := set(args.tables) - set(tables.WRITERS):
        parser.error(f"no table {', '.join(sorted(unknown))}; there are "
                     f"{', '.join(tables.WRITERS)}")
    args.tables = args.tables or (THREADED if args.threads else TABLES)
    args.only = [each for each in args.only or CONTENDERS if each != "before" or args.before]
    return args


def main():
    args = arguments()
    if args.print:
        results = merged(args.print)
        results["circumstances"] = results["circumstances"] or [circumstances_of(args)]
    else:
        results = {"circumstances": [circumstances_of(args)],
                   "threads" if args.threads else "costs": compete(args)}
    args.json.write_text(json.dumps(results, indent=1) + "\n")
    print_tables(results)


if __name__ == "__main__":
    main()
