# SPDX-License-Identifier: Apache-2.0
"""Losses, quantiles, grades and classes in the estimators."""
import json
import subprocess

import numpy as np
import pandas as pd
import pytest

import espalier
from espalier import MonotonicClassifier, MonotonicRegressor

ROWS = 400
QUICK = {"epochs": 4, "ensemble": 1}


@pytest.fixture(scope="module")
def table():
    random = np.random.default_rng(1)
    X = random.uniform(size=(ROWS, 3)).astype(np.float32)
    exposure = random.uniform(0.1, 2, ROWS)
    claims = random.poisson(exposure * np.exp(X[:, 0] - 1))
    return X, exposure, claims


def latent(X, seed=2):
    return X[:, 0] + 0.5 * X[:, 1] + np.random.default_rng(seed).normal(0, 0.2, len(X))


@pytest.mark.parametrize("loss", ["poisson", "tweedie"])
def test_the_prediction_is_proportional_to_the_exposure(table, loss):
    X, exposure, claims = table
    model = MonotonicRegressor(loss=loss, monotonic_cst=[1, 0, 0], **QUICK)
    model.fit(X, claims, exposure=exposure)
    rate = model.predict(X)
    assert (model.predict(X, exposure=2.0) == 2 * rate).all()
    assert (model.predict(X, exposure=np.full(ROWS, 0.25)) == rate / 4).all()
    np.testing.assert_allclose(model.predict(X, exposure=exposure).sum(), claims.sum(), rtol=1e-4)
    assert model.model_.verify(pairs=2000).holds
    frame = pd.DataFrame(X, columns=["a", "b", "c"])
    same = MonotonicRegressor(loss=loss, monotonic_cst=[1, 0, 0], **QUICK)
    same.fit(frame, claims, exposure=pd.Series(exposure, name="years"))
    assert (same.predict(frame, exposure=exposure) == model.predict(X, exposure=exposure)).all()
    frame["years"] = exposure.astype(np.float32)
    assert (same.model_.predict(frame) == model.predict(X, exposure=exposure)).all()


@pytest.mark.parametrize("loss", ["poisson", "gamma", "tweedie"])
@pytest.mark.parametrize("power", [-7, 3, 40])
def test_labels_in_units_of_a_power_of_two_give_the_same_bits(table, loss, power):
    X, _, claims = table
    y = claims + (1 if loss == "gamma" else 0)
    plain = MonotonicRegressor(loss=loss, **QUICK).fit(X, y).predict(X)
    scaled = MonotonicRegressor(loss=loss, **QUICK).fit(X, np.ldexp(y, power)).predict(X)
    assert (scaled == np.ldexp(plain, power)).all()


def test_an_offset_is_added_to_the_score(table):
    X, _, claims = table
    model = MonotonicRegressor(loss="poisson", **QUICK)
    model.fit(X, claims, offset=np.log(1 + X[:, 2]))
    low, high = model.predict(X, offset=0), model.predict(X, offset=np.log(2))
    np.testing.assert_allclose(high, 2 * low, rtol=1e-5)
    with pytest.raises(espalier.Error, match="offset: fit got one"):
        model.predict(X)
    risk = MonotonicClassifier(**QUICK).fit(X, claims > 0, offset=X[:, 2])
    assert (risk.predict_proba(X, offset=1)[:, 1] > risk.predict_proba(X, offset=0)[:, 1]).all()


def test_quantiles_never_cross(table):
    X, _, _ = table
    y = latent(X)
    model = MonotonicRegressor(quantile=[0.1, 0.5, 0.9], monotonic_cst=[1, 0, 0], **QUICK)
    predicted = model.fit(X, y).predict(X)
    assert predicted.shape == (ROWS, 3) and model.model_.outputs == ["q0.1", "q0.5", "q0.9"]
    assert (np.diff(predicted, axis=1) >= 0).all()
    assert model.model_.verify(pairs=2000).levels == model.model_.outputs
    one = MonotonicRegressor(quantile=0.9, **QUICK).fit(X, y).predict(X)
    assert one.shape == (ROWS,) and (one > y).mean() > 0.6


def test_grades_of_a_list_and_of_an_ordered_categorical_are_one_model(table):
    X, _, _ = table
    words = np.array(["poor", "fair", "good"])[np.digitize(latent(X), [0.5, 0.9])]
    grades = ["poor", "fair", "good"]
    by_list = MonotonicClassifier(grades=grades, monotonic_cst=[1, 0, 0], **QUICK).fit(X, words)
    column = pd.Series(pd.Categorical(words, grades, ordered=True), name="y")
    by_dtype = MonotonicClassifier(monotonic_cst=[1, 0, 0], **QUICK).fit(X, column)
    assert by_list.model_.hash == by_dtype.model_.hash
    assert by_list.classes_.tolist() == grades and by_list.model_.outputs == ["ge_fair", "ge_good"]
    probabilities = by_list.predict_proba(X)
    assert (probabilities >= 0).all()
    np.testing.assert_allclose(probabilities.sum(axis=1), 1, rtol=1e-6)
    codes = {grade: code for code, grade in enumerate(grades)}
    rising = np.repeat(X[:1], 50, axis=0)
    rising[:, 0] = np.linspace(0, 1, 50)
    assert (np.diff([codes[grade] for grade in by_list.predict(rising)]) >= 0).all()
    numbers = np.digitize(latent(X), [0.5, 0.9]) + 1
    by_number = MonotonicClassifier(grades=[1, 2, 3], **QUICK).fit(X, numbers)
    assert set(by_number.predict(X)) <= {1, 2, 3}


@pytest.mark.parametrize("classes", [[3, 1, 2], ["b", "a", "c"]])
def test_classes_without_an_order(table, classes):
    X, _, _ = table
    y = np.array(classes)[np.digitize(latent(X), [0.5, 0.9])]
    model = MonotonicClassifier(**QUICK).fit(X, y)
    assert model.classes_.tolist() == sorted(classes)
    probabilities = model.predict_proba(X)
    assert probabilities.shape == (ROWS, 3) == model.decision_function(X).shape
    np.testing.assert_allclose(probabilities.sum(axis=1), 1, rtol=1e-6)
    assert (model.predict(X) == model.classes_[probabilities.argmax(axis=1)]).all()
    assert model.score(X, y) > 0.5


@pytest.mark.parametrize("change, wanted", [
    ({"loss": "poisson"}, "0 or more"),
    ({"loss": "gamma"}, "more than 0"),
    ({"loss": "log_loss"}, "MonotonicClassifier"),
    ({"loss": "quantile"}, "quantile: which one"),
    ({"quantile": [0.5, 0.1]}, "rising order"),
    ({"quantile": 0}, "not between 0 and 1"),
    ({"loss": "tweedie", "power": 2}, "is gamma"),
    ({"loss": "absolute_error", "quantile": 0.3}, "does not go with the loss absolute_error"),
])
def test_what_does_not_suit_is_refused(table, change, wanted):
    X, _, _ = table
    y = latent(X) - 1
    with pytest.raises(espalier.Error, match=wanted):
        MonotonicRegressor(**change, **QUICK).fit(X, y)


def test_a_direction_belongs_to_a_class(table):
    X, _, _ = table
    words = np.array(["a", "b", "c"])[np.digitize(latent(X), np.quantile(latent(X), [0.3, 0.7]))]
    X, name = pd.DataFrame(X, columns=["x", "y", "z"]), "x"
    model = MonotonicClassifier(monotonic_cst={f"c:{name}": 1, f"a:{name}": -1}, **QUICK)
    proof = model.fit(X, words).model_.verify(pairs=1000)
    assert proof.holds and proof.increasing == [f"c:{name}"] and proof.decreasing == [f"a:{name}"]
    low, high = X.assign(**{name: X[name].min()}), X.assign(**{name: X[name].max()})
    rise = model.predict_proba(high) - model.predict_proba(low)
    assert (rise[:, 0] <= 0).all() and (rise[:, 2] >= 0).all() and np.abs(rise).max() > 0
    with pytest.raises(espalier.Error, match="they add up to 1"):
        MonotonicClassifier(monotonic_cst={f"{word}:{name}": 1 for word in "abc"}).fit(X, words)


@pytest.mark.parametrize("loss", ["poisson", "tweedie", "gamma"])
def test_score_is_the_explained_deviance_that_evaluate_prints(table, program, tmp_path, loss):
    X, exposure, claims = table
    weights = np.random.default_rng(3).integers(1, 4, ROWS).astype(float)
    beside = {"offset": X[:, 2]}
    if loss == "gamma":
        claims = claims + 0.5
    else:
        beside["exposure"] = exposure
    frame = pd.DataFrame(X, columns=["a", "b", "c"])
    model = MonotonicRegressor(loss=loss, **QUICK)
    model.fit(frame, claims, sample_weight=weights, **beside).model_.save(tmp_path / "m.esp")
    rows = frame.assign(y=claims, sample_weight=weights, **beside)
    rows.to_csv(tmp_path / "rows.csv", index=False)
    words = [program, "evaluate", tmp_path / "m.esp", tmp_path / "rows.csv", "--json"]
    printed = subprocess.run(words, capture_output=True, check=True).stdout
    wanted = json.loads(printed)["d2"]
    assert model.score(frame, claims, weights, **beside) == pytest.approx(wanted, abs=1e-6)
    assert model.score(frame, claims, **beside) != pytest.approx(wanted, abs=1e-6)
    if loss != "gamma":
        with pytest.raises(espalier.Error, match="exposure: wanted a finite number above 0"):
            model.score(frame, claims, exposure=0.0, offset=X[:, 2])
        with pytest.raises(espalier.Error, match="y: the loss .* wanted 0 or more"):
            model.score(frame, -claims - 1, **beside)


def test_score_of_other_losses_is_r2_and_takes_an_offset(table):
    X, _, _ = table
    y, offset = latent(X) + X[:, 2], X[:, 2]
    plain = MonotonicRegressor(**QUICK).fit(X, y)
    predicted = plain.predict(X).astype(np.float64)
    wanted = 1 - ((y - predicted) ** 2).sum() / ((y - y.mean()) ** 2).sum()
    assert plain.score(X, y) == pytest.approx(wanted)
    assert MonotonicRegressor(**QUICK).fit(X, y, offset=offset).score(X, y, offset=offset) > 0.5
    risk = MonotonicClassifier(**QUICK).fit(X, y > 1, offset=offset)
    assert risk.score(X, y > 1, offset=offset) == (risk.predict(X, offset=offset) == (y > 1)).mean()
    several = MonotonicRegressor(quantile=[0.1, 0.9], **QUICK).fit(X, y)
    with pytest.raises(espalier.Error, match="several quantiles"):
        several.score(X, y)


def test_more_refusals(table):
    X, exposure, claims = table
    words = np.array(["a", "b", "c"])[np.arange(ROWS) % 3]
    with pytest.raises(espalier.Error, match="classes without an order"):
        MonotonicClassifier(monotonic_cst=[1, 0, 0]).fit(X, words)
    with pytest.raises(espalier.Error, match="'c' of y is none of"):
        MonotonicClassifier(grades=["a", "b", "d"]).fit(X, words)
    with pytest.raises(espalier.Error, match="wanted the loss poisson or tweedie"):
        MonotonicRegressor().fit(X, claims, exposure=exposure)
    model = MonotonicRegressor(loss="poisson", **QUICK).fit(X, claims, exposure=exposure)
    for odd, factor in ((0, 0), (-1, 0), (np.nan, 1)):
        with pytest.warns(espalier.Warning, match="400 of 400 values are no exposure, such as"):
            predicted = model.predict(X, exposure=odd)
        np.testing.assert_array_equal(predicted, factor * model.predict(X))
    with pytest.raises(espalier.Error, match="eval_set: wanted its exposure"):
        model.fit(X, claims, exposure=exposure, eval_set=(X, claims))
    rows = {"X": X, "y": claims, "exposure": exposure}
    with pytest.warns(espalier.Warning, match="validation rows equal training rows"):
        assert model.fit(X, claims, exposure=exposure, eval_set=rows).n_iter_ == 4
