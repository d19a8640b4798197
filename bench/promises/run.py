#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# Which promises hold: the same hunt for falls through Espalier and through boosted trees with their
# monotone constraints on, for every loss that they have.
#
#   bench/promises/run.py [--rows 3000] [--tables 3] [--steps 20000] [--json FILE]
#
# A table has five columns of which the first must raise the prediction. Random rows walk along it,
# through values that lie next to each other, and each step that lowers a prediction by any amount
# counts; of grades, whose probabilities are added up here, by more than 1e-6. Of three quantiles
# the rows where a higher one is below a lower one count too. Prints a Markdown table. Wants the
# Python package and the peers in one Python: make bench-promises.
import argparse
import json
import sys
import time
import warnings
from pathlib import Path

import numpy as np

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))
import contenders
import models
import peers

COLUMNS = 5
ROUNDING = {"grades": 1e-6}  # what is no fall yet
VALUES = 101  # that a row walks through
LOSSES = ("squared_error", "absolute_error", "quantile", "poisson", "gamma", "tweedie", "log_loss",
          "grades")
PACKAGES = ("espalier", "xgboost", "lightgbm", "scikit-learn")


def make_rows(count, seed):
    """x: [count][COLUMNS], and the score that raises every label"""
    random = np.random.default_rng(seed)
    x = random.normal(size=(count, COLUMNS)).astype(np.float32)
    score = x[:, 0] + np.sin(3 * x[:, 1]) + x[:, 2] * x[:, 3]
    return x, score + (0.5 + np.abs(x[:, 1])) * random.normal(size=count), random


def make_label(loss, score, random):
    """Labels that suit the loss and rise with the score."""
    rate = np.exp(np.clip(score / 2, -4, 4))
    if loss == "poisson":
        return random.poisson(rate).astype(np.float64)
    if loss == "gamma":
        return random.gamma(2, rate / 2) + 1e-6
    if loss == "tweedie":
        counts = random.poisson(rate)
        return np.array([random.gamma(2, 0.5, count).sum() for count in counts])
    if loss == "log_loss":
        return (score > 0).astype(np.int64)
    if loss == "grades":
        return np.digitize(score, [-2, 0, 2])
    return score


def hunt(predict, x, steps, seed, rounding):
    """Falls along the first column, the largest one, and rows whose outputs are not in order."""
    random = np.random.default_rng(seed)
    walkers = x[random.integers(len(x), size=steps // (VALUES - 1))]
    values = np.sort(random.choice(np.unique(x[:, 0]), VALUES, replace=False))
    rows = np.repeat(walkers, VALUES, axis=0)
    rows[:, 0] = np.tile(values, len(walkers))
    predicted = np.asarray(predict(rows))
    rises = np.diff(predicted.reshape(len(walkers), VALUES, -1), axis=1)
    own = np.asarray(predict(x))
    return {"steps": rises[:, :, 0].size, "falls": int((rises < -rounding).any(axis=2).sum()),
            "largest": float(max(0, -rises.min())),
            "rows": len(x), "crossings": int((np.diff(own, axis=1) < 0).any(axis=1).sum())}


def judge(fit, loss, args):
    """What the hunts through the models of a library find, summed over the tables."""
    found = []
    for seed in range(1, args.tables + 1):
        x, score, random = make_rows(args.rows, seed)
        y = make_label(loss, score, random)
        try:
            predict = fit(loss, x, y)
        except models.Missing:
            return {"missing": True}
        except ImportError as error:
            return {"absent": str(error)}
        except Exception as error:
            return {"refused": str(error)}
        found.append(hunt(predict, x, args.steps, seed, ROUNDING.get(loss, 0)))
    return {key: (max if key == "largest" else sum)(each[key] for each in found)
            for key in found[0]}


def cell(loss, found):
    for word in ("missing", "refused", "absent"):
        if word in found:
            return {"missing": "no such loss"}.get(word, word)
    crossings = f"; {found['crossings']:,} cross" if loss == "quantile" else ""
    if not found["falls"]:
        return f"0{crossings}"
    return f"**{found['falls']:,}**, {found['largest']:.2g}{crossings}"


def main():
    parser = argparse.ArgumentParser(description="Hunts for falls through models with constraints.")
    parser.add_argument("--rows", type=int, default=3000)
    parser.add_argument("--tables", type=int, default=3)
    parser.add_argument("--steps", type=int, default=20000, help="of each hunt")
    parser.add_argument("--json", metavar="FILE", default=contenders.BUILD / "promises.json")
    args = parser.parse_args()
    warnings.simplefilter("ignore")
    results = {"versions": [peers.version(package) for package in PACKAGES], "losses": {}}
    print("| |", " | ".join(models.LIBRARIES), "|\n" + "| --- " * (1 + len(models.LIBRARIES)) + "|")
    for loss in LOSSES:
        results["losses"][loss] = found = {}
        for name, fit in models.LIBRARIES.items():
            start = time.perf_counter()
            found[name] = judge(fit, loss, args)
            print(f"{loss}: {name}: {found[name]}, {time.perf_counter() - start:.1f} s",
                  file=sys.stderr)
        print(f"| {loss} |", " | ".join(cell(loss, each) for each in found.values()), "|",
              flush=True)
    print("\n" + ", ".join(results["versions"]))
    Path(args.json).parent.mkdir(parents=True, exist_ok=True)
    Path(args.json).write_text(json.dumps(results, indent=1) + "\n")


if __name__ == "__main__":
    main()
