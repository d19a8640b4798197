#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# Claims, quantiles and grades: Espalier and boosted trees on the same rows.
#
#   bench/objectives/run.py [TASK ...] [--seeds 5] [--threads 2] [--limit ROWS] [--tries 3]
#       [--grouped] [--only NAME ...] [--espalier '[{"epochs": 30}]'] [--json FILE]
#
# frequency, premium: freMTPL2 with exposure; california, blog: the quantiles 0.1, 0.5 and 0.9
# beside three models of LightGBM without constraints; car, esl, era: grades in five folds beside
# XGBoost without constraints. rows.py says which rows train, choose and judge. A contender tries
# its settings on the validation rows of the first seed, and keeps the best for the others; of
# grades, on a fifth of the training rows of each fold. Prints means with their deviation over the
# seeds, the seconds of the quickest fit, and the mean difference to the first contender with its
# standard error. Wants the Python package, the peers, and the tables: make bench-objectives.
import argparse
import json
import os
import statistics
import sys
import time
import warnings
from functools import partial
from pathlib import Path

import numpy as np

HERE = Path(__file__).resolve().parent
import judges
import lattices
import rows
import trees

QUANTILES = (0.1, 0.5, 0.9)
FOLDS = 5
PREDICTED = 50  # times
GRADED = ("car", "esl", "era")
TASKS = ("frequency", "premium", "california", "blog", *GRADED)


def log(*words):
    print(*words, file=sys.stderr, flush=True)


def timed(fit, *given):
    start = time.perf_counter()
    predict = fit(*given)
    return predict, time.perf_counter() - start


def compete(problems, name, fit, candidates, loss, judge, args):
    """The metrics of each seed, by the candidate with the lowest validation loss of the first."""
    results, best = [], None
    for settings in candidates[:args.tries]:
        predict, seconds = timed(fit, problems[0], settings, 1, args.threads)
        value = loss(problems[0].valid, predict(problems[0].valid))
        log(f"{name}: {settings}: validation {value:.6g}, {seconds:.1f} s")
        if best is None or value < best[0]:
            best = value, settings, predict, seconds
    for seed, problem in enumerate(problems, 1):
        predict, seconds = (best[2:] if seed == 1 else
                            timed(fit, problem, best[1], seed, args.threads))
        found = judge(problem.test, predict(problem.test)) | {"seconds": seconds}
        log(f"{name}: seed {seed}: {found}")
        results.append(found)
    return {"settings": best[1], "validation": best[0], "seeds": results}


def motor(task, args):
    label, kind, deviance = {"frequency": ("ClaimNb", "poisson", judges.poisson_deviance),
                             "premium": ("ClaimAmount", "tweedie", judges.tweedie_deviance)}[task]
    problems = [rows.motor(label, seed, args.limit, args.grouped)
                for seed in range(1, args.seeds + 1)]

    def judge(test, rate):
        return {"deviance": deviance(test, rate), "gini": judges.gini(test, rate),
                "balance": judges.balance(test, rate)}

    def named(fit):
        return lambda problem, *rest: fit(problem, kind, *rest)

    contenders = {"Espalier, defaults": (named(lattices.fit_rate), [{}]),
                  "Espalier, tuned": (named(lattices.fit_rate),
                                      args.espalier or lattices.RATE_SETTINGS),
                  "XGBoost": (named(trees.fit_xgboost), trees.SETTINGS["XGBoost"]),
                  "LightGBM": (named(trees.fit_lightgbm), trees.SETTINGS["LightGBM"])}
    if task == "frequency":
        contenders["scikit-learn"] = named(trees.fit_scikit_learn), trees.SETTINGS["scikit-learn"]
    if args.whole:
        return {name: {"seeds": [{"seconds": seconds_of_all(problems[0], fit, candidates[0], args)}]}
                for name, (fit, candidates) in wanted(contenders, args)}
    return {name: compete(problems, name, fit, candidates, deviance, judge, args)
            for name, (fit, candidates) in wanted(contenders, args)}


def seconds_of_all(problem, fit, settings, args):
    """Of a fit to all rows, stopped by the validation rows among them."""
    everything = rows.together([problem.train, problem.valid, problem.test])
    seconds = timed(fit, problem._replace(train=everything), settings, 1, args.threads)[1]
    log(f"{len(everything.y)} rows: {seconds:.1f} s")
    return seconds


def wanted(contenders, args):
    return [(name, each) for name, each in contenders.items()
            if not args.only or name.split(",")[0] in args.only or name in args.only]


def quantiles(task, args):
    problems = [getattr(rows, task)(seed) for seed in range(1, args.seeds + 1)]

    def loss(valid, predicted):
        return statistics.mean(judges.pinball(valid, predicted, QUANTILES))

    def judge(test, predicted):
        each = judges.pinball(test, predicted, QUANTILES)
        return {"pinball": statistics.mean(each),
                **{f"q{q}": value for q, value in zip(QUANTILES, each)},
                "coverage": judges.coverage(test, predicted),
                "crossings": judges.crossings(predicted)}

    def named(fit):
        return lambda problem, *rest: fit(problem, QUANTILES, *rest)

    contenders = {"Espalier, defaults": (named(lattices.fit_quantiles), [{}]),
                  "Espalier, tuned": (named(lattices.fit_quantiles),
                                      args.espalier or lattices.QUANTILE_SETTINGS),
                  "LightGBM": (named(trees.fit_quantiles), trees.SETTINGS["LightGBM"])}
    found = {name: compete(problems, name, fit, candidates, loss, judge, args)
             for name, (fit, candidates) in wanted(contenders, args)}
    if task == "california":
        found["ratios"] = ratios_of(problems[0], args)
    return found


def ratios_of(problem, args):
    """How much longer three quantiles take than one, to train and to predict, at best."""
    times = {}
    for name, levels in (("one", QUANTILES[1:2]), ("three", QUANTILES)):
        fits = [timed(lattices.fit_quantiles, problem, levels, {}, 1, args.threads)
                for _ in range(3)]
        calls = [timed(fits[0][0].model.predict, problem.test.x)[1] for _ in range(PREDICTED)]
        times[name] = min(seconds for _, seconds in fits), min(calls)
    ratios = dict(zip(("train", "predict"), np.divide(times["three"], times["one"]).tolist()))
    log(f"three quantiles against one: {times}")
    return {"seconds": times, "ratios": ratios}


def choose(fit, train, candidates, seed, threads, num_grades):
    """The settings, and what else fit returns, with the lowest log loss of a fifth of the rows."""
    valid, rest = rows.cut(len(train.y), seed)
    problem = rows.Problem(train.take(rest), train.take(valid), train, [])
    tried = []
    for number, settings in enumerate(candidates):
        predict, found = fit(problem, settings, seed, threads)
        each = spread_out(predict, problem.valid, problem.train, num_grades)
        value = judges.log_loss(problem.valid.y, each)
        tried.append((value, number, settings, found))
    return min(tried)[2:]


def spread_out(predict, given, train, num_grades):
    """Probabilities of all grades, those that the training rows lack being 0."""
    predicted = np.asarray(predict(given), np.float64)
    all_grades = np.zeros((len(given.y), num_grades))
    known = np.unique(train.y) if predicted.shape[1] < num_grades else slice(None)
    all_grades[:, known] = predicted
    return all_grades


def xgboost_grades(train, candidates, seed, threads, num_grades):
    """Settings and rounds by a fifth of the training rows, then all of them."""
    import xgboost

    def fit(problem, settings, seed, threads):
        settings = {**settings, "num_class": num_grades}
        predict = trees.fit_xgboost(problem, "grades", settings, seed, threads)
        return predict, predict.rounds

    settings, rounds = choose(fit, train, candidates, seed, threads, num_grades)
    params = {**settings, "objective": "multi:softprob", "num_class": num_grades,
              "nthread": threads, "seed": seed}
    booster = xgboost.train(params, xgboost.DMatrix(train.arrays(), train.y), rounds)
    return lambda given: booster.predict(xgboost.DMatrix(given.arrays()))


def espalier_grades(train, candidates, seed, threads, num_grades, free=()):
    def fit(problem, settings, seed, threads):
        return lattices.fit_grades(problem.train, settings, seed, threads, free), None

    settings = candidates[0]
    if len(candidates) > 1:
        settings, _ = choose(fit, train, candidates, seed, threads, num_grades)
    return lattices.fit_grades(train, settings, seed, threads, free)


def grades(task, args):
    table, count = rows.graded(task)
    contenders = {"Espalier, defaults": (espalier_grades, [{}]),
                  "Espalier, tuned": (espalier_grades, args.espalier or lattices.GRADE_SETTINGS),
                  "XGBoost": (xgboost_grades, trees.SETTINGS["XGBoost"])}
    if free := rows.CONTRADICTED.get(task):
        contenders[f"Espalier, {', '.join(free)} free"] = (partial(espalier_grades, free=free), [{}])
    print(f"{task}: at the least, of every model that rises with all columns: "
          f"{rows.least_of_monotone(table)}", flush=True)
    found = {}
    for name, (fit, candidates) in wanted(contenders, args):
        results = []
        for seed in range(1, args.seeds + 1):
            judged = []
            for train, test in rows.folds(table, FOLDS, seed):
                predict, seconds = timed(fit, train, candidates[:args.tries], seed, args.threads,
                                         count)
                each = spread_out(predict, test, train, count)
                judged.append({"log_loss": judges.log_loss(test.y, each),
                               "grade_error": judges.grade_error(test.y, each),
                               "seconds": seconds})
            results.append({key: statistics.mean(each[key] for each in judged)
                            for key in judged[0]})
            log(f"{name}: seed {seed}: {results[-1]}")
        found[name] = {"settings": candidates, "seeds": results}
    return found


def spread(values):
    return statistics.stdev(values) if len(values) > 1 else 0.0


def print_table(task, found):
    contenders = {name: each["seeds"] for name, each in found.items() if "seeds" in each}
    first = next(iter(contenders.values()))
    judged = next(iter(first[0]))  # the metric that decides
    print(f"\n### {task}\n\n| |", " | ".join(first[0]), "| difference |\n" +
          "| --- " * (2 + len(first[0])) + "|")
    for name, seeds in contenders.items():
        cells = [f"{statistics.mean(values):.5g} ± {spread(values):.2g}"
                 for values in ([seed[key] for seed in seeds] for key in list(first[0])[:-1])]
        cells.append(f"{min(seed['seconds'] for seed in seeds):.2g}")  # other work only adds to it
        differences = [seed[judged] - own[judged] for seed, own in zip(seeds, first)]
        error = spread(differences) / len(differences) ** 0.5
        cells.append(f"{statistics.mean(differences):+.2g} ± {error:.2g}"
                     if seeds is not first else "")
        print(f"| {name} |", " | ".join(cells), "|", flush=True)
    if "ratios" in found:
        print("\nthree quantiles against one:", found["ratios"]["ratios"])


def main():
    parser = argparse.ArgumentParser(description="Judges Espalier and boosted trees beyond yes/no.")
    parser.add_argument("tasks", nargs="*", metavar="TASK", help=f"of {', '.join(TASKS)}; all")
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--threads", type=int, default=os.cpu_count())
    parser.add_argument("--whole", action="store_true",
                        help="of frequency and premium: only the time to fit all policies")
    parser.add_argument("--grouped", action="store_true",
                        help="of frequency and premium: rows that look like one policy are judged, "
                             "or train, together")
    parser.add_argument("--limit", type=int, help="policies to draw; all")
    parser.add_argument("--tries", type=int, default=3, help="settings that a contender tries")
    parser.add_argument("--only", nargs="*", default=[], help="these contenders")
    parser.add_argument("--espalier", type=json.loads,
                        help="settings that Espalier tries, a JSON list")
    parser.add_argument("--json", metavar="FILE",
                        default=rows.ROOT / "build" / "bench" / "objectives.json")
    args = parser.parse_args()
    if unknown := set(args.tasks) - set(TASKS):
        parser.error(f"no task {', '.join(sorted(unknown))}; there are {', '.join(TASKS)}")
    warnings.simplefilter("ignore")
    results = {"load": os.getloadavg()[0], "threads": args.threads, "tasks": {}}
    for task in args.tasks or TASKS:
        run = (motor if task in ("frequency", "premium") else grades if task in GRADED
               else quantiles)
        results["tasks"][task] = found = run(task, args)
        print_table(task, found)
        Path(args.json).parent.mkdir(parents=True, exist_ok=True)
        Path(args.json).write_text(json.dumps(results, indent=1) + "\n")


if __name__ == "__main__":
    main()
