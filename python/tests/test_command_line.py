# SPDX-License-Identifier: Apache-2.0
"""Python and the command line are two ways to the same bytes."""
import json
import subprocess

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import espalier
from conftest import DIRECTIONS
from espalier._params import DEFAULTS, LEFT_OUT, OF_CLASSIFIERS, OF_REGRESSORS, RENAMED


def run(program, *words):
    done = subprocess.run([program, *map(str, words)], capture_output=True, text=True, check=True)
    return done.stdout


def split(table, label="default"):
    return table.drop(columns=label), table[label]


LOAN_FLAGS = ["--increasing", "debt_ratio,late_payments", "--decreasing", "income,years_employed"]


@pytest.mark.parametrize("params, flags", [
    ({}, []),
    ({"random_state": 7, "epochs": 2, "n_jobs": 1}, ["--seed", 7, "--epochs", 2]),
    ({"architecture": "random-lattices", "class_weight": "balanced", "ensemble": 2, "epochs": 1},
     ["--architecture", "random-lattices", "--class-weight", "balanced", "--ensemble", 2,
      "--epochs", 1]),
], ids=["defaults", "another seed", "an ensemble"])
def test_the_same_table_and_options_give_the_same_file(program, tmp_path, params, flags):
    run(program, "simulate", "--rows", 800, "--seed", 3, "-o", tmp_path / "loans.csv")
    run(program, "train", tmp_path / "loans.csv", "--label", "default", *LOAN_FLAGS, *flags, "-o",
        tmp_path / "wanted.esp")
    X, y = split(pd.read_csv(tmp_path / "loans.csv"))
    fitted = espalier.MonotonicClassifier(monotonic_cst=DIRECTIONS, **params).fit(X, y)
    fitted.model_.save(tmp_path / "found.esp")
    assert (tmp_path / "found.esp").read_bytes() == (tmp_path / "wanted.esp").read_bytes()


def test_regression_with_weights_and_validation_rows_gives_the_same_file(program, tmp_path):
    draw = np.random.default_rng(1)
    table = pd.DataFrame(draw.uniform(size=(500, 3)).astype(np.float32), columns=list("abc"))
    table["weight"] = draw.integers(0, 3, 500)
    table["y"] = 10 * table["a"] - table["b"]
    table[:400].to_csv(tmp_path / "train.csv", index=False)
    table[400:].to_csv(tmp_path / "valid.csv", index=False)
    run(program, "train", tmp_path / "train.csv", "--valid", tmp_path / "valid.csv", "--label", "y",
        "--weight", "weight", "--increasing", "a", "-o", tmp_path / "wanted.esp")
    train, valid = table[:400], table[400:]
    fitted = espalier.MonotonicRegressor(monotonic_cst={"a": 1}).fit(
        train[list("abc")], train["y"], sample_weight=train["weight"],
        eval_set=(valid[list("abc")], valid["y"], valid["weight"]))
    assert fitted.model_.to_bytes() == (tmp_path / "wanted.esp").read_bytes()


def test_numbers_and_booleans_are_the_words_of_the_file(program, tmp_path):
    draw = np.random.default_rng(2)
    table = pd.DataFrame({"code": draw.choice([7, 100000, 16777217, 2**53 + 1], 300),
                          "share": draw.choice([0.5, 0.0001, 1234567.5, 1e-05], 300),
                          "flag": draw.choice([True, False], 300), "x": draw.integers(0, 99, 300)})
    table["y"] = table["x"] + 50 * (table["code"] == 7) - 20 * table["flag"]
    table.to_csv(tmp_path / "table.csv", index=False)
    run(program, "train", tmp_path / "table.csv", "--label", "y", "--categorical", "code,share",
        "--epochs", 2, "-o", tmp_path / "wanted.esp")
    printed = run(program, "predict", tmp_path / "wanted.esp", tmp_path / "table.csv")
    X, y = split(table, "y")
    for frame in (X, pl.from_pandas(X), pa.Table.from_pandas(X)):
        fitted = espalier.MonotonicRegressor(
            epochs=2, categorical_features=["code", "share", "flag"]).fit(frame, y)
        assert fitted.model_.to_bytes() == (tmp_path / "wanted.esp").read_bytes()
        found = espalier.load(tmp_path / "wanted.esp").predict(frame)
        np.testing.assert_array_equal(found, np.array(printed.split()[1:], dtype=np.float32))


def test_categories_of_ints_with_a_hole_are_the_same_words(program, tmp_path):
    draw = np.random.default_rng(3)
    table = pd.DataFrame({"c": draw.integers(0, 5, 300), "x": draw.integers(0, 99, 300)})
    table["y"] = table["x"] + 50 * (table["c"] == 2)
    holes = table.copy()
    holes.loc[7, "c"] = np.nan  # pandas writes 1.0 now
    for name, train, test in (("one", table, holes), ("two", holes, table)):
        train.to_csv(tmp_path / "train.csv", index=False)
        test.to_csv(tmp_path / "test.csv", index=False)
        run(program, "train", tmp_path / "train.csv", "--label", "y", "--categorical", "c",
            "--epochs", 2, "-o", tmp_path / f"{name}.esp")
        fitted = espalier.MonotonicRegressor(epochs=2, categorical_features=["c"]).fit(
            *split(train, "y"))
        assert fitted.model_.to_bytes() == (tmp_path / f"{name}.esp").read_bytes()
        printed = run(program, "predict", tmp_path / f"{name}.esp", tmp_path / "test.csv")
        np.testing.assert_array_equal(fitted.predict(test.drop(columns="y")),
                                      np.array(printed.split()[1:], dtype=np.float32))


def test_both_predict_the_same_from_one_file(program, tmp_path, fitted):
    fitted.model_.save(tmp_path / "model.esp")
    run(program, "simulate", "--rows", 50, "--seed", 9, "-o", tmp_path / "rows.csv")
    printed = run(program, "predict", tmp_path / "model.esp", tmp_path / "rows.csv")
    wanted = np.array(printed.split()[1:], dtype=np.float32)
    rows = pd.read_csv(tmp_path / "rows.csv")
    np.testing.assert_array_equal(espalier.load(tmp_path / "model.esp").predict(rows), wanted)
    np.testing.assert_array_equal(
        fitted.predict_proba(rows.drop(columns="default"))[:, 1], wanted)


def test_both_give_the_same_certificate(program, tmp_path, fitted):
    fitted.model_.save(tmp_path / "model.esp")
    printed = json.loads(run(program, "verify", tmp_path / "model.esp", "--pairs", 500, "--json"))
    certificate = fitted.model_.verify(pairs=500)
    for key in ("increasing", "decreasing", "inequalities", "violations", "pairs",
                "pair_violations", "largest_drop", "thresholds",
                "thresholds_crossed", "seed", "culprits"):
        assert getattr(certificate, key) == printed[key], key
    assert certificate.holds and certificate.model_hash == fitted.model_.hash


def test_every_field_is_a_parameter_with_its_default(program):
    fields = {field["name"]: field["default"] for field in espalier._core.train_fields()}
    own = {"monotonic_cst", "categorical_features", "not_missing"}
    for estimator, others in ((espalier.MonotonicClassifier(), OF_REGRESSORS),
                              (espalier.MonotonicRegressor(), OF_CLASSIFIERS)):
        params, left_out = estimator.get_params(), LEFT_OUT + others
        for name, default in fields.items():
            if name in left_out:
                assert name not in params
            elif name not in DEFAULTS:
                assert params[RENAMED.get(name, name)] == default
        assert set(params) == own | {RENAMED.get(name, name) for name in fields
                                     if name not in left_out}
    usage = run(program, "train", "--help-all")
    assert all(f"--{name.replace('_', '-')}" in usage for name in fields)
