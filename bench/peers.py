# SPDX-License-Identifier: Apache-2.0
# What the contenders in Python share: the tables as arrays, and the lines that they print.
import copy
import importlib
import importlib.metadata
import json
import statistics
import sys
import time
from pathlib import Path


def require(name, package=None):
    """Imports a module; if that fails, reports its package as absent and ends the contender."""
    try:
        return importlib.import_module(name)
    except Exception as error:  # whatever stops the import, the peer is absent
        report(contender=package or name, absent=f"{type(error).__name__}: {error}")
        sys.exit(0)


def version(package):
    """Name and version; some packages also come without their GPU part, as PACKAGE-cpu."""
    for name in (package, f"{package}-cpu"):
        try:
            return f"{package} {importlib.metadata.version(name)}"
        except importlib.metadata.PackageNotFoundError:
            pass
    return package


def report(**line):
    print(json.dumps(line), flush=True)


def median_seconds(repeats, call):
    times = []
    for _ in range(repeats):
        start = time.perf_counter()
        call()
        times.append(time.perf_counter() - start)
    return statistics.median(times)


class Data:
    """A table of bench/data as float32 arrays. Words become codes, missing cells NaN.

    parts: {"train": (x, y), "valid": ..., "test": ...}, those that there are; x: [rows][features]
    exposures: {"train": ..., ...}, empty without such a column
    """

    def __init__(self, folder):
        import pandas
        folder = Path(folder)
        options = json.loads((folder / "options.json").read_text())
        order = dict(rule.split("=", 1) for rule in options.get("order", []))
        frames = {part: pandas.read_csv(folder / f"{part}.csv", na_values="?")
                  for part in ("train", "valid", "test") if (folder / f"{part}.csv").exists()}
        label, exposure = options["label"], options.get("exposure")
        self.loss = options.get("loss")
        self.regression = self.loss is not None or options.get("task") == "regression"
        self.features = [name for name in frames["train"] if name not in (label, exposure)]
        self.exposures = {part: frame[exposure].to_numpy("float32")
                          for part, frame in frames.items() if exposure}
        self.words = {}  # of each category: the words that the training rows have
        for name in self.features:
            if name in order:
                self.words[name] = order[name].split("<")
            elif not pandas.api.types.is_numeric_dtype(frames["train"][name]):
                self.words[name] = sorted(frames["train"][name].dropna().unique())
        self.ordered = list(order)
        self.parts = {part: self._arrays(frame, label, options.get("positive"))
                      for part, frame in frames.items()}
        signs = {**dict.fromkeys(options.get("increasing", []), 1),
                 **dict.fromkeys(options.get("decreasing", []), -1)}
        self.signs = [signs.get(name, 0) for name in self.features]
        self.categories = [i for i, name in enumerate(self.features)
                           if name in self.words and name not in self.ordered]

    def _arrays(self, frame, label, positive):
        import numpy
        x = numpy.empty((len(frame), len(self.features)), numpy.float32)
        for i, name in enumerate(self.features):
            if name in self.words:
                codes = {word: code for code, word in enumerate(self.words[name])}
                x[:, i] = frame[name].map(codes).astype("float32")
            else:
                x[:, i] = frame[name]
        y = frame[label]
        if not self.regression:
            y = y.astype(str) == positive
        return x, y.to_numpy(numpy.float32)

    def judged(self, labels, predictions):
        """{metric: its value}"""
        if self.regression:
            return {"mse": float(((labels - predictions) ** 2).mean(dtype="float64"))}
        return {"log_loss": log_loss(labels, predictions)}

    def folds(self, count):
        """The training rows cut so many times into others and validation rows, each row once among
        the latter. Folds have about the same labels, as those of `espalier tune --folds`."""
        import numpy
        x, y = self.parts["train"]
        order = numpy.lexsort((numpy.random.default_rng(1).random(len(y)), y))
        folds = []
        for first in range(count):
            held_out = numpy.zeros(len(y), bool)
            held_out[order[first::count]] = True
            fold = copy.copy(self)
            fold.parts = {part: (x[rows], y[rows])
                          for part, rows in (("train", ~held_out), ("valid", held_out))}
            folds.append(fold)
        return folds


def repeated(x, rows):
    """The rows of x over and over again."""
    import numpy
    return numpy.ascontiguousarray(numpy.resize(x, (rows, x.shape[1])))


def log_loss(labels, probabilities):
    import numpy
    p = numpy.clip(numpy.asarray(probabilities, numpy.float64).ravel(), 1e-7, 1 - 1e-7)
    return float(-numpy.mean(numpy.where(labels > 0, numpy.log(p), numpy.log1p(-p))))
