#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# Claims, quantiles and grades: Espalier and boosted trees on the same rows.
#
#   bench/objectives/run.py [TASK ...] [--seconds 60] [--fit-seconds 60] [--seeds 5] [--first 1]
#       [--threads 2] [--limit ROWS] [--grouped] [--only NAME ...] [--json FILE]
#   bench/objectives/run.py --print FILE ... --json FILE   # the tables of such files together
#
# frequency, premium: freMTPL2 with exposure; california, blog: the quantiles 0.1, 0.5 and 0.9
# beside three models of each library without constraints; car, esl, era: grades in five folds
# beside one classifier without constraints and one monotone model per threshold. rows.py says which
# rows train, choose and judge.
#
# A contender that is tuned tries settings (bench/spaces.py) for --seconds on the rows of the first
# seed, one trial after another with --threads, and keeps those with the lowest validation loss; the
# trial that is running when time is over counts with its best round so far. Of grades each fold is
# tuned by a fifth of its training rows, for its part of the seconds, and refitted to all of them.
# Then all predictions get the same corrections (corrections.py). Prints means with their standard
# deviation over the seeds, and the mean difference to the first contender with its standard error.
# Wants build/espalier, the peers, and the tables: make bench-objectives.
import argparse
import itertools
import json
import os
import statistics
import sys
import time
import warnings
from functools import cache, partial
from pathlib import Path
from typing import Callable, NamedTuple

import numpy as np

HERE = Path(__file__).resolve().parent
sys.path.append(str(HERE.parent))  # behind this folder, which has a trees.py too
import contenders as machine
import corrections
import judges
import lattices
import rows
import spaces
import trees

QUANTILES = (0.1, 0.5, 0.9)
FOLDS = 5
GRADED = ("car", "esl", "era")
TASKS = ("frequency", "premium", "california", "blog", *GRADED)


class Contender(NamedTuple):
    """fit(problem, ..., settings, seed, threads, until) gives a function from Rows to predictions.
    One without a space of settings has its defaults."""
    name: str
    fit: Callable
    space: spaces.Space | None


def log(*words):
    print(*words, file=sys.stderr, flush=True)


def timed(fit, *given):
    start = time.perf_counter()
    predict = fit(*given)
    return predict, time.perf_counter() - start


def search(contender, problem, loss, seconds, seed, threads):
    """The settings with the lowest validation loss, that loss, what the fit returned, and the number
    of trials. The first trial has all the time that it needs."""
    until = time.monotonic() + seconds
    tried = []
    for number in itertools.count():
        settings = contender.space.settings(number) if contender.space else {}
        try:
            predict = contender.fit(problem, settings, seed, threads, until if number else None)
            value = loss(problem.valid, predict(problem.valid))
            tried.append((value, number, settings, predict))
            log(f"{contender.name}: trial {number}: {settings}: validation {value:.6g}")
        except lattices.OutOfTime as error:
            log(f"{contender.name}: trial {number}: {settings}: {error}")
        if contender.space is None or time.monotonic() >= until:
            value, _, settings, predict = min(tried, key=lambda each: each[:2])
            return settings, value, predict, len(tried)


def compete(problem_of, contender, loss, judge, args, save):
    """The metrics of each seed, by the settings with the lowest validation loss of the first."""
    found = {"settings": {}, "seeds": {}}
    if contender.space:
        found["settings"], found["validation"], _, found["trials"] = search(
            contender, problem_of(1), loss, args.seconds, 1, args.threads)
    for seed in seeds_of(args):
        problem = problem_of(seed)
        until = args.fit_seconds and time.monotonic() + args.fit_seconds
        try:
            predict, seconds = timed(contender.fit, problem, found["settings"], seed, args.threads,
                                     until)
        except lattices.OutOfTime as error:
            log(f"{contender.name}: seed {seed}: {error}")
            continue
        found["seeds"][str(seed)] = judge(problem, predict) | {"seconds": seconds}
        log(f"{contender.name}: seed {seed}: {found['seeds'][str(seed)]}")
        save(contender.name, found)


def seeds_of(args):
    return range(args.first, args.seeds + 1)


def motor(task, args, save):
    label, kind, deviance = {"frequency": ("ClaimNb", "poisson", judges.poisson_deviance),
                             "premium": ("ClaimAmount", "tweedie", judges.tweedie_deviance)}[task]

    @cache
    def problem_of(seed):
        return rows.motor(label, seed, args.limit, args.grouped)

    def judge(problem, predict):
        rate = predict(problem.test)
        balanced = corrections.balanced(predict, problem)(problem.test)
        return {"deviance": deviance(problem.test, balanced),
                "as fitted": deviance(problem.test, rate), "gini": judges.gini(problem.test, rate),
                "balance": judges.balance(problem.test, balanced),
                "balance as fitted": judges.balance(problem.test, rate)}

    def named(fit):
        return lambda problem, *rest: fit(problem, kind, *rest)

    contenders = [Contender("Espalier", named(lattices.fit_rate), None),
                  Contender("Espalier, tuned", named(lattices.fit_rate), lattices.DEFAULTS),
                  Contender("XGBoost", named(trees.fit_xgboost), spaces.XGBOOST),
                  Contender("LightGBM", named(trees.fit_lightgbm), spaces.LIGHTGBM)]
    if task == "frequency":  # scikit-learn has no Tweedie loss
        contenders.append(Contender("scikit-learn", named(trees.fit_scikit_learn),
                                    spaces.SCIKIT_LEARN))
    for contender in wanted(contenders, args):
        if args.whole:
            seconds = seconds_of_all(problem_of(1), contender, args)
            save(contender.name, {"seeds": {"1": {"seconds": seconds}}})
        else:
            compete(problem_of, contender, deviance, judge, args, save)


def seconds_of_all(problem, contender, args):
    """Of a fit to all rows, stopped by the validation rows among them."""
    everything = rows.together([problem.train, problem.valid, problem.test])
    settings = contender.space.settings(0) if contender.space else {}
    problem = problem._replace(train=everything)
    return timed(contender.fit, problem, settings, 1, args.threads, None)[1]


def wanted(contenders, args):
    return [each for each in contenders if not args.only or each.name in args.only]


def quantiles(task, args, save):
    problem_of = cache(getattr(rows, task))

    def loss(valid, predicted):
        return statistics.mean(judges.pinball(valid, predicted, QUANTILES))

    def judge(problem, predict):
        fitted = predict(problem.test)
        shifted = corrections.shifted(predict, problem, QUANTILES)(problem.test)
        each = judges.pinball(problem.test, shifted, QUANTILES)
        return {"pinball": statistics.mean(each), "as fitted": loss(problem.test, fitted),
                **{f"q{q}": value for q, value in zip(QUANTILES, each)},
                "coverage": judges.coverage(problem.test, shifted),
                "coverage as fitted": judges.coverage(problem.test, fitted),
                "crossings": judges.crossings(fitted)}

    def of(fit):
        return lambda problem, *rest: trees.fit_quantiles(fit, problem, QUANTILES, *rest)

    def espalier(problem, *rest):
        return lattices.fit_quantiles(problem, QUANTILES, *rest)

    for contender in wanted([
            Contender("Espalier", espalier, None),
            Contender("Espalier, tuned", espalier, lattices.DEFAULTS),
            Contender("XGBoost, free", of(trees.fit_xgboost), spaces.XGBOOST),
            Contender("LightGBM, free", of(trees.fit_lightgbm), spaces.LIGHTGBM),
            Contender("scikit-learn, free", of(trees.fit_scikit_learn),
                      spaces.SCIKIT_LEARN)], args):
        compete(problem_of, contender, loss, judge, args, save)


def refitted(contender, train, count, increasing, seconds, seed, threads):
    """Settings and rounds by a fifth of the training rows, then a fit to all of them."""
    settings, rounds, trials = {}, None, 0
    if contender.space:
        valid, rest = rows.cut(len(train.y), seed)
        problem = rows.Problem(train.take(rest), train.take(valid), train, increasing, count)
        settings, _, chosen, trials = search(
            contender, problem, lambda judged, each: judges.log_loss(judged.y, each), seconds, seed,
            threads)
        rounds = chosen.rounds
    everything = rows.Problem(train, None, train, increasing, count)
    more = {"rounds": rounds} if rounds else {}
    return contender.fit(everything, settings, seed, threads, None, **more), trials


def grades(task, args, save):
    table, count = rows.graded(task)
    columns = list(table.x)
    of_fold = args.seconds / (FOLDS * args.seeds)
    thresholds = "one monotone model per threshold"
    contenders = [
        (Contender("Espalier", lattices.fit_grades, None), columns),
        (Contender("Espalier, tuned", lattices.fit_grades, lattices.DEFAULTS), columns),
        (Contender("XGBoost, free", partial(trees.fit_classes, trees.fit_xgboost), spaces.XGBOOST),
         columns),
        (Contender(f"XGBoost, {thresholds}", partial(trees.fit_thresholds, trees.fit_xgboost),
                   spaces.XGBOOST), columns),
        (Contender(f"LightGBM, {thresholds}", partial(trees.fit_thresholds, trees.fit_lightgbm),
                   spaces.LIGHTGBM), columns)]
    if contradicted := rows.CONTRADICTED.get(task):
        name = f"{', '.join(contradicted)} free"
        kept = [column for column in columns if column not in contradicted]
        contenders += [(each._replace(name=f"{each.name}, {name}"), kept)
                       for each, _ in contenders if each.name in (
                           "Espalier", f"XGBoost, {thresholds}")]
    log(f"{task}: at the least, of every model that rises with all columns: "
        f"{rows.least_of_monotone(table)}")
    increasing_of = {each.name: increasing for each, increasing in contenders}
    for contender in wanted([each for each, _ in contenders], args):
        results = {}
        for seed in seeds_of(args):
            judged = []
            for train, test in rows.folds(table, FOLDS, seed):
                (predict, trials), seconds = timed(
                    refitted, contender, train, count, increasing_of[contender.name], of_fold, seed,
                    args.threads)
                each = predict(test)
                judged.append({"log_loss": judges.log_loss(test.y, each),
                               "grade_error": judges.grade_error(test.y, each), "seconds": seconds})
            results[str(seed)] = {key: statistics.mean(each[key] for each in judged)
                                  for key in judged[0]}
            log(f"{contender.name}: seed {seed}: {results[str(seed)]}")
            save(contender.name, {"trials": trials, "seeds": results})


def spread(values):
    return statistics.stdev(values) if len(values) > 1 else 0.0


def cell(values):
    """Mean ± standard deviation, with two digits of the latter."""
    deviation = spread(values)
    places = max(0, 1 - int(np.floor(np.log10(deviation)))) if deviation > 0 else 4
    return f"{statistics.mean(values):,.{places}f} ± {deviation:,.{places}f}"


def difference_of(seeds, first, metric):
    """Mean of the differences on the seeds that both have, with its standard error."""
    both = [seeds[seed][metric] - first[seed][metric] for seed in seeds if seed in first]
    if not both:
        return ""
    error = spread(both) / len(both) ** 0.5
    return f"{statistics.mean(both):+.2g} ± {error:.1g}"


def order_of(name):
    """Espalier first, then as the names come."""
    return not name.startswith("Espalier"), name


def print_table(task, found):
    contenders = {name: found[name] for name in sorted(found, key=order_of)}
    first = next(iter(contenders.values()))["seeds"]
    judged, *others = list(next(iter(first.values())))[:-1]  # the first metric decides
    print(f"\n### {task}\n\n| | {judged} | difference |",
          " | ".join([*others, "seconds", "trials", "seeds"]), "|\n" +
          "| --- " * (len(others) + 6) + "|")
    for name, each in contenders.items():
        seeds = each["seeds"]
        columns = [cell([seed[key] for seed in seeds.values()]) for key in (judged, *others)]
        seconds = f"{statistics.median(seed['seconds'] for seed in seeds.values()):.2g}"
        difference = difference_of(seeds, first, judged) if seeds is not first else ""
        print(f"| {name} | {columns[0]} | {difference} |",
              " | ".join([*columns[1:], seconds, str(each.get("trials", "")), str(len(seeds))]),
              "|", flush=True)


def merged(paths):
    """What all files have together, printed as tables."""
    tasks, circumstances = {}, []
    for path in paths:
        results = json.loads(Path(path).read_text())
        circumstances.append(results["circumstances"])
        for task, found in results["tasks"].items():
            for name, each in found.items():
                mine = tasks.setdefault(task, {}).setdefault(name, each)
                mine["seeds"] |= each["seeds"]
    for task in TASKS:
        if task in tasks:
            print_table(task, tasks[task])
    return {"circumstances": circumstances, "tasks": tasks}


def arguments():
    parser = argparse.ArgumentParser(description="Judges Espalier and boosted trees beyond yes/no.")
    parser.add_argument("tasks", nargs="*", metavar="TASK", help=f"of {', '.join(TASKS)}; all")
    parser.add_argument("--seconds", type=float, default=60,
                        help="to tune, a contender and task; 0: one trial")
    parser.add_argument("--fit-seconds", type=float,
                        help="after these a fit ends with its best round so far; unlimited")
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--first", type=int, default=1, help="the first seed that is judged")
    parser.add_argument("--threads", type=int, default=os.cpu_count())
    parser.add_argument("--whole", action="store_true",
                        help="of frequency and premium: only the time to fit all policies")
    parser.add_argument("--grouped", action="store_true",
                        help="of frequency and premium: rows that look like one policy are judged, "
                             "or train, together")
    parser.add_argument("--limit", type=int, help="policies to draw; all")
    parser.add_argument("--only", nargs="*", default=[], help="these contenders, by their names")
    parser.add_argument("--json", metavar="FILE", type=Path,
                        default=rows.ROOT / "build" / "bench" / "objectives.json")
    parser.add_argument("--print", nargs="+", metavar="FILE",
                        help="print what these files have together, and write it to --json")
    args = parser.parse_args()
    if unknown := set(args.tasks) - set(TASKS):
        parser.error(f"no task {', '.join(sorted(unknown))}; there are {', '.join(TASKS)}")
    return args


def main():
    args = arguments()
    if args.print:
        args.json.write_text(json.dumps(merged(args.print), indent=1) + "\n")
        return
    warnings.simplefilter("ignore")
    circumstances = machine.circumstances(
        lattices.ESPALIER, threads=args.threads, seconds=args.seconds,
        fit_seconds=args.fit_seconds, seeds=args.seeds, limit=args.limit, grouped=args.grouped)
    results = {"circumstances": circumstances, "tasks": {}}
    args.json.parent.mkdir(parents=True, exist_ok=True)
    for task in args.tasks or TASKS:
        results["tasks"][task] = found = {}

        def save(name, each):
            found[name] = each
            args.json.write_text(json.dumps(results, indent=1) + "\n")

        run = (motor if task in ("frequency", "premium") else grades if task in GRADED
               else quantiles)
        run(task, args, save)
        if found and not args.whole:
            print_table(task, found)


if __name__ == "__main__":
    main()
