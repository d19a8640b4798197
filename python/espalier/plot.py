# SPDX-License-Identifier: Apache-2.0
"""Pictures of models, one line each; they need matplotlib.

Each function takes a `Model` or a fitted estimator, draws into `ax` or into a new figure, and
returns what it drew into.

>>> import espalier
>>> loans = espalier.simulate(rows=300)
>>> y = loans.pop("default")
>>> risk = espalier.MonotonicClassifier(monotonic_cst={"debt_ratio": 1}, epochs=1).fit(loans, y)
>>> axes = espalier.plot.calibrators(risk)
>>> ax = espalier.plot.partial_dependence(risk, loans, "debt_ratio")
>>> ax = espalier.plot.surface(risk, loans, "debt_ratio", "income")
>>> ax = espalier.plot.lattice(risk.model_.lattices()[0])
>>> ax = espalier.plot.importance(risk, loans)
"""
from __future__ import annotations

from typing import Any

import numpy as np

from ._core import Error
from ._model import Calibrator, Lattice, Model

CURVE_POINTS = 100
SURFACE_POINTS = 25
SURFACE_ROWS = 200


def calibrators(fitted: Any, features: list[str] | None = None) -> np.ndarray:
    """The curves that the inputs pass first, a panel per feature; several in a panel where each
    lattice has one of its own."""
    panels: dict[str, list[Calibrator]] = {}
    for curve in _input_curves(_model_of(fitted)):
        if features is None or curve.name in features:
            panels.setdefault(curve.name, []).append(curve)
    if not panels:
        raise Error("plot: the model has no such calibrators of its inputs")
    _, axes = _panels(len(panels), in_a_row=4, size=(3.2, 2.4))
    for ax, (name, curves) in zip(axes.flat, panels.items()):
        for place, curve in enumerate(curves):
            _draw_curve(ax, curve, place, len(curves))
        ax.set_title(name)
    return axes


def partial_dependence(fitted: Any, X: Any, feature: str, *, ax: Any = None) -> Any:
    """The mean prediction over the rows of X while one feature is moved over its range."""
    model = _model_of(fitted)
    rows, column = model.rows(X), _column(model, feature)
    grid, words = _grid(model, rows, column, CURVE_POINTS)
    means = []
    for value in grid:
        rows[:, column] = value
        means.append(model.predict(rows).mean())
    ax = ax or _pyplot().subplots(layout="constrained")[1]
    if words is None:
        ax.plot(grid, means)
    else:
        ax.bar(words, means)
        ax.tick_params(axis="x", rotation=45)
    ax.set(xlabel=feature, ylabel=_output_name(model))
    return ax


def surface(fitted: Any, X: Any, first: str, second: str, *, ax: Any = None) -> Any:
    """The mean prediction over rows of X (at most 200) while two features are moved over their
    ranges, as a surface in three dimensions."""
    model = _model_of(fitted)
    rows = model.rows(X)
    rows = rows[np.linspace(0, len(rows) - 1, min(len(rows), SURFACE_ROWS)).astype(int)]
    columns = [_column(model, name) for name in (first, second)]
    grids = [_grid(model, rows, column, SURFACE_POINTS) for column in columns]
    means = np.empty((len(grids[0][0]), len(grids[1][0])))
    for i, one in enumerate(grids[0][0]):
        for j, other in enumerate(grids[1][0]):
            rows[:, columns[0]], rows[:, columns[1]] = one, other
            means[i, j] = model.predict(rows, n_jobs=1).mean()
    ax = _draw_surface(ax, grids[0][0], grids[1][0], means)
    for axis, (grid, words) in zip((ax.xaxis, ax.yaxis), grids):
        if words is not None:
            axis.set_ticks(grid, words)
    ax.set(xlabel=first, ylabel=second, zlabel=_output_name(model))
    return ax


def interactions(fitted: Any) -> np.ndarray:
    """The score over the cells of each pair of columns that the model has, a panel per pair, where
    all other columns are typical."""
    pairs = _model_of(fitted).interactions()
    if not pairs:
        raise Error("plot: the model has no pairs of columns")
    figure, axes = _panels(len(pairs), in_a_row=3, size=(4, 3.2))
    for ax, pair in zip(axes.flat, pairs):
        image = ax.imshow(pair.scores.T, origin="lower", aspect="auto")
        figure.colorbar(image, ax=ax)
        for axis, cells in zip((ax.xaxis, ax.yaxis), pair.cells):
            shown = range(0, len(cells), -(-len(cells) // 8))
            axis.set_ticks(shown, [cells[i] or "missing" for i in shown])
        ax.tick_params(axis="x", rotation=45)
        ax.set(xlabel=pair.columns[0], ylabel=pair.columns[1],
               title=f"strength {pair.strength:.2g}")
    return axes


def lattice(table: Lattice, first: int = 0, second: int = 1, *, ax: Any = None) -> Any:
    """One lattice along two of its wires, the others held at one half."""
    size = len(table.wires)
    if size < 2:
        raise Error(f"plot: the lattice has {size} wire, wanted at least 2")
    if first == second or not (0 <= first < size and 0 <= second < size):
        raise Error(f"plot: wires {first} and {second}: wanted two different ones of 0 to "
                    f"{size - 1}")
    grid = np.linspace(0, 1, SURFACE_POINTS)
    interpolate = {"multilinear": _multilinear, "simplex": _simplex}[table.interpolation]
    ax = _draw_surface(ax, grid, grid, interpolate(table.vertices, first, second, grid))
    ax.set(xlabel=table.wires[first], ylabel=table.wires[second], zlabel="output")
    return ax


def importance(fitted: Any, X: Any, *, ax: Any = None) -> Any:
    """How far the score moves when a feature is shuffled, the largest on top."""
    model = _model_of(fitted)
    moves = model.importance(X, repeats=1, rows=0).move
    order = np.argsort(moves)
    ax = ax or _pyplot().subplots(layout="constrained")[1]
    ax.barh([model.feature_names[i] for i in order], moves[order])
    ax.set_xlabel("mean move of the score")
    return ax


def _input_curves(model: Model) -> list[Calibrator]:
    """The calibrators of the first layer that does more than choose wires."""
    first = next((index for index, name in enumerate(model._core.layers()[0], 1)
                  if name != "gather"), None)
    return [curve for curve in model.calibrators() if curve.layer == first and curve.member == 1]


def _draw_curve(ax: Any, curve: Calibrator, place: int, count: int) -> None:
    """The curve `place` of the `count` that share a panel."""
    if curve.inputs.dtype == object:
        words = [word or "(missing)" for word in curve.inputs]
        width = 0.8 / count
        middles = np.arange(len(words)) + (place - (count - 1) / 2) * width
        ax.bar(middles, curve.outputs, width)
        ax.set_xticks(range(len(words)), words, rotation=45)
    else:
        ax.plot(curve.inputs, curve.outputs, marker=".")
    if curve.missing is not None:
        ax.axhline(curve.missing, linestyle=":", color=f"C{place}",
                   label="missing" if place == 0 else None)
        ax.legend()


def _multilinear(vertices: np.ndarray, first: int, second: int, grid: np.ndarray) -> np.ndarray:
    """A lattice on the grid of two wires, the others at one half: there it is the mean of both
    ends."""
    corners = vertices.mean(axis=tuple(set(range(vertices.ndim)) - {first, second}))
    if first > second:
        corners = corners.T
    weights = np.stack([1 - grid, grid], axis=1)
    return weights @ corners @ weights.T


def _simplex(vertices: np.ndarray, first: int, second: int, grid: np.ndarray) -> np.ndarray:
    """The same: from the lowest vertex a step along every wire, that of the largest input first,
    each as far as its input says."""
    x = np.full((len(grid) ** 2, vertices.ndim), 0.5)
    x[:, first], x[:, second] = np.repeat(grid, len(grid)), np.tile(grid, len(grid))
    rows, corner = np.arange(len(x)), np.zeros(x.shape, dtype=np.intp)
    values = np.full(len(x), vertices[(0,) * vertices.ndim], dtype=np.float64)
    for wire in np.argsort(-x, axis=1, kind="stable").T:
        before = vertices[tuple(corner.T)]
        corner[rows, wire] = 1
        values += x[rows, wire] * (vertices[tuple(corner.T)] - before)
    return values.reshape(len(grid), len(grid))


def _pyplot() -> Any:
    try:
        import matplotlib.pyplot as pyplot
    except ImportError as error:
        raise ImportError("espalier.plot wants matplotlib: pip install matplotlib") from error
    return pyplot


def _panels(count: int, in_a_row: int, size: tuple[float, float]) -> tuple[Any, np.ndarray]:
    """A figure of so many axes, each of that size; the last row may be shorter."""
    columns = min(in_a_row, count)
    rows = -(-count // columns)
    figure, axes = _pyplot().subplots(rows, columns, squeeze=False, layout="constrained",
                                      figsize=(size[0] * columns, size[1] * rows))
    for ax in axes.flat[count:]:
        figure.delaxes(ax)
    return figure, axes


def _model_of(fitted: Any) -> Model:
    return fitted if isinstance(fitted, Model) else fitted._require_fitted()


def _column(model: Model, feature: str) -> int:
    if feature not in model.feature_names:
        raise Error(f"plot: the model reads no feature '{feature}'")
    return model.feature_names.index(feature)


def _grid(model: Model, rows: np.ndarray, column: int,
          points: int) -> tuple[np.ndarray, list[str] | None]:
    """Where a feature is moved to: the range of its cells, or the codes of its words."""
    words = model._features[column].words
    if words is not None:
        return np.arange(len(words), dtype=np.float32), [word or "(missing)" for word in words]
    values = rows[:, column][np.isfinite(rows[:, column])]
    return np.linspace(values.min(), values.max(), points, dtype=np.float32), None


def _output_name(model: Model) -> str:
    positive = model._core.positive
    return model.label if positive is None else f"probability of '{positive}'"


def _draw_surface(ax: Any, x: np.ndarray, y: np.ndarray, z: np.ndarray) -> Any:
    ax = ax or _pyplot().subplots(subplot_kw={"projection": "3d"}, layout="constrained")[1]
    ax.plot_surface(x[:, None], y[None, :], z, cmap="viridis")
    return ax
