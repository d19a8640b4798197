# SPDX-License-Identifier: Apache-2.0
"""A search for settings that are better on validation rows than the defaults."""
from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from . import _core
from ._base import Beside, Posed, _MonotonicEstimator, _warn
from ._arguments import values_of
from ._params import options_json, path_bytes, python_names, real_number, whole_number
from ._progress import progress_of, search_progress_of
from ._ranks import ranks_of


@dataclass(frozen=True)
class Trial:
    """A draw of settings, and how it did."""
    trial: int  #: from 1, the parameters of the estimator that was given
    epochs: int  #: of its best training
    value: float  #: the metric of that training on validation rows, or the mean over folds
    confirmed: float  #: mean of the trainings with other seeds and rows; NaN if it had none
    seconds: float  #: of its best training, on one thread
    settings: dict[str, Any]  #: what it drew


@dataclass(frozen=True)
class Tuning:
    """What `espalier.tune` found."""
    estimator: Any  #: fitted with the best settings
    trials: list[Trial]  #: the best first
    metric: str  #: that judged them
    search: list[str]  #: every range that was searched, as on the command line
    stopped: bool  #: whether the callback ended the search

    @property
    def best(self) -> Trial:
        """The trial whose settings the estimator has."""
        return self.trials[0]


def tune(estimator: Any, X: Any, y: Any, sample_weight: Any = None, *, exposure: Any = None,
         offset: Any = None, eval_set: Any = None, trials: int = 0,
         minutes: float = 0, confirm: int | str | None = "auto", folds: int = 0,
         search: Mapping[str, Sequence[Any]] | Sequence[str] = (), fix: Sequence[str] = (),
         results: str | os.PathLike[str] | None = None, callback: Any = None,
         progress: bool = False, communicator: Any = None) -> Tuning:
    """Searches for better settings than an estimator has, and fits one with the best of them.

    It is the command ``espalier tune``: the same table, settings and number of trials end in the
    same model file. The estimator that is given is not changed; the model that `fit` would give is
    the first trial, and parameters that differ from the defaults are searched only if `search`
    names them. Where `ensemble` is left open, the final model has five networks, or as many as
    train within `minutes`.

    Parameters
    ----------
    estimator : a MonotonicClassifier or MonotonicRegressor; its n_jobs trainings run at a time
    X, y, sample_weight, exposure, offset, eval_set : as `fit` takes them
    trials : how many draws of settings; 0: as many as `minutes` allows, 28 without it
    minutes : how long to search and confirm; the final training comes on top. 0: until all trials
        are done
    confirm : how often the three best trials and the first are trained again, with other seeds and
        validation rows; one that is clearly better there wins, else the first; 0: the best trial
        wins; auto: 5 times, below 5,000 training rows 10
    folds : judge by cross-validation with this many folds; 0: by validation rows
    search : settings to draw in every trial: {"learning_rate": (0.003, 0.1, "log"),
        "lattices": (20, 120), "keypoints": ["distinct", "quantile"]}, or texts as on the command
        line, "learning_rate=0.003:0.1:log"
    fix : settings to leave as they are
    results : a file for a JSON line per finished training; a search that was ended, by Ctrl-C or a
        kill, goes on from it
    callback : called after each finished training with a dictionary; what is true ends the search,
        and the best settings so far are fitted
    progress : shows tqdm bars
    communicator : of mpi4py, whose processes divide the trials; see `fit`. The first has the
        results

    Examples
    --------
    >>> import espalier
    >>> loans = espalier.simulate(rows=400)
    >>> y = loans.pop("default")
    >>> risk = espalier.MonotonicClassifier(monotonic_cst={"debt_ratio": 1}, epochs=2, ensemble=1)
    >>> found = espalier.tune(risk, loans, y, trials=2, confirm=0,
    ...                       search={"learning_rate": (0.003, 0.1, "log")})
    >>> found.estimator.predict(loans).shape, found.metric
    ((400,), 'log_loss')
    """
    if not isinstance(estimator, _MonotonicEstimator):
        raise _core.Error(f"estimator: wanted a MonotonicClassifier or MonotonicRegressor, found "
                          f"{type(estimator).__name__}")
    tuned = type(estimator)(**estimator.get_params(deep=False))
    posed: Posed = tuned._pose(X, y, Beside(sample_weight, exposure, offset), eval_set)
    options = _core.TuneOptions(trials=_count(trials, "trials"),
                                minutes=real_number(minutes, "minutes"),
                                confirm=None if confirm in (None, "auto") else _count(confirm,
                                                                                       "confirm"),
                                folds=_count(folds, "folds"),
                                search=_ranges(search), fix=_texts(fix, "fix"))
    with (python_names(), search_progress_of(callback, progress, minutes) as report,
          progress_of(None, progress) as final_report, ranks_of(communicator) as ranks):
        if ranks is not None:
            ranks.share_seed(posed.options)
        result = _core.tune(posed.table, options_json(posed.options), posed.valid, options,
                            b"" if results is None else path_bytes(results), report, final_report,
                            _warn, ranks)
    tuned._keep(result, posed)
    used = json.loads(result["options"])
    tuned.set_params(**{name: used[name] for name, value in posed.options.items()
                        if name in tuned.get_params(deep=False) and used[name] != value})
    found = [Trial(trial["trial"], trial["epochs"], trial["value"], trial["confirmed"],
                   trial["seconds"], json.loads(trial["settings"])) for trial in result["trials"]]
    return Tuning(tuned, found, result["metric"], result["search"], result["search_stopped"])


def _count(value: Any, what: str) -> int:
    """A whole number that the library holds in 32 bits."""
    return min(whole_number(value, what), 2**31 - 1)


def _texts(given: Any, what: str) -> list[str]:
    texts = values_of([given] if isinstance(given, str) else given, what)
    for text in texts:
        if not isinstance(text, str):
            raise _core.Error(f"{what}: {text!r} is no text")
    return texts


def _ranges(search: Mapping[str, Sequence[Any]] | Sequence[str]) -> list[str]:
    """Ranges as on the command line."""
    if isinstance(search, str):
        return [search]
    if not isinstance(search, Mapping):
        return _texts(search, "search")
    return [f"{name}={':'.join(map(str, values))}" for name, values in search.items()]
