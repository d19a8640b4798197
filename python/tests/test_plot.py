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


def test_a_lattice_is_interpolated_between_its_vertices(monkeypatch):
    drawn, draw = [], plot._draw_surface
    monkeypatch.setattr(plot, "_draw_surface",
                        lambda ax, x, y, z: drawn.append((x, y, z)) or draw(ax, x, y, z))
    table = espalier.Lattice(["a", "b", "c"], [False] * 3,
                             np.arange(8, dtype=np.float32).reshape(2, 2, 2), 1, 1)
    ax = plot.lattice(table, 2, 0)
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("c", "a")
    (c, a, z), = drawn
    np.testing.assert_allclose(z, 4 * a[None, :] + 2 * 0.5 + c[:, None])


def test_importance_is_sorted(fitted, loans):
    widths = [bar.get_width() for bar in plot.importance(fitted, loans).patches]
    assert widths == sorted(widths) and len(widths) == len(fitted.model_.feature_names)
