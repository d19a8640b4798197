# SPDX-License-Identifier: Apache-2.0
"""espalier.tune, and fits that go on after they were ended: with the command line's results."""
import inspect
import subprocess
import sys
import time

import numpy as np
import pandas as pd
import pytest

import espalier
from conftest import DIRECTIONS
from espalier import MonotonicClassifier, MonotonicRegressor, _core
from test_command_line import LOAN_FLAGS, run, split

DRAW = np.random.default_rng(1)
X = DRAW.uniform(size=(300, 3)).astype(np.float32)
Y = 3 * X[:, 0] - X[:, 1]
QUICK = {"epochs": 3, "ensemble": 1, "n_jobs": 1}


def test_tune_gives_the_file_of_the_command_line(program, tmp_path):
    run(program, "simulate", "--rows", 500, "--seed", 3, "-o", tmp_path / "loans.csv")
    run(program, "tune", tmp_path / "loans.csv", "--label", "default", *LOAN_FLAGS, "--epochs", 3,
        "--trials", 4, "--confirm", 1, "--folds", 2, "--search", "learning_rate=0.003:0.1:log",
        "--fix", "weight_decay", "-o", tmp_path / "wanted.esp")
    features, label = split(pd.read_csv(tmp_path / "loans.csv"))
    risk = MonotonicClassifier(monotonic_cst=DIRECTIONS, epochs=3)
    found = espalier.tune(risk, features, label, trials=4, confirm=1, folds=2,
                          search={"learning_rate": (0.003, 0.1, "log")}, fix=["weight_decay"])
    assert found.estimator.model_.to_bytes() == (tmp_path / "wanted.esp").read_bytes()
    assert len(found.trials) == 4 and not found.stopped and found.metric == "log_loss"
    assert not hasattr(risk, "model_")


def test_a_fit_with_the_tuned_parameters_gives_the_tuned_model():
    found = espalier.tune(MonotonicRegressor(monotonic_cst=[1, -1, 0], **QUICK), X, Y, trials=5,
                          confirm=0)
    again = type(found.estimator)(**found.estimator.get_params()).fit(X, Y)
    np.testing.assert_array_equal(again.predict(X), found.estimator.predict(X))
    assert found.best is found.trials[0]
    values = [trial.value for trial in found.trials]
    assert values == sorted(values)


def test_its_defaults_are_those_of_the_library():
    signature = inspect.signature(espalier.tune).parameters
    for field in _core.tune_fields():
        assert list(np.atleast_1d(signature[field["name"]].default)) == list(
            np.atleast_1d(field["default"])), field["name"]


def test_a_callback_sees_every_training_and_ends_the_search():
    seen = []

    def callback(training):
        seen.append((training["trial"], training["value"]))
        return len(seen) == 2

    found = espalier.tune(MonotonicRegressor(**QUICK), X, Y, trials=20, callback=callback)
    assert len(seen) == 2 and found.stopped
    assert np.isfinite(found.estimator.predict(X)).all()


def test_a_search_goes_on_from_its_results(tmp_path):
    results = tmp_path / "results.jsonl"
    search = {"trials": 6, "confirm": 1, "results": results}

    def interrupt(training):
        if training["runs"] == 3:
            raise KeyboardInterrupt

    regressor = MonotonicRegressor(**QUICK)
    with pytest.raises(KeyboardInterrupt):
        espalier.tune(regressor, X, Y, callback=interrupt, **search)
    kept = results.read_text().splitlines()
    again = []
    found = espalier.tune(regressor, X, Y, callback=lambda run: again.append(run["runs"]), **search)
    whole = espalier.tune(regressor, X, Y, **{**search, "results": None})
    assert results.read_text().splitlines()[:len(kept)] == kept
    assert again[0] == 4
    assert found.estimator.model_.to_bytes() == whole.estimator.model_.to_bytes()


def test_what_cannot_be_searched_is_refused():
    with pytest.raises(espalier.Error, match="estimator: wanted a MonotonicClassifier"):
        espalier.tune("dln", X, Y)
    with pytest.raises(espalier.Error, match="nonsense"):
        espalier.tune(MonotonicRegressor(), X, Y, search={"nonsense": (1, 2)})
    with pytest.raises(espalier.Error, match="folds"):
        espalier.tune(MonotonicRegressor(), X, Y, folds=1000)


def test_a_fit_goes_on_from_its_checkpoint_after_an_interrupt(tmp_path, interrupt_soon):
    endless = MonotonicRegressor(epochs=1_000_000, ensemble=1, n_jobs=1, schedule="constant")
    with pytest.raises(KeyboardInterrupt):
        endless.fit(X, Y, checkpoint=tmp_path)
    assert (tmp_path / "checkpoint").exists()
    with pytest.raises(espalier.Error, match="checkpoint"):
        endless.fit(X, Y, checkpoint=tmp_path)
    with pytest.raises(espalier.Error, match="another run"):
        MonotonicRegressor(epochs=5).fit(X, Y, checkpoint=tmp_path, resume=True)
    first = []

    def callback(epoch):
        first.append(epoch["epoch"])
        return True

    endless.fit(X, Y, checkpoint=tmp_path, resume=True, callback=callback)
    assert first[0] > 1 and len(first) == 1
    assert (tmp_path / "checkpoint").exists()


SCRIPT = """
import sys, numpy as np, espalier
draw = np.random.default_rng(1)
X = draw.uniform(size=(3000, 3)).astype(np.float32)
fitted = espalier.MonotonicRegressor(epochs=4, batch_size=500, ensemble=1, n_jobs=1).fit(
    X, 3 * X[:, 0] - X[:, 1], checkpoint=sys.argv[1], checkpoint_seconds=0, resume=True)
fitted.model_.save(sys.argv[2])
"""


def test_a_killed_fit_goes_on_to_the_same_bytes(tmp_path):
    def start(name):
        return subprocess.Popen([sys.executable, "-c", SCRIPT, tmp_path / name,
                                 tmp_path / (name + ".esp")])

    assert start("whole").wait() == 0
    killed = start("killed")
    while killed.poll() is None and not (tmp_path / "killed" / "checkpoint").exists():
        time.sleep(0.01)
    killed.kill()
    killed.wait()
    assert start("killed").wait() == 0
    assert (tmp_path / "killed.esp").read_bytes() == (tmp_path / "whole.esp").read_bytes()
    assert not (tmp_path / "killed" / "checkpoint").exists()


def test_resuming_wants_a_folder():
    with pytest.raises(espalier.Error, match="resume: wanted a checkpoint"):
        MonotonicRegressor().fit(X, Y, resume=True)
