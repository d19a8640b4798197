# SPDX-License-Identifier: Apache-2.0
"""Pictures show what the model says."""
import matplotlib.pyplot as plt
import numpy as np
import pytest

import espalier
from espalier import plot


@pytest.fixture(autouse=True)
def closed_figures():
    yield
    plt.close("all")


def test_calibrators_have_a_panel_a_feature(fitted):
    axes = plot.calibrators(fitted, ["income", "debt_ratio"])
    assert [ax.get_title() for ax in axes.flat] == ["income", "debt_ratio"]
    drawn = axes.flat[1].lines[0].get_ydata()
    curve = next(c for c in fitted.model_.calibrators() if c.name == "debt_ratio")
    np.testing.assert_array_equal(drawn, curve.outputs)
    with pytest.raises(espalier.Error, match="no such calibrators"):
        plot.calibrators(fitted, ["absent"])


def test_calibrators_behind_a_choice_of_wires_are_those_of_the_inputs(loans):
    y = loans.pop("default")
    fitted = espalier.MonotonicClassifier(architecture="crystals", epochs=1,
                                           ensemble=1).fit(loans, y)
    curves = [c for c in fitted.model_.calibrators() if c.name == "income"]
    assert len(curves) > 1 and {c.layer for c in curves} == {2}
    names = {c.name for c in fitted.model_.calibrators()}
    assert {ax.get_title() for ax in plot.calibrators(fitted).flat} - {""} == names
    ax, = plot.calibrators(fitted, ["income"]).flat
    drawn = [line.get_ydata() for line in ax.lines if line.get_marker() == "."]
    assert len(drawn) == len(curves)
    for found, curve in zip(drawn, curves):
        np.testing.assert_array_equal(found, curve.outputs)
    bars, = plot.calibrators(fitted, ["purpose"]).flat
    wanted = [c.outputs for c in fitted.model_.calibrators() if c.name == "purpose"]
    np.testing.assert_array_equal([bar.get_height() for bar in bars.patches],
                                  np.concatenate(wanted))


@pytest.mark.parametrize("architecture", ["monotonic-dnn", "lin(4) cal(5) lin(1)"])
def test_curves_behind_other_layers_are_not_those_of_the_inputs(architecture):
    X = np.random.default_rng(1).uniform(size=(100, 3))
    fitted = espalier.MonotonicRegressor(architecture=architecture, epochs=1).fit(X, X[:, 0])
    with pytest.raises(espalier.Error, match="no such calibrators"):
        plot.calibrators(fitted)


def test_partial_dependence_rises_where_it_must(fitted, loans):
    ax = plot.partial_dependence(fitted, loans, "debt_ratio")
    x, y = ax.lines[0].get_data()
    assert (np.diff(y) >= 0).all() and y[-1] > y[0]
    at_least = loans.assign(debt_ratio=x[0])
    assert y[0] == pytest.approx(fitted.model_.predict(at_least).mean())
    assert ax.get_ylabel() == "probability of 'yes'"
    words = plot.partial_dependence(fitted.model_, loans, "purpose")
    assert len(words.patches) == len(fitted.model_.info["features"][-2]["words"])
    with pytest.raises(espalier.Error, match="no feature 'absent'"):
        plot.partial_dependence(fitted, loans, "absent")


def test_surfaces_move_two_features(fitted, loans):
    ax = plot.surface(fitted, loans, "debt_ratio", "purpose")
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("debt_ratio", "purpose")
    assert "home" in [text.get_text() for text in ax.get_yticklabels()]


def test_pairs_have_a_panel_each(loans):
    y = loans.pop("default")
    fitted = espalier.MonotonicClassifier(
        monotonic_cst={"debt_ratio": 1}, epochs=1, ensemble=1, architecture="dln(4x2)",
        interactions=["age*income:4", "region*debt_ratio:5"]).fit(loans, y)
    axes = plot.interactions(fitted).flat
    assert [(ax.get_xlabel(), ax.get_ylabel()) for ax in axes] == [("age", "income"),
                                                                   ("region", "debt_ratio")]
    shown = axes[1].images[0].get_array()
    np.testing.assert_array_equal(shown.T, fitted.model_.interactions()[1].scores)
    with pytest.raises(espalier.Error, match="no pairs of columns"):
        plot.interactions(fitted.set_params(interactions="none").fit(loans, y))


@pytest.fixture
def drawn(monkeypatch):
    """The surfaces that a test draws."""
    found, draw = [], plot._draw_surface
    monkeypatch.setattr(plot, "_draw_surface",
                        lambda ax, x, y, z: found.append((x, y, z)) or draw(ax, x, y, z))
    return found


def test_a_lattice_is_interpolated_between_its_vertices(drawn):
    table = espalier.Lattice(["a", "b", "c"], [False] * 3,
                             np.arange(8, dtype=np.float32).reshape(2, 2, 2), 1, 1)
    ax = plot.lattice(table, 2, 0)
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("c", "a")
    (c, a, z), = drawn
    np.testing.assert_allclose(z, 4 * a[None, :] + 2 * 0.5 + c[:, None])


@pytest.mark.parametrize("architecture", ["lat", "lat(1x3,simplex)"])
def test_a_lattice_is_drawn_as_the_network_computes_it(architecture, drawn):
    X = np.random.default_rng(1).uniform(size=(400, 3)).astype(np.float32)
    X[:2] = [0] * 3, [1] * 3  # the range of the wires
    y = 3 * X[:, 0] * X[:, 1] + X[:, 2] ** 2 - X[:, 0] * X[:, 2]
    model = espalier.MonotonicRegressor(architecture=architecture, epochs=20,
                                        valid_fraction=0).fit(X, y).model_
    table, = model.lattices()
    assert table.interpolation == ("simplex" if "simplex" in architecture else "multilinear")
    plot.lattice(table, 2, 0)
    (first, second, z), = drawn
    rows = np.full((first.size * second.size, 3), 0.5, dtype=np.float32)
    rows[:, model.feature_names.index(table.wires[2])] = np.repeat(first, second.size)
    rows[:, model.feature_names.index(table.wires[0])] = np.tile(second, first.size)
    np.testing.assert_allclose(model.info["offset"] + model.info["scale"] * z.ravel(),
                               model.predict(rows), atol=1e-4)


@pytest.mark.parametrize("size, wires, message", [
    (1, (0, 1), "the lattice has 1 wire, wanted at least 2"),
    (2, (0, 2), "wires 0 and 2: wanted two different ones of 0 to 1"),
    (2, (1, 1), "wires 1 and 1"),
])
def test_wires_that_a_lattice_does_not_have_are_refused(size, wires, message):
    table = espalier.Lattice(["a", "b"][:size], [False] * size, np.zeros((2,) * size), 1, 1)
    with pytest.raises(espalier.Error, match=message):
        plot.lattice(table, *wires)


def test_importance_is_sorted(fitted, loans):
    widths = [bar.get_width() for bar in plot.importance(fitted, loans).patches]
    assert widths == sorted(widths) and len(widths) == len(fitted.model_.feature_names)
