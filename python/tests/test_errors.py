# SPDX-License-Identifier: Apache-2.0
"""What cannot be used is refused as scikit-learn users expect, with a message that helps."""
import datetime

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from scipy import sparse

import espalier
from espalier import MonotonicClassifier, MonotonicRegressor
from espalier._params import in_python_names

X = np.random.default_rng(1).uniform(size=(60, 2))
FRAME = pd.DataFrame(X, columns=["age", "debt"])
Y = X[:, 0]


def changed(row, column, value, dtype=float):
    other = X.astype(dtype)
    other[row, column] = value
    return other


@pytest.mark.parametrize("given, message", [
    (X[:, 0], "Expected 2D array, got 1D"),
    (X.reshape(-1, 1, 2), "Expected 2D array, got 3D"),
    (X[:0], r"0 sample\(s\) \(shape=\(0, 2\)\)"),
    (X[:, :0], r"0 feature\(s\)"),
    (FRAME[:0], r"0 sample\(s\)"),
    (pd.DataFrame(), r"0 feature\(s\)"),
    (pl.DataFrame(), r"0 feature\(s\)"),
    (pl.DataFrame({"a": []}, schema={"a": pl.Float32}), r"0 sample\(s\)"),
    ({}, r"0 feature\(s\)"),
    (X[:40], r"inconsistent numbers of samples: \[40, 60\]"),
    (changed(3, 1, np.inf), "contains infinity .* column 'x1'"),
    (changed(3, 1, 1e300), "value too large for dtype.*float32"),
    (changed(3, 1, "abc", object), "column 'x1' has words such as 'abc' and numbers"),
    (FRAME.assign(debt=pd.Timestamp("2026-01-01")), "column 'debt' has the type datetime64"),
    (pl.DataFrame({"d": [datetime.date(2026, 1, 1)] * 60}), "column 'd': the Arrow type 'tdD'"),
    (pa.table({"l": [[1]] * 60}), r"column 'l': the Arrow type '\+l'"),
    (pd.DataFrame(X, columns=["a", "a"]), "two columns are named 'a'"),
    ({"a": X[:, 0], "b": X[:5, 1]}, "column 'b' has 5 rows, the others have 60"),
    (pl.DataFrame(X).lazy(), r"X is a LazyFrame, .* wanted X.collect\(\)"),
    (changed(3, 1, 10**400, object), "column 'x1': row 4: 1000.* is too large for a number"),
    ({"a": X[:, 0], "b": ["\ud800", *["x"] * 59]}, "column 'b': the word '.ud800' is no Unicode"),
    ({"a": X[:, 0], "\udc80": X[:, 1]}, "the column name '.udc80' is no Unicode text"),
])
def test_tables_that_cannot_be_used_are_refused(given, message):
    with pytest.raises(espalier.Error, match=message):
        MonotonicRegressor().fit(given, Y)


@pytest.mark.parametrize("given", [sparse.csr_matrix(X), sparse.csr_array(X),
                                   changed(0, 0, {"a": 1}, object),
                                   pd.DataFrame(X, columns=["a", 1])])
def test_things_that_are_no_table_are_type_errors(given):
    with pytest.raises(TypeError):
        MonotonicRegressor().fit(given, Y)


@pytest.mark.parametrize("params, message", [
    ({"monotonic_cst": {"deb": 1}}, "monotonic_cst: X has no column 'deb'; did you mean 'debt'"),
    ({"monotonic_cst": {"deb": 0}}, "no column 'deb'"),
    ({"monotonic_cst": {"debt": "up"}}, "'debt': 'up' is no direction; wanted 1 or"),
    ({"monotonic_cst": {"debt": 2}}, "2 is no direction"),
    ({"monotonic_cst": [1]}, "a value for each of the 2 columns"),
    ({"monotonic_cst": "increasing"}, "monotonic_cst: wanted a list, found 'increasing'"),
    ({"monotonic_cst": 1}, "monotonic_cst: wanted a list, found 1"),
    ({"monotonic_cst": [[1], 0]}, r"monotonic_cst: \[1\] is neither"),
    ({"monotonic_cst": np.ones((2, 1))}, "monotonic_cst: wanted one dimension"),
    ({"monotonic_cst": {"debt": [1]}}, r"'debt': \[1\] is no direction"),
    ({"monotonic_cst": ["increasing", "0"]}, "'debt': '0' is no direction"),
    ({"categorical_features": 3}, "categorical_features: wanted a list, found 3"),
    ({"categorical_features": [["age"]]}, r"categorical_features: \['age'\] is neither"),
    ({"categorical_features": [True]}, "categorical_features: a mask of 1 for the 2 columns"),
    ({"order": 3}, "order: wanted a list, found 3"),
    ({"order": [3]}, "order: 3 is no text"),
    ({"order": {"age": "1<2"}}, "order: column 'age': wanted a list, found '1<2'"),
    ({"n_jobs": 2**70}, "n_jobs: .* too many threads"),
    ({"n_jobs": "two"}, "n_jobs: 'two'"),
    ({"random_state": 2**70}, "'seed'"),
    ({"architecture": {1: 2}}, "'architecture': wanted a string"),
    ({"architecture": {(1, 2): 2}}, "options"),
    ({"architecture": object()}, "is no value of an option"),
    ({"categorical_features": ["aeg"]}, "no column 'aeg'; did you mean 'age'"),
    ({"architecture": "dlm"}, "dlm"),
    ({"epochs": -1}, "epochs: -1 is not between 1"),
    ({"epochs": "many"}, "'epochs': wanted a whole number"),
    ({"learning_rate": float("nan")}, "not finite"),
    ({"schedule": "linear"},
     "'schedule': wanted one of auto, averaged, cosine, constant, found 'linear'"),
    ({"metric": "auc"}, "metric: auc does not suit regression"),
    ({"n_jobs": 0}, "n_jobs: 0"),
    ({"random_state": -1}, "'seed'"),
    ({"order": ["age=1<2"]}, "order"),
])
def test_parameters_that_cannot_be_used_are_named(params, message):
    with pytest.raises(espalier.Error, match=message):
        MonotonicRegressor(**params).fit(FRAME, Y)


def test_an_unknown_parameter_is_a_type_error():
    with pytest.raises(TypeError, match="epoch"):
        MonotonicRegressor(epoch=3)
    with pytest.raises(ValueError, match="epoch"):
        MonotonicRegressor().set_params(epoch=3)


@pytest.mark.parametrize("y, message", [
    ([1] * 60, "one value only"),
    ([0.5, *[1.5] * 59], "Unknown label type"),
    ([None, *["a"] * 59], "y contains NaN"),
    (np.array(["a", 1] * 30, dtype=object), "its classes are of different kinds, int, str"),
    (np.ma.array([0, 1] * 30, mask=[True] + [False] * 59), "y contains NaN"),
    (np.where(X[:, 0] > 0.5, np.nan, 1.0), "y contains NaN"),
])
def test_labels_of_classification_are_two_classes(y, message):
    with pytest.raises(ValueError, match=message):
        MonotonicClassifier().fit(X, y)


def test_a_category_without_an_order_cannot_be_monotone():
    frame = FRAME.assign(city=["Paris", "Rome"] * 30)
    with pytest.raises(espalier.Error, match="'city' is a category without an order"):
        MonotonicRegressor(monotonic_cst={"city": 1}).fit(frame, Y)
    ordered = frame.assign(city=pd.Categorical(frame["city"], ["Rome", "Paris"], ordered=True))
    MonotonicRegressor(monotonic_cst={"city": 1}, epochs=1).fit(ordered, Y)
    lesser = frame.assign(city=pd.Categorical(["<5", "5+"] * 30, ["<5", "5+"], ordered=True))
    with pytest.raises(espalier.Error, match="one of its words a '<'"):
        MonotonicRegressor().fit(lesser, Y)


@pytest.mark.parametrize("params, message", [
    ({"monotonic_cst": {"word": 1}}, "monotonic_cst: 'word' is a category without an order; "
                                     "wanted a number, or order 'word="),
    ({"order": ["word=a<NA"]}, "not_missing"),
    ({"architecture": "calibrated-lattice", "monotonic_cst": None}, "wanted fewer columns in X or"),
    ({"quantile": 2}, "quantile: 2"),
    ({"epochs": -1}, "epochs: -1"),
])
def test_errors_name_the_parameters_of_python(params, message):
    wide = FRAME[["age"] * 12].set_axis([f"c{i}" for i in range(12)], axis=1)
    given = wide.assign(word=np.resize(["a", "b", "NA"], 60))
    with pytest.raises(espalier.Error) as found:
        MonotonicRegressor(**params).fit(given, Y)
    assert message in str(found.value) and "--" not in str(found.value)


def test_flags_in_messages_become_parameters():
    for message, wanted in (
            ("increasing: 'a' is no column", "monotonic_cst: 'a' is no column"),
            ("wanted fewer columns (--drop) or dln", "wanted fewer columns in X or dln"),
            ("pass --resume to go on", "pass resume=True to go on"),
            ("say --class-weight, not --seed 3", "say class_weight, not random_state 3"),
            ("column 'a--b': 'x' is -- not", "column 'a--b': 'x' is -- not")):
        assert in_python_names(message) == wanted


def test_a_fitted_model_refuses_other_columns():
    fitted = MonotonicRegressor(epochs=1).fit(FRAME, Y)
    for other, message in (
            (FRAME[["age"]], "yet now missing:\n- debt"),
            (FRAME[["debt", "age"]], "must be in the same order"),
            (FRAME.assign(more=1), "unseen at fit time:\n- more"),
            (FRAME.rename(columns={"age": "Age"}), "unseen at fit time:\n- Age")):
        with pytest.raises(ValueError, match=message):
            fitted.predict(other)
    with pytest.raises(espalier.Error, match="column 'debt': 'a' is not a number"):
        fitted.predict(FRAME.assign(debt="a"))
    with pytest.raises(espalier.Error, match="infinity"):
        fitted.predict(FRAME.replace(FRAME.iloc[0, 0], np.inf))
    with pytest.warns(UserWarning, match="does not have valid feature names"):
        fitted.predict(X)
    unnamed = MonotonicRegressor(epochs=1).fit(X, Y)
    with pytest.raises(ValueError, match="X has 3 features, but MonotonicRegressor is expecting 2"):
        unnamed.predict(np.zeros((4, 3), dtype=np.float32))
    with pytest.raises(ValueError, match="infinity"):
        unnamed.predict(np.full((4, 2), np.inf, dtype=np.float32))


def test_a_model_finds_its_columns_by_name_and_says_which_one_is_absent():
    model = MonotonicRegressor(epochs=1).fit(FRAME, Y).model_
    np.testing.assert_array_equal(model.predict(FRAME.assign(more=1)[["more", "debt", "age"]]),
                                  model.predict(FRAME))
    with pytest.raises(espalier.Error, match="no column 'debt'; did you mean 'debts'"):
        model.predict(FRAME.rename(columns={"debt": "debts"}))
    with pytest.raises(espalier.Error, match="3 columns"):
        model.predict(np.zeros((1, 3), dtype=np.float32))
    with pytest.raises(espalier.Error, match="neither prediction nor score"):
        model.predict(FRAME, output="logit")
    np.testing.assert_array_equal(model.predict(np.full((1, 2), np.inf)),
                                  model.predict(np.full((1, 2), 1e30)))


@pytest.mark.parametrize("class_weight, message", [
    ({"yse": 2}, "class_weight: 'yse' is no class of y; its classes are 'no', 'yes'"),
    ({"no": 1, "yes": 2, 1: 3}, "class_weight: 1 is no class of y"),
    ({"yes": "much"}, "class_weight: 'yes': 'much' is no number"),
])
def test_a_weight_of_what_is_no_class_is_refused(class_weight, message):
    with pytest.raises(espalier.Error, match=message):
        MonotonicClassifier(class_weight=class_weight).fit(X, np.where(Y > 0.5, "yes", "no"))
    with pytest.raises(espalier.Error, match=r"inconsistent numbers of samples: \[60, 2\]"):
        MonotonicClassifier(class_weight={"yes": 2}).fit(X, ["no", "yes"])


@pytest.mark.parametrize("options, kind, message", [
    ({"row": 3}, TypeError, "no option 'row'; the options are kind, rows, numbers, categories, "
                            "missing, truth, seed"),
    ({"rows": "many"}, espalier.Error, "simulate: rows: 'many' is not a whole number"),
    ({"rows": 2.5}, espalier.Error, "rows: 2.5 is not a whole number"),
    ({"seed": -1}, espalier.Error, "seed: -1 is not a whole number, 0 or more"),
    ({"missing": None}, espalier.Error, "missing: None is not a number"),
    ({"truth": "yes"}, espalier.Error, "truth: 'yes' is not True or False"),
    ({"rows": 0}, espalier.Error, "rows: 0 is not between 1"),
])
def test_options_of_made_up_loans_are_named(options, kind, message):
    with pytest.raises(kind, match=message):
        espalier.simulate(**options)


@pytest.mark.parametrize("weight, message", [
    (-np.ones(60), "-1 is no weight"), (np.zeros(60), "all weights are zero"),
    (["heavy"] * 60, "sample_weight: wanted a number"),
    ([{}] * 60, "sample_weight: wanted a number"),
    (np.ma.array(np.ones(60), mask=[True] + [False] * 59), "nan is no weight"),
    (np.ones(3), r"sample_weight.shape == \(3,\)"), (np.ones((60, 2)), "must be 1D")])
def test_weights_that_cannot_be_used_are_refused(weight, message):
    with pytest.raises(ValueError, match=message):
        MonotonicRegressor().fit(X, Y, sample_weight=weight)


@pytest.mark.parametrize("call, message", [
    (lambda model: model.verify(pairs=-1), "pairs: -1 is not a whole number"),
    (lambda model: model.verify(pairs=2**70), "pairs: .* is not a whole number"),
    (lambda model: model.verify(1, random_state="x"), "seed: 'x' is not a whole number"),
    (lambda model: model.verify(n_jobs=2**40), "n_jobs"),
    (lambda model: model.predict(X, output=3), "output: 3 is neither"),
    (lambda model: model.predict(X, n_jobs=2**40), "n_jobs"),
    (lambda model: model.save("\ud800"), "no name of a file"),
    (lambda model: model.save("a\0b"), "no name of a file: it has a NUL"),
    (lambda model: espalier.load("a\0b"), "no name of a file: it has a NUL"),
    (lambda model: espalier.load(b"absent.esp"), "absent.esp"),
])
def test_arguments_of_models_that_cannot_be_used_are_named(call, message):
    model = MonotonicRegressor(epochs=1).fit(X, Y).model_
    with pytest.raises(espalier.Error, match=message):
        call(model)


@pytest.mark.parametrize("arguments, message", [
    ({"callback": 3}, "callback: 3 cannot be called"),
    ({"trials": "many"}, "trials: 'many' is not a whole number"),
    ({"trials": -1}, "trials: -1 is not a whole number"),
    ({"folds": 2**70}, "folds"),
    ({"minutes": None}, "minutes: None is not a number"),
    ({"search": 3}, "search: wanted a list"),
    ({"search": [3]}, "search: 3 is no text"),
    ({"fix": [None]}, "fix: None is no text"),
    ({"results": "a\0b"}, "no name of a file"),
])
def test_arguments_of_tune_that_cannot_be_used_are_named(arguments, message):
    with pytest.raises(espalier.Error, match=message):
        espalier.tune(MonotonicRegressor(), X, Y, **arguments)


def test_arguments_of_fit_that_cannot_be_used_are_named():
    with pytest.raises(espalier.Error, match="callback: 3 cannot be called"):
        MonotonicRegressor().fit(X, Y, callback=3)
    with pytest.raises(espalier.Error, match="checkpoint_seconds: 'x' is not a number"):
        MonotonicRegressor().fit(X, Y, checkpoint_seconds="x")
    with pytest.raises(espalier.Error, match="no name of a file"):
        MonotonicRegressor().fit(X, Y, checkpoint="\ud800")
    with pytest.raises(espalier.Error, match="regression wants numbers"):
        MonotonicRegressor().fit(X, [10**400] * 60)


@pytest.mark.parametrize("eval_set, message", [
    (X, "eval_set: wanted"), ([(X, Y), (X, Y)], "eval_set: wanted"),
    ((X[:, :1], Y), "eval_set has 1 columns, wanted 2"),
    ((FRAME, Y), "no column 'x0'"), ((X, Y, Y), "fit got no sample_weight")])
def test_validation_rows_that_cannot_be_used_are_refused(eval_set, message):
    with pytest.raises(espalier.Error, match=message):
        MonotonicRegressor().fit(X, Y, eval_set=eval_set)
