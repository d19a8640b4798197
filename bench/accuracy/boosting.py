# SPDX-License-Identifier: Apache-2.0
# How a boosting library competes. The file of a peer says what may be set and how a fit goes:
#
#   peer_NAME.py SECONDS THREADS FOLDER ...
#
# Random search on the first folder for SECONDS, then a fit with the best settings on every folder;
# all of it again without the directions, for what they cost and what proven models can reach.
# As in `espalier tune`, trials have one thread each and run side by side, one that is not finished
# in time does not count, and the validation rows judge; a folder without any is cut into folds.
import itertools
import multiprocessing
import queue
import random
import statistics
import sys
import time

import peers
from protocol import FOLDS
from trees import ROUNDS


def log_uniform(draw, low, high):
    return low * (high / low) ** draw.random()


def validate(fit, judges, settings):
    """(lowest mean validation loss, number of rounds that reaches it)"""
    curves = [fit(data, settings, ROUNDS, threads=1)[1] for data in judges]
    means = [statistics.mean(losses) for losses in zip(*curves)]
    return min((loss, rounds) for rounds, loss in enumerate(means, 1))


def finish(trial, seconds, workers):
    """What trials 0, 1, ... return, those that finish in time; at least one."""
    # A library that has started threads cannot be forked, but here none has fitted anything yet.
    context = multiprocessing.get_context("fork")
    results = context.Queue()

    def work(first):
        for number in itertools.count(first, workers):
            results.put(trial(number))

    processes = [context.Process(target=work, args=[first], daemon=True)
                 for first in range(workers)]
    deadline = time.monotonic() + seconds
    for process in processes:
        process.start()
    finished = []
    while not finished or time.monotonic() < deadline:
        try:
            finished.append(results.get(timeout=0.05))
        except queue.Empty:
            if not all(process.is_alive() for process in processes):
                sys.exit("boosting.py: a trial failed")
    for process in processes:
        process.kill()
        process.join()
    return finished


def tune(data, known, draw, fit, seconds, workers):
    """(settings, rounds, their validation loss, number of trials)"""
    judges = [data] if "valid" in data.parts else data.folds(FOLDS)

    def trial(number):
        settings = known[number] if number < len(known) else draw(random.Random(number))
        return *validate(fit, judges, settings), number, settings

    finished = finish(trial, seconds, workers)
    loss, rounds, _, settings = min(finished, key=lambda each: each[:3])
    return settings, rounds, loss, len(finished)


def load(folder, free):
    data = peers.Data(folder)
    if free:
        data.signs = [0] * len(data.signs)
    return data


def compete(package, known, draw, fit):
    """Tunes, fits, and reports a line a folder: with the directions, then without.

    known: settings of the first trials, good ones
    draw(random): settings of another trial
    fit(data, settings, rounds, threads): (function that predicts rows, validation loss a round); at
        most so many rounds, of which the validation rows, where there are any, choose the best
    """
    seconds, threads, *folders = sys.argv[1:]
    # Both searches come first: they fork, and fits start threads.
    found = {free: tune(load(folders[0], free), known, draw, fit, float(seconds), int(threads))
             for free in (False, True)}
    for free, (settings, rounds, loss, trials) in found.items():
        contender = f"{package}, free" if free else package
        for seed, folder in enumerate(folders, 1):
            data = load(folder, free)
            start = time.perf_counter()
            predict, _ = fit(data, {**settings, "seed": seed},
                             ROUNDS if "valid" in data.parts else rounds, int(threads))
            fit_seconds = time.perf_counter() - start
            peers.report(contender=contender, version=peers.version(package), settings=settings,
                         tuned_loss=loss, trials=trials, seconds=fit_seconds,
                         predictions=predict(data.parts["test"][0]).tolist())
