# SPDX-License-Identifier: Apache-2.0
"""Saving, looking into models, and copies of estimators."""
import copy
import inspect
import pickle
import re

import joblib
import numpy as np
import pytest
from sklearn.base import clone

import espalier
from conftest import DIRECTIONS

ARCHITECTURE_HELP = next(field["help"] for field in espalier._core.train_fields()
                         if field["name"] == "architecture")
PRESETS = re.search(r"a preset \((.*?);", ARCHITECTURE_HELP)[1].split(", ")


@pytest.mark.parametrize("architecture", [*PRESETS, "crystals(5x2)",
                                          "cal(10) lin(6) cal(5) lat(2x3) sum"])
def test_every_preset_trains_proves_and_survives_a_file(architecture, loans, tmp_path):
    y = loans.pop("default")
    fitted = espalier.MonotonicClassifier(
        monotonic_cst=DIRECTIONS, architecture=architecture, epochs=1).fit(loans, y)
    certificate = fitted.model_.verify(pairs=1000)
    assert certificate.holds and certificate.inequalities > 0
    assert sorted(certificate.increasing) == ["debt_ratio", "late_payments"]
    fitted.model_.save(tmp_path / "model.esp")
    loaded = espalier.load(tmp_path / "model.esp")
    assert loaded.hash == fitted.model_.hash
    np.testing.assert_array_equal(loaded.predict(loans), fitted.predict_proba(loans)[:, 1])
    np.testing.assert_array_equal(loaded.predict(loans, output="score"),
                                  fitted.decision_function(loans))
    copied = pickle.loads(pickle.dumps(fitted))
    np.testing.assert_array_equal(copied.predict(loans), fitted.predict(loans))


@pytest.mark.parametrize("copied", [
    lambda fitted, path: pickle.loads(pickle.dumps(fitted)),
    lambda fitted, path: copy.deepcopy(fitted),
    lambda fitted, path: joblib.load(joblib.dump(fitted, path / "fitted.joblib")[0]),
], ids=["pickle", "deepcopy", "joblib"])
def test_copies_of_a_fitted_estimator_have_the_same_bits(fitted, loans, tmp_path, copied):
    X = loans.drop(columns="default")
    other = copied(fitted, tmp_path)
    assert other.model_.to_bytes() == fitted.model_.to_bytes()
    np.testing.assert_array_equal(other.predict_proba(X), fitted.predict_proba(X))
    np.testing.assert_array_equal(other.history_["train_loss"], fitted.history_["train_loss"])


def test_a_clone_has_the_parameters_and_no_model(fitted):
    other = clone(fitted)
    assert other.get_params() == fitted.get_params() and not hasattr(other, "model_")
    assert list(inspect.signature(type(fitted)).parameters) == list(
        inspect.signature(type(fitted).__init__).parameters)[1:]


def test_calibrators_are_curves_of_the_features(fitted):
    curves = {curve.name: curve for curve in fitted.model_.calibrators() if curve.layer == 1}
    debt, income = curves["debt_ratio"], curves["income"]
    assert debt.inputs.dtype == debt.outputs.dtype == np.float32
    assert (np.diff(debt.inputs) > 0).all()
    assert (np.diff(debt.outputs) >= 0).all() and (np.diff(income.outputs) <= 0).all()
    assert income.missing is not None  # training had missing incomes


def test_a_category_before_a_lattice_has_an_output_a_word(loans):
    y = loans.pop("default")
    fitted = espalier.MonotonicClassifier(architecture="random-lattices", epochs=1).fit(loans, y)
    curve = next(c for c in fitted.model_.calibrators() if c.name == "purpose")
    assert set(curve.inputs) == set(loans["purpose"].dropna()) | {""}
    assert len(curve.inputs) == len(curve.outputs)


def test_lattices_have_an_axis_a_wire_and_rise_where_they_must(fitted):
    lattices = fitted.model_.lattices()
    assert lattices
    for lattice in lattices:
        assert lattice.vertices.shape == (2,) * len(lattice.wires)
        for axis, rises in enumerate(lattice.rises):
            if rises:
                assert (np.diff(lattice.vertices, axis=axis) >= 0).all()
    assert any(any(lattice.rises) for lattice in lattices)


def test_a_lattice_is_what_the_network_computes():
    X = np.array([[0, 0], [0, 1], [1, 0], [1, 1]] * 20, dtype=np.float32)
    y = X[:, 0] + 3 * X[:, 1]
    model = espalier.MonotonicRegressor(architecture="lat", monotonic_cst=[1, 1],
                                        epochs=3).fit(X, y).model_
    lattice, = model.lattices()
    vertices = {wire: axis for axis, wire in enumerate(lattice.wires)}
    info = model.info
    for row in X[:4]:
        index = tuple(int(row[["x0", "x1"].index(wire)]) for wire in vertices)
        wanted = info["offset"] + info["scale"] * lattice.vertices[index]
        assert model.predict(row.reshape(1, -1))[0] == pytest.approx(wanted, rel=1e-5)


def test_the_feature_that_decides_is_the_most_important_one():
    draw = np.random.default_rng(1)
    X = draw.uniform(size=(500, 4)).astype(np.float32)
    X[:, 3] = 1  # is ignored
    with pytest.warns(espalier.Warning, match="'x3' is ignored"):
        fitted = espalier.MonotonicRegressor().fit(X, 5 * X[:, 1] + X[:, 2])
    shares = fitted.feature_importances_
    assert shares.argmax() == 1 and shares.argsort()[-2] == 2 and shares[3] == 0
    assert shares.sum() == pytest.approx(1)
    moves = fitted.model_.importance(X[:, :3]).move
    assert moves.argmax() == 1 and moves[0] < 0.1 * moves[1]


def test_a_damaged_file_is_refused_with_the_message_of_the_library(fitted, tmp_path):
    path = tmp_path / "broken.esp"
    damaged = bytearray(fitted.model_.to_bytes())
    damaged[len(damaged) // 2] ^= 1
    path.write_bytes(damaged)
    with pytest.raises(espalier.Error, match="broken.esp"):
        espalier.load(path)
    with pytest.raises(espalier.Error, match="absent.esp"):
        espalier.load(tmp_path / "absent.esp")
    with pytest.raises(ValueError):
        espalier.Model.from_bytes(b"not a model")


def test_raising_an_input_never_lowers_the_prediction_by_a_bit(fitted, loans):
    rows = fitted.model_.rows(loans)
    column = fitted.model_.feature_names.index("debt_ratio")
    lower = fitted.model_.predict(rows)
    with np.errstate(invalid="ignore"):
        rows[:, column] = np.nextafter(rows[:, column], np.float32(np.inf))
    assert (fitted.model_.predict(rows) >= lower)[~np.isnan(rows[:, column])].all()


def test_importances_stay_away_from_very_wide_tables():
    X = np.random.default_rng(1).uniform(size=(20, 1001)).astype(np.float32)
    narrow = espalier.MonotonicRegressor(architecture="calibrated-linear", epochs=1, ensemble=1)
    assert len(narrow.fit(X[:, :1000], X[:, 0]).feature_importances_) == 1000
    assert not hasattr(narrow.fit(X, X[:, 0]), "feature_importances_")


def test_a_named_pair_is_shown_with_its_surface(loans):
    y = loans.pop("default")
    risk = espalier.MonotonicClassifier(monotonic_cst={"debt_ratio": 1}, epochs=2, ensemble=1,
                                        interactions=["age*loan_amount:8", "region*age:4"])
    pair, other = risk.fit(loans, y).model_.interactions()
    assert pair.columns == ("age", "loan_amount")
    assert pair.scores.shape == tuple(len(cells) for cells in pair.cells)
    assert pair.strength > 0
    assert other.columns == ("region", "age")
    model = risk.set_params(interactions="region*debt_ratio:4").fit(loans, y).model_
    surface = model.interactions()[0].scores
    assert surface.shape[1] >= 4 and (np.diff(surface[:, -4:]) >= 0).all()
    assert model.verify(pairs=1000).holds
