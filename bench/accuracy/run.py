#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# How well Espalier and monotone boosted trees predict: the same splits, the same seconds of tuning.
#
#   bench/accuracy/run.py [TABLE ...] [--peers PYTHON] [--seconds 60] [--seeds 5] [--threads 2]
#       [--only NAME ...] [--json FILE]
#   bench/accuracy/run.py --print FILE ... --json FILE   # the tables of such files together
#
# protocol.py says which rows train and judge. A contender is a file here: espalier.py, and
# peer_*.py, which run only with --peers, by that Python. It tunes once a table, by validation loss,
# trains each case with what it found, and prints a JSON object per case with its predictions of the
# test rows; the metrics are computed here. One that cannot be imported is listed as absent.
#
# Wants build/espalier (make build) and the files of the tables; bench/data/tables.py says where.
import argparse
import json
import os
import statistics
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))
import contenders
import metrics
import protocol
from program import tables


def labels_of(folder):
    """(labels of the test rows, metrics that judge them)"""
    options = json.loads((folder / "options.json").read_text())
    header, *rows = tables.read_rows(folder / "test.csv")
    column = header.index(options["label"])
    if options.get("task") == "regression":
        return [float(row[column]) for row in rows], metrics.REGRESSION
    return [int(row[column] == options["positive"]) for row in rows], metrics.CLASSIFICATION


def judged(line, case):
    """The line of a contender with metrics instead of predictions."""
    labels, judges = labels_of(case.folder)
    predictions = line.pop("predictions")
    if len(predictions) != len(labels):
        sys.exit(f"run.py: {line['contender']}: {len(predictions)} predictions of {len(labels)} "
                 "rows")
    return {**line, "protocol": case.protocol, "seed": case.seed,
            "metrics": {judge.__name__: judge(labels, predictions) for judge in judges}}


def compete(name, args):
    """{contender: its judged lines} on a table"""
    found = {}
    with tempfile.TemporaryDirectory() as scratch:
        cases = protocol.cases_of(name, args.seeds, Path(scratch))
        for command in contenders.commands_of(HERE, args.peers):
            if args.only and command[-1].stem.removeprefix("peer_") not in args.only:
                continue
            print(f"{name}: {command[-1].stem}", file=sys.stderr)
            words = [*command, args.seconds, args.threads, *(case.folder for case in cases)]
            for line in contenders.run(words, args.threads):
                found.setdefault(line["contender"], []).append(line)
        return {contender: lines if "absent" in lines[0] else
                [judged(line, case) for line, case in zip(lines, cases, strict=True)]
                for contender, lines in found.items()}


def over_seeds(lines, metric):
    """Mean ± standard deviation over the seeds; a seed is the mean of its folds."""
    seeds = {}
    for line in lines:
        seeds.setdefault(line["seed"], []).append(line["metrics"][metric])
    means = [statistics.mean(values) for values in seeds.values()]
    scale, places, unit = (100, 2, " %") if metric == "accuracy" else (1, 4, "")
    if metric == "mse":
        deviation = f" ± {statistics.stdev(means):.2g}" if len(means) > 1 else ""
        return f"{statistics.mean(means):.4g}{deviation}"
    if statistics.mean(means) > 1000:
        places = 0
    deviation = f" ± {scale * statistics.stdev(means):.{places}f}" if len(means) > 1 else ""
    return f"{scale * statistics.mean(means):.{places}f}{deviation}{unit}"


def print_row(contender, lines):
    if "absent" in lines[0]:
        print(f"| {contender} | absent: {lines[0]['absent']} |")
        return
    cells = [over_seeds(lines, metric) for metric in lines[0]["metrics"]]
    seconds = statistics.median(line["seconds"] for line in lines)
    trials = lines[0].get("trials", "")
    print(f"| {contender} |", " | ".join([*cells, f"{seconds:.2g}", str(trials)]), "|")


def print_table(name, found):
    """A Markdown table for each protocol: means over the seeds."""
    present = next(lines for lines in found.values() if "absent" not in lines[0])
    for kind in dict.fromkeys(line["protocol"] for line in present):
        columns = [*present[0]["metrics"], "seconds a fit", "trials"]
        print(f"\n### {name}: {kind}\n\n| |", " | ".join(columns), "|\n" +
              "| --- " * (1 + len(columns)) + "|")
        for contender, lines in found.items():
            print_row(contender, [line for line in lines if line.get("protocol", kind) == kind])
    sys.stdout.flush()


def merged(paths):
    """What all files have together, printed as tables."""
    found, circumstances = {}, []
    for path in paths:
        results = json.loads(Path(path).read_text())
        circumstances.append(results["circumstances"])
        for name, lines in results["tables"].items():
            found.setdefault(name, {}).update(lines)
    for name in filter(found.get, protocol.TABLES):
        print_table(name, found[name])
    return {"circumstances": circumstances, "tables": found}


def arguments():
    parser = argparse.ArgumentParser(description="Tunes and judges contenders on the same rows.")
    parser.add_argument("tables", nargs="*", metavar="TABLE",
                        help=f"of {', '.join(protocol.TABLES)}; all")
    parser.add_argument("--peers", metavar="PYTHON", help="also run the peers, by this Python")
    parser.add_argument("--only", nargs="*", default=[],
                        help="these contenders: espalier, xgboost, lightgbm, sklearn")
    parser.add_argument("--seconds", type=float, default=60,
                        help="to tune, a contender and table; 0: defaults, and one trial a peer")
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--threads", type=int, default=os.cpu_count())
    parser.add_argument("--json", metavar="FILE", default=contenders.BUILD / "accuracy.json")
    parser.add_argument("--print", nargs="+", metavar="FILE",
                        help="print what these files have together, and write it to --json")
    args = parser.parse_args()
    if unknown := set(args.tables) - set(protocol.TABLES):
        parser.error(f"no table {', '.join(sorted(unknown))}; there are "
                     f"{', '.join(protocol.TABLES)}")
    if args.seconds < 0 or args.seeds < 1:
        parser.error("--seconds must not be below 0, and --seeds not below 1")
    return args


def main():
    args = arguments()
    if args.print:
        Path(args.json).write_text(json.dumps(merged(args.print), indent=1) + "\n")
        return
    results = {"circumstances": contenders.circumstances(
        tables.ESPALIER, threads=args.threads, seconds=args.seconds, seeds=args.seeds),
        "tables": {}}
    for name in args.tables or protocol.TABLES:
        results["tables"][name] = found = compete(name, args)
        print_table(name, found)
        Path(args.json).write_text(json.dumps(results, indent=1) + "\n")
    print(f"\n{args.json}: all numbers, with settings, machine, versions and commit")


if __name__ == "__main__":
    main()
