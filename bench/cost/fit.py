#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# One fit in a process of its own: CPU seconds, wall seconds and the loss on the test set.
#
#   bench/cost/fit.py TABLE CONTENDER [--program PATH] [--seed 1] [--threads 1] --json FILE
#
# CONTENDER is before, espalier, lightgbm or xgboost; the first two run `PATH train`, by default
# build/espalier. The seconds of Espalier cover the whole command: reading, training, verifying and
# saving. The seconds of the peers cover the fit alone, from arrays in memory, with early stopping.
import argparse
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path += [str(HERE.parent), str(HERE.parent / "data")]
import tables

CONTENDERS = {"before": "Espalier, before", "espalier": "Espalier", "lightgbm": "LightGBM",
              "xgboost": "XGBoost"}
FOLDER = tables.ROOT / "build" / "bench" / "data"
LEARNING_RATE = 0.05
ROUNDS = 10_000  # early stopping ends all fits before
UNITS = {"california": 100_000}  # of the label, for a readable loss


def measured(who, call):
    """(what the call returns, its CPU seconds, its wall seconds); who: RUSAGE_SELF or _CHILDREN"""
    def cpu_seconds():
        usage = resource.getrusage(who)
        return usage.ru_utime + usage.ru_stime

    start, cpu_start = time.perf_counter(), cpu_seconds()
    result = call()
    return result, cpu_seconds() - cpu_start, time.perf_counter() - start


def output_of(*words):
    return subprocess.run([str(word) for word in words], check=True, text=True,
                          stdout=subprocess.PIPE).stdout


def fit_espalier(folder, data, args):
    """(predictions of the test rows, CPU seconds, wall seconds)"""
    with tempfile.TemporaryDirectory() as scratch:
        model = Path(scratch) / "model.esp"
        _, cpu, wall = measured(resource.RUSAGE_CHILDREN, lambda: output_of(
            args.program, "train", folder / "train.csv", "--valid", folder / "valid.csv",
            "--config", folder / "options.json", "--seed", args.seed, "--threads", args.threads,
            "--quiet", "-o", model))
        _, *predictions = output_of(args.program, "predict", model,
                                    folder / "test.csv").splitlines()
    return [float(each) for each in predictions], cpu, wall


def fit_lightgbm(folder, data, args):
    import lightgbm
    import trees
    settings = {"learning_rate": LEARNING_RATE, "seed": args.seed}
    (booster, _), cpu, wall = measured(resource.RUSAGE_SELF, lambda: trees.fit_lightgbm(
        lightgbm, data, args.threads, settings, ROUNDS))
    return booster.predict(data.parts["test"][0]), cpu, wall


def fit_xgboost(folder, data, args):
    import trees
    import xgboost
    settings = {"learning_rate": LEARNING_RATE, "seed": args.seed}
    (booster, _), cpu, wall = measured(resource.RUSAGE_SELF, lambda: trees.fit_xgboost(
        xgboost, data, args.threads, settings, ROUNDS))
    return booster.predict(trees.xgboost_matrix(xgboost, data, "test")), cpu, wall


def loss_of(data, predictions, unit):
    """{metric: its value on the test set}"""
    judged = data.judged(data.parts["test"][1], predictions)
    if data.regression:
        return {"rmse": judged["mse"] ** 0.5 / unit}
    return judged


def main():
    parser = argparse.ArgumentParser(description="Measures one fit.")
    parser.add_argument("table", choices=tables.WRITERS)
    parser.add_argument("contender", choices=CONTENDERS)
    parser.add_argument("--program", default=tables.ESPALIER)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--json", metavar="FILE", type=Path, required=True)
    args = parser.parse_args()
    # Set before numpy and the libraries start their threads. Threads that wait sleep.
    os.environ |= {"OMP_NUM_THREADS": str(args.threads), "OMP_WAIT_POLICY": "passive"}
    import peers
    folder = tables.make(args.table, FOLDER)
    data = peers.Data(folder)
    fit = {"lightgbm": fit_lightgbm, "xgboost": fit_xgboost}.get(args.contender, fit_espalier)
    predictions, cpu, wall = fit(folder, data, args)
    args.json.write_text(json.dumps({
        "table": args.table, "contender": args.contender, "seed": args.seed,
        "threads": args.threads, "cpu_seconds": cpu, "wall_seconds": wall,
        **loss_of(data, predictions, UNITS.get(args.table, 1))}) + "\n")


if __name__ == "__main__":
    main()
