#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# Training on a table from disk, beside the external memory of XGBoost and LightGBM's two_round: seconds
# in all, the most anonymous and the most resident memory, and the AUC on other rows, in one run on the
# same file of numbers. With --limit each program runs under that RLIMIT_DATA, which counts what it maps
# to write to, touched or not.
#
#   build/python/bin/pip install xgboost-cpu lightgbm
#   build/python/bin/python bench/scaling/peers.py [--rows 1000000] [--memory 1G] [--limit 1G]
import argparse
import json
import re
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

BENCH = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(BENCH), str(BENCH / "data")]
import tables

TREES, LEAVES = 100, 31
EPOCHS = 2
RISES = {"debt_ratio": 1, "late_payments": 1, "income": -1, "years_employed": -1}
CHUNK = 1 << 18


def write_table(path, rows, seed):
    """Made-up loans of nine numbers and a category, whose words become numbers, and the label 0 or 1."""
    simulated = subprocess.Popen(
        [tables.ESPALIER, "simulate", "--rows", str(rows), "--seed", str(seed), "--numbers", "9",
         "--categories", "1"], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    codes = {}
    with open(path, "w") as out:
        out.write(simulated.stdout.readline())
        for line in simulated.stdout:
            numbers, word, label = line.rstrip("\n").rsplit(",", 2)
            code = codes.setdefault(word, len(codes)) if word else ""
            out.write(f"{numbers},{code},{int(label == 'yes')}\n")
    if simulated.wait() != 0:
        sys.exit("espalier simulate failed")


def train_xgboost(table, folder):
    import pandas as pd
    import xgboost

    names = open(table).readline().strip().split(",")[:-1]

    class Chunks(xgboost.DataIter):
        def __init__(self):
            self.chunks = None
            super().__init__(cache_prefix=str(folder / "xgboost"), on_host=False)

        def next(self, input_data):
            self.chunks = self.chunks or pd.read_csv(table, chunksize=CHUNK, dtype="float32")
            chunk = next(self.chunks, None)
            if chunk is None:
                return False
            input_data(data=chunk[names], label=chunk["default"])
            return True

        def reset(self):
            self.chunks = None

    rows = xgboost.ExtMemQuantileDMatrix(Chunks())
    params = {"objective": "binary:logistic", "tree_method": "hist", "max_leaves": LEAVES,
              "grow_policy": "lossguide", "max_depth": 0, "monotone_constraints": RISES,
              "nthread": 0}
    model = xgboost.train(params, rows, TREES)
    return lambda chunk: model.inplace_predict(chunk[names])


def train_lightgbm(table, folder):
    import lightgbm

    names = open(table).readline().strip().split(",")[:-1]
    params = {"objective": "binary", "num_leaves": LEAVES, "two_round": True, "header": True,
              "label_column": "name:default", "verbosity": -1,
              "monotone_constraints": [RISES.get(name, 0) for name in names]}
    model = lightgbm.train(params, lightgbm.Dataset(str(table), params=params), TREES)
    return lambda chunk: model.predict(chunk[names])


PEERS = {"XGBoost, ExtMemQuantileDMatrix": train_xgboost, "LightGBM, two_round": train_lightgbm}


def as_peer(name, table, test, folder):
    """In a process of its own: trains, and prints the AUC."""
    start = time.perf_counter()
    predict = PEERS[name](table, folder)
    print(time.perf_counter() - start, flush=True)
    import numpy as np
    import pandas as pd
    chunk = pd.read_csv(test, dtype="float32")
    scores, labels = predict(chunk), chunk["default"].to_numpy()
    ranks = np.argsort(np.argsort(scores)) + 1.0
    positives = labels.sum()
    print((ranks[labels > 0.5].sum() - positives * (positives + 1) / 2) /
          (positives * (len(labels) - positives)))


def watched(command, limit):
    """Output and the peaks of anonymous and of all resident memory, in bytes."""
    def cap():
        if limit:
            resource.setrlimit(resource.RLIMIT_DATA, (limit, limit))

    start, peaks = time.perf_counter(), {"RssAnon": 0, "VmHWM": 0}
    with tempfile.TemporaryFile("w+") as output:
        process = subprocess.Popen(command, stdout=output, stderr=subprocess.DEVNULL,
                                   preexec_fn=cap)
        while process.poll() is None:
            with open(f"/proc/{process.pid}/status") as status:
                text = status.read()
            for key in peaks:
                found = re.search(key + r":\s+(\d+) kB", text)
                peaks[key] = max(peaks[key], int(found[1]) << 10 if found else 0)
            time.sleep(0.005)
        output.seek(0)
        seconds = time.perf_counter() - start
        return output.read() if process.returncode == 0 else None, seconds, peaks


def print_row(name, seconds, peaks, auc):
    print("|", " | ".join([name, f"{seconds:.0f} s", f"{peaks['RssAnon'] / 1e6:.0f} MB",
                           f"{peaks['VmHWM'] / 1e6:.0f} MB", auc]), "|", flush=True)


def measure_espalier(table, test, folder, memory, limit):
    model = folder / "model.esp"
    output, seconds, peaks = watched(
        [tables.ESPALIER, "train", table, "--label", "default", "--increasing",
         "debt_ratio,late_payments", "--decreasing", "income,years_employed", "--architecture",
         "dln(20x3)", "--batch-size", "1024", "--epochs", str(EPOCHS), "--interactions", "none",
         "--memory", memory, "-o", model, "--quiet"], limit)
    if output is None:
        return print_row(f"Espalier, --memory {memory}", seconds, peaks, "failed")
    judged = subprocess.run([tables.ESPALIER, "evaluate", model, test, "--json"],
                            capture_output=True, text=True, check=True)
    auc = json.loads(judged.stdout)["auc"]
    print_row(f"Espalier, --memory {memory}", seconds, peaks, f"{auc:.4f}")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--rows", type=int, default=10**6)
    parser.add_argument("--memory", default="1G")
    parser.add_argument("--limit", default="")
    parser.add_argument("--folder", type=Path, default=Path(tempfile.gettempdir()))
    parser.add_argument("--peer", nargs=4, help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.peer:
        return as_peer(args.peer[0], *map(Path, args.peer[1:]))
    units = {"M": 1 << 20, "G": 1 << 30}
    limit = int(args.limit[:-1]) * units[args.limit[-1]] if args.limit else 0
    with tempfile.TemporaryDirectory(dir=args.folder) as made:
        folder = Path(made)
        table, test = folder / "train.csv", folder / "test.csv"
        write_table(table, args.rows, 1)
        write_table(test, 100_000, 2)
        print(f"{args.rows:,} rows, {table.stat().st_size / 1e6:.0f} MB of text\n")
        print("| | in all | anonymous | resident | AUC |\n| --- | --- | --- | --- | --- |")
        measure_espalier(table, test, folder, args.memory, limit)
        for name in PEERS:
            output, seconds, peaks = watched([sys.executable, __file__, "--peer", name, table, test,
                                              folder], limit)
            auc = f"{float(output.split()[1]):.4f}" if output else "failed"
            print_row(name, float(output.split()[0]) if output else seconds, peaks, auc)


if __name__ == "__main__":
    main()
