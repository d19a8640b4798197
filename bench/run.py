#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# Runs the contenders of the tasks in turns on the same tables, and prints medians and ratios.
#
#   bench/run.py [TASK ...] [--peers PYTHON] [--threads 2] [--rounds 3] [--json FILE]
#
# A task is a folder here, a contender a file in it: espalier.cc (built as build/bench/bench_TASK),
# espalier.py, and peer_*.py, which run only with --peers, by that Python. A contender checks its
# answers, measures, and prints a JSON object per line: contender, value, unit, log_loss and
# whatever else is worth keeping. One whose package cannot be imported says so and is listed as
# absent.
import argparse
import json
import random
import statistics
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE / "data"))
import contenders
import tables

TABLES = contenders.BUILD / "data"
BATCH = 1024
PREDICTED_ROWS = 100000
EXPLAINED_ROWS = 10000
# A contender whose test log loss is farther than this above the best one solved another problem.
LOG_LOSS_TOLERANCE = 0.1


def main_table():
    """Adult if its files are there, else made-up loans."""
    return tables.make("adult" if tables.published_files("adult") else "loans", TABLES)


def main_model(threads):
    """The folder of the main table, with a trained 70x5D network in it."""
    folder = main_table()
    if not (folder / "model.esp").exists():
        subprocess.run([tables.ESPALIER, "train", folder / "train.csv", "--valid",
                        folder / "valid.csv", "--config", folder / "options.json", "--trees", "0",
                        "--threads", str(threads), "-o", folder / "model.esp", "--quiet"], check=True)
    return folder


def lattices_file(size):
    """Rising lattices with noise, as after a step of training that went too far."""
    path = TABLES / f"lattices_{size}.txt"
    if not path.exists():
        TABLES.mkdir(parents=True, exist_ok=True)
        draw = random.Random(size)
        path.write_text("\n".join(
            str(bin(v).count("1") / size + draw.gauss(0, 0.1))
            for _ in range(50) for v in range(2**size)))
    return path


def cases_of(task, threads, rows):
    """(name, arguments of every contender) of each case of a task."""
    if task == "train_step":
        main = main_table()
        return [(f"{main.name} 70x5D", [main, 70, 5, 140, BATCH, threads]),
                ("rater-score shape 50x9D", [tables.make("rater", TABLES), 50, 9, 200, BATCH,
                                             threads])]
    if task == "time_to_quality":
        found = [main_table(), *(tables.make(name, TABLES) for name in ("california", "bank")
                                 if tables.published_files(name))]
        return [(table.name, [table, threads]) for table in found]
    if task == "grow_trees":
        cases = [(main_table(), 100, 31), (tables.make_simulated(5000, 9, TABLES), 100, 31),
                 (tables.make_simulated(100000, 99, TABLES), 50, 63)]
        if tables.published_files("fremtpl2"):
            cases.insert(0, (tables.make_policies(TABLES), 100, 63))
        return [(f"{folder.name}, {trees} trees of {leaves} leaves",
                 [folder, trees, leaves, threads]) for folder, trees, leaves in cases]
    if task in ("predict_batch", "predict_one"):
        folder = main_model(threads)
        return [(f"{folder.name} 70x5D",
                 [folder] + ([PREDICTED_ROWS] if task == "predict_batch" else []))]
    if task == "explain":
        folder = main_model(threads)
        return [(f"{folder.name} 70x5D, {EXPLAINED_ROWS} rows", [folder, EXPLAINED_ROWS, threads])]
    if task == "csv":
        return [(f"{rows} rows", [tables.make_large(rows, TABLES), "loan_amount"])]
    if task == "memory":
        return [(f"{rows} rows", [tables.ESPALIER, tables.make_large(rows, TABLES),
                                  HERE / "data" / "loans.json", threads])]
    if task == "python":
        TABLES.mkdir(parents=True, exist_ok=True)
        return [(f"{kind}, {rows} rows of 10", [kind, TABLES / f"numbers_{rows}.f32", rows, threads])
                for kind in ("fit", "one", "batch")]
    return [(f"S = {size}", [lattices_file(size), size]) for size in (5, 9)]


TASKS = ("projection", "csv", "train_step", "grow_trees", "time_to_quality", "predict_batch",
         "predict_one", "explain", "memory", "python")


def median_of(lines):
    """One line for the rounds of a contender: medians of numbers, the history of the median run."""
    line = dict(sorted(lines, key=lambda each: each.get("value", 0))[len(lines) // 2])
    if "value" in line:
        line["values"] = [each["value"] for each in lines]
        line["value"] = statistics.median(line["values"])
    return line


def measure(task, args):
    """{case: [a line per contender]}; in each round every contender runs once, in turn."""
    results = {}
    for case, words in cases_of(task, args.threads, args.rows):
        found = {}
        for round_number in range(args.rounds):
            for command in contenders.commands_of(HERE / task, args.peers):
                print(f"{task}, {case}: round {round_number + 1}, {Path(command[-1]).stem}",
                      file=sys.stderr)
                for line in contenders.run([*command, *words], args.threads):
                    found.setdefault(line["contender"], []).append(line)
        results[case] = [median_of(lines) for lines in found.values()]
        check(task, case, results[case])
    return results


def check(task, case, lines):
    """Contenders must have given the same answers, or have learned about as much."""
    present = [line for line in lines if "absent" not in line]
    losses = [line["log_loss"] for line in present if "log_loss" in line]
    for line in present:
        for key in ("model", "first"):
            if key in line and line[key] != present[0][key]:
                sys.exit(f"run.py: {task}, {case}: {line['contender']}: another {key}")
        if "log_loss" in line and line["log_loss"] > min(losses) + LOG_LOSS_TOLERANCE:
            sys.exit(f"run.py: {task}, {case}: {line['contender']} learned too little: log loss "
                     f"{line['log_loss']:.4f}, the best has {min(losses):.4f}")
        if "sum" in line and (line["rows"] != present[0]["rows"] or
                              abs(line["sum"] / present[0]["sum"] - 1) > 1e-5):
            sys.exit(f"run.py: {task}, {case}: {line['contender']} read another table")


def ratio(line, ours):
    """How many times better ours is."""
    more_is_better = line["unit"].endswith("/s")
    return ours["value"] / line["value"] if more_is_better else line["value"] / ours["value"]


def print_case(task, case, lines):
    print(f"\n{task}: {case}")
    print(f"  {'':<38}{'median':>12} {'':<12}{'espalier is':>12}  notes")
    for line in lines:
        if "absent" in line:
            print(f"  {line['contender']:<38}{'absent':>12} {line['absent']}")
            continue
        known = ("contender", "value", "values", "unit", "history", "version")
        notes = ", ".join(f"{key} {value:.5g}" if isinstance(value, float) else f"{key} {value}"
                          for key, value in line.items() if key not in known)
        print(f"  {line['contender']:<38}{line['value']:>12,.5g} {line['unit']:<12}"
              f"{ratio(line, lines[0]):>10.2f} x  {notes}")
    if "history" in lines[0]:
        print_race(lines)


def print_race(lines):
    """When each contender first reached the best validation loss of each other one."""
    runs = [line for line in lines if "absent" not in line]
    for goal in runs:
        wanted = min(loss for _, loss in goal["history"])
        print(f"\n  seconds until the validation loss is {wanted:.5g}, the best of "
              f"{goal['contender']}")
        for line in runs:
            reached = [seconds for seconds, loss in line["history"] if loss <= wanted]
            print(f"    {line['contender']:<38}" +
                  (f"{reached[0]:>10.2f}" if reached else f"{'never':>10}"))


def main():
    parser = argparse.ArgumentParser(description="Runs contenders in turns; prints ratios.")
    parser.add_argument("tasks", nargs="*", metavar="TASK", help=f"of {', '.join(TASKS)}; all")
    parser.add_argument("--peers", metavar="PYTHON", help="also run the peers, by this Python")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--rows", type=int, default=1000000, help="of the tasks csv, memory and python")
    parser.add_argument("--json", metavar="FILE", default=contenders.BUILD / "results.json")
    args = parser.parse_args()
    if unknown := set(args.tasks) - set(TASKS):
        parser.error(f"no task {', '.join(sorted(unknown))}; there are {', '.join(TASKS)}")
    circumstances = contenders.circumstances(tables.ESPALIER, threads=args.threads,
                                             rounds=args.rounds)
    results = {"circumstances": circumstances, "tasks": {}}
    for task in args.tasks or TASKS:
        results["tasks"][task] = measure(task, args)
        for case, lines in results["tasks"][task].items():
            print_case(task, case, lines)
        sys.stdout.flush()
        Path(args.json).write_text(json.dumps(results, indent=1) + "\n")
    print(f"\n{args.json}: all numbers, with machine, versions and commit")


if __name__ == "__main__":
    main()
