# SPDX-License-Identifier: Apache-2.0
# How a boosting library competes. The file of a peer says what may be set and how a fit goes:
#
#   peer_NAME.py SECONDS THREADS FOLDER ...
#
# Random search (bench/spaces.py) on the first folder for SECONDS, then a fit with the best settings
# on every folder; all of it again without the directions, for what they cost and what proven models
# can reach. Where Espalier trains an ensemble whose networks hold out a fifth of all rows each in
# turn, so does the peer. Trials have one thread each and run side by side, those that are running
# when time is over count with their best round so far, and the validation rows judge; a folder
# without any is cut into folds. The environment variable DIRECTIONS, kept or dropped, leaves one
# half of that.
import copy
import itertools
import multiprocessing
import os
import queue
import statistics
import sys
import time

import deadline
import numpy
import peers
from protocol import FOLDS, MEMBERS
from trees import ROUNDS


def validate(fit, judges, settings, until):
    """(lowest mean validation loss, number of rounds that reaches it)"""
    curves = [fit(data, settings, ROUNDS, 1, deadline.share(until, len(judges) - number))[1]
              for number, data in enumerate(judges)]
    means = [statistics.mean(losses) for losses in zip(*curves)]
    return min((loss, rounds) for rounds, loss in enumerate(means, 1))


def finish(trial, seconds, workers):
    """What trials 0, 1, ... return that begin in time; the first one has all the time it needs."""
    # A library that has started threads cannot be forked, but here none has fitted anything yet.
    context = multiprocessing.get_context("fork")
    results = context.Queue()

    until = time.monotonic() + seconds

    def work(first):
        for number in itertools.count(first, workers):
            results.put(trial(number, until if number else None))
            if deadline.is_over(until):
                results.put(None)
                return

    processes = [context.Process(target=work, args=[first], daemon=True)
                 for first in range(workers)]
    for process in processes:
        process.start()
    finished, working = [], workers
    while working:
        try:
            result = results.get(timeout=1)
        except queue.Empty:
            if any(process.exitcode for process in processes):
                sys.exit("boosting.py: a trial failed")
            continue
        if result is None:
            working -= 1
        else:
            finished.append(result)
    for process in processes:
        process.join()
    return finished


def tune(data, space, fit, seconds, workers):
    """(settings, rounds, their validation loss, number of trials)"""
    judges = [data] if "valid" in data.parts else data.folds(FOLDS)

    def trial(number, until):
        settings = space.settings(number)
        return *validate(fit, judges, settings, until), number, settings

    finished = finish(trial, seconds, workers)
    loss, rounds, _, settings = min(finished, key=lambda each: each[:3])
    return settings, rounds, loss, len(finished)


def load(folder, free):
    data = peers.Data(folder)
    if free:
        data.signs = [0] * len(data.signs)
    return data


def rotations(data, seed):
    """The training and validation rows together, each time with another fifth to validate."""
    x, y = (numpy.concatenate(parts) for parts in zip(data.parts["train"], data.parts["valid"]))
    order = numpy.random.default_rng(seed).permutation(len(y))
    for first in range(MEMBERS):
        held_out = numpy.zeros(len(y), bool)
        held_out[order[first::MEMBERS]] = True
        part = copy.copy(data)
        part.parts = {"train": (x[~held_out], y[~held_out]), "valid": (x[held_out], y[held_out])}
        yield part


def mean_of(members, regression):
    """Mean prediction; of probabilities, that of the mean of their logits."""
    def predict(x):
        each = numpy.array([member(x) for member in members], numpy.float64)
        if regression:
            return each.mean(axis=0)
        each = numpy.clip(each, 1e-7, 1 - 1e-7)
        return 1 / (1 + numpy.exp(-numpy.log(each / (1 - each)).mean(axis=0)))

    return predict


def variants_of(data, fit, settings, rounds, seed, threads):
    """{ending of the name: function that fits a model and gives what predicts rows}"""
    settings = {**settings, "seed": seed}
    if "valid" not in data.parts:
        return {"": lambda: fit(data, settings, rounds, threads)[0]}
    return {"": lambda: fit(data, settings, ROUNDS, threads)[0],
            ", ensemble": lambda: mean_of([fit(part, settings, ROUNDS, threads)[0]
                                           for part in rotations(data, seed)], data.regression)}


def compete(package, space, fit):
    """Tunes, fits, and reports a line a folder: with the directions, then without.

    space: the settings that are tried
    fit(data, settings, rounds, threads, until=None): (function that predicts rows, validation loss
        a round); at most so many rounds, of which the validation rows, where there are any, choose
        the best; fewer where time is over
    """
    seconds, threads, *folders = sys.argv[1:]
    # Both searches come first: they fork, and fits start threads.
    halves = {"kept": [False], "dropped": [True]}.get(os.environ.get("DIRECTIONS"), [False, True])
    found = {free: tune(load(folders[0], free), space, fit, float(seconds), int(threads))
             for free in halves}
    for free, (settings, rounds, loss, trials) in found.items():
        contender = f"{package}, free" if free else package
        for seed, folder in enumerate(folders, 1):
            data = load(folder, free)
            for ending, train in variants_of(data, fit, settings, rounds, seed,
                                             int(threads)).items():
                start = time.perf_counter()
                predict = train()
                fit_seconds = time.perf_counter() - start
                peers.report(contender=contender + ending, version=peers.version(package),
                             settings=settings, tuned_loss=loss, trials=trials, seconds=fit_seconds,
                             predictions=predict(data.parts["test"][0]).tolist())
