# SPDX-License-Identifier: Apache-2.0
"""Models as ONNX files, run by onnxruntime beside the predictor."""
import subprocess

import numpy as np
import onnx
import onnxruntime
import pandas as pd
import pytest

import espalier
from conftest import DIRECTIONS
from test_models import PRESETS


def columns_of(model, frame):
    """The inputs of an ONNX file: float32 or strings, [rows][1]; a missing word is empty."""
    return {name: (frame[name].fillna("").astype(str).to_numpy(dtype=object)
                   if name in model._categories
                   else frame[name].to_numpy(dtype=np.float32))[:, None]
            for name in model.feature_names}


def run(model, frame, path, outputs=("score", "prediction")):
    model.export(path)
    onnx.checker.check_model(onnx.load(path), full_check=True)
    session = onnxruntime.InferenceSession(path, providers=["CPUExecutionProvider"])
    return session.run(list(outputs), columns_of(model, frame))


def hostile(frame, random):
    """The frame with missing and unseen words, infinities, and numbers beyond the ends."""
    frame = frame.copy()
    for name in frame:
        at = random.random(len(frame))
        if not pd.api.types.is_numeric_dtype(frame[name]):
            words = ["", "NA", "n/A", "?", "never seen", "Ünseen"]
            frame[name] = np.where(at < 0.2, random.choice(words, len(frame)),
                                   frame[name].fillna("").to_numpy(dtype=object))
        else:
            values = [np.nan, np.inf, -np.inf, -1e30, 1e30, 0]
            frame[name] = np.where(at < 0.2, random.choice(values, len(frame)),
                                   frame[name].astype(np.float32))
    return frame


def assert_close(model, frame, path):
    score, prediction = run(model, frame, str(path))
    wanted = model.predict(frame, output="score")
    assert score.shape == (len(frame), 1) and score.dtype == np.float32
    assert np.abs(score[:, 0] - wanted).max() <= 1e-5 * np.ptp(wanted)
    np.testing.assert_allclose(prediction[:, 0], model.predict(frame),
                               atol=1e-5 * np.ptp(model.predict(frame)))


@pytest.mark.filterwarnings("ignore::espalier.Warning")
@pytest.mark.parametrize("architecture", [
    *PRESETS, "cal(10) lin(6) cal(5) lat(2x3,simplex) sum",
    "cal(4) lin(20) cal(3) lat(4x5,simplex) cal(3) lin(1)", "cal(4) lin(7) cal(2) lat(7x1) sum"])
def test_onnx_gives_the_scores_of_the_predictor_for_every_preset(architecture, tmp_path):
    loans = pd.DataFrame(espalier.simulate(rows=2000, seed=1))
    y = loans.pop("default")
    fitted = espalier.MonotonicClassifier(monotonic_cst=DIRECTIONS, architecture=architecture,
                                          epochs=20, ensemble=1).fit(loans, y)
    fresh = pd.DataFrame(espalier.simulate(rows=2000, seed=3)).drop(columns="default")
    random = np.random.default_rng(1)
    assert_close(fitted.model_, hostile(fresh, random), tmp_path / "model.onnx")


@pytest.mark.filterwarnings("ignore::espalier.Warning")
@pytest.mark.parametrize("architecture", ["dln", "random-lattices"])
def test_onnx_knows_pairs_of_columns(architecture, tmp_path):
    loans = pd.DataFrame(espalier.simulate(rows=2000, seed=1))
    y = loans.pop("default")
    fitted = espalier.MonotonicClassifier(
        monotonic_cst=DIRECTIONS, architecture=architecture, epochs=5, ensemble=1,
        interactions="age*loan_amount:9,region*age:5,purpose*housing:4,debt_ratio*age:7,"
                     "region*income:3,income*debt_ratio:5").fit(loans, y)
    assert len(fitted.model_.interactions()) == 6
    fresh = pd.DataFrame(espalier.simulate(rows=2000, seed=3)).drop(columns="default")
    random = np.random.default_rng(1)
    assert_close(fitted.model_, hostile(fresh, random), tmp_path / "model.onnx")


@pytest.mark.filterwarnings("ignore::espalier.Warning")
def test_onnx_holds_on_a_hundred_thousand_rows(fitted, tmp_path):
    fresh = pd.DataFrame(espalier.simulate(rows=100_000, seed=3)).drop(columns="default")
    random = np.random.default_rng(2)
    assert_close(fitted.model_, hostile(fresh, random), tmp_path / "model.onnx")


# Rows with the cells of training, and so on the same side of each question in any arithmetic.
@pytest.mark.filterwarnings("ignore::espalier.Warning")
@pytest.mark.parametrize("share", [0.5, 1.0])
def test_onnx_has_the_trees(share, tmp_path):
    loans = pd.DataFrame(espalier.simulate(rows=2000, seed=1, missing=0.1))
    y = loans.pop("default")
    model = espalier.MonotonicClassifier(monotonic_cst=DIRECTIONS, trees=30, tree_leaves=20,
                                         tree_share=share, epochs=1).fit(loans, y).model_
    assert model.verify(pairs=1000).holds
    assert_close(model, loans, tmp_path / "model.onnx")


@pytest.mark.filterwarnings("ignore::espalier.Warning")
def test_onnx_knows_numbers_as_labels_ordered_words_and_columns_called_like_outputs(tmp_path):
    random = np.random.default_rng(4)
    X = pd.DataFrame({"score": random.normal(size=400) * 1e6, "v0": random.random(400),
                      "prediction": random.choice(["low", "mid", "high", "2.50"], 400),
                      "kind": random.choice(["a", "b", "2.50", "ü"], 400)})
    X.loc[::7, "prediction"] = None
    X.loc[::5, "score"] = np.nan
    y = X["v0"] * 10 + (X["prediction"] == "high") + X["score"].fillna(0) / 1e6
    fitted = espalier.MonotonicRegressor(
        monotonic_cst={"score": 1, "prediction": -1}, epochs=3,
        order={"prediction": ["low", "2.50", "mid", "high"]}).fit(X, y)
    model = fitted.model_
    model.export(tmp_path / "model.onnx")
    session = onnxruntime.InferenceSession(tmp_path / "model.onnx")
    assert [value.name for value in session.get_outputs()] == ["prediction_", "score_"]
    assert [value.name for value in session.get_inputs()] == model.feature_names
    frame = hostile(X.assign(prediction=X["prediction"].fillna("")), random)
    found = session.run(["score_"], columns_of(model, frame))[0][:, 0]
    wanted = model.predict(frame, output="score")
    assert np.abs(found - wanted).max() <= 1e-5 * np.ptp(wanted)
    assert dict(session.get_modelmeta().custom_metadata_map)["espalier.model_hash"] == model.hash


def table_of_objectives(seed):
    random = np.random.default_rng(seed)
    X = pd.DataFrame({"a": random.random(600), "b": random.random(600),
                      "kind": random.choice(["x", "y", "z"], 600)})
    return X, X["a"] + 0.5 * X["b"] + random.normal(0, 0.2, 600), random.uniform(0.1, 2, 600)


@pytest.mark.filterwarnings("ignore::espalier.Warning")
@pytest.mark.parametrize("options", [
    {"quantile": [0.1, 0.5, 0.9]}, {"loss": "poisson"}, {"loss": "gamma"}, {"loss": "tweedie"},
    {"loss": "absolute_error"}, {"grades": ["low", "mid", "high"]}, {"classes": 3}], ids=str)
@pytest.mark.parametrize("side", [[], ["offset"], ["offset", "exposure"]], ids=str)
def test_onnx_gives_the_predictions_of_every_kind_of_label(options, side, tmp_path):
    X, latent, width = table_of_objectives(5)
    loss = options.get("loss")
    if "exposure" in side and loss not in ("poisson", "tweedie") or side and "classes" in options:
        pytest.skip("the label takes no such column")
    words = np.array(["low", "mid", "high"])[np.digitize(latent, [0.5, 0.9])]
    if "grades" in options or "classes" in options:
        options = {key: value for key, value in options.items() if key != "classes"}
        estimator, y = espalier.MonotonicClassifier(epochs=15, **options), words
    else:
        estimator = espalier.MonotonicRegressor(epochs=15, **options)
        y = {"poisson": np.round(np.exp(latent)), "gamma": np.exp(latent) * 1e6}.get(
            loss, np.exp(latent))
    beside = {name: pd.Series(width, name=f"the {name}") for name in side}
    model = estimator.fit(X, y, **beside).model_
    fresh = hostile(table_of_objectives(6)[0].assign(
        **{f"the {name}": width for name in side}), np.random.default_rng(7))
    if "exposure" in side:
        fresh["the exposure"] = width.astype(np.float32)
    if "offset" in side:
        fresh["the offset"] = width.astype(np.float32)
    model.export(tmp_path / "model.onnx")
    onnx.checker.check_model(onnx.load(tmp_path / "model.onnx"), full_check=True)
    session = onnxruntime.InferenceSession(tmp_path / "model.onnx")
    feed = columns_of(model, fresh)
    feed.update({f"the {name}": fresh[f"the {name}"].to_numpy(np.float32)[:, None]
                 for name in side})
    for output in ("score", "prediction"):
        wanted = model.predict(fresh, output=output)
        found = session.run([output], feed)[0].reshape(wanted.shape)
        assert np.abs(found - wanted).max() <= 1e-5 * np.ptp(wanted), output


@pytest.mark.filterwarnings("ignore::espalier.Warning")
@pytest.mark.parametrize("loss", ["poisson", "tweedie"])
def test_any_exposure_and_offset_count_alike_everywhere(program, tmp_path, loss):
    X, latent, width = table_of_objectives(8)
    X = X[["a", "b"]]
    fitted = espalier.MonotonicRegressor(epochs=3, loss=loss).fit(
        X, np.round(np.exp(latent)), exposure=width, offset=pd.Series(width - 1, name="base"))
    model = fitted.model_
    odd = np.float32([-np.inf, -3e38, -1, -1e-40, -0.0, 0, 1e-45, 1e-40, 0.5, 1, 7, 1e20, 3.4e38,
                      np.inf, np.nan])
    for column, other in (("exposure", "base"), ("base", "exposure")):
        rows = pd.DataFrame({"a": np.float32(0.3), "b": np.float32(0.6), column: odd,
                             other: np.float32(1)})[["a", "b", "exposure", "base"]]
        wanted = model.predict(rows.to_numpy(np.float32))
        assert np.isfinite(wanted).all() and (np.diff(wanted[:-1]) >= 0).all()
        plain = {"exposure": 1, "base": 0}[column]
        assert wanted[-1] == model.predict(rows[-1:].assign(**{column: plain}))[0]
        np.testing.assert_array_equal(model.predict(rows), wanted)
        np.testing.assert_array_equal(
            fitted.predict(rows[["a", "b"]], exposure=rows["exposure"], offset=rows["base"]),
            wanted)
        model.save(tmp_path / "m.esp")
        rows.to_csv(tmp_path / "rows.csv", index=False)
        printed = subprocess.run([program, "predict", tmp_path / "m.esp", tmp_path / "rows.csv"],
                                 check=True, capture_output=True, text=True)
        np.testing.assert_array_equal(np.float32(printed.stdout.split()[1:]), wanted)
        assert f"column '{column}'" in printed.stderr
        model.export(tmp_path / "m.onnx")
        session = onnxruntime.InferenceSession(tmp_path / "m.onnx")
        feed = {name: rows[name].to_numpy(np.float32)[:, None] for name in rows}
        np.testing.assert_allclose(session.run(["prediction"], feed)[0][:, 0], wanted, rtol=1e-4)


def test_an_export_that_cannot_be_made_leaves_no_file(fitted, tmp_path):
    with pytest.raises(espalier.Error, match=r"none of \.onnx, \.h, \.hpp"):
        fitted.model_.export(tmp_path / "model.pmml")
    with pytest.raises(espalier.Error, match="No such file"):
        fitted.model_.export(tmp_path / "absent" / "model.onnx")
    X = pd.DataFrame({"": [1.0, 2.0, 3.0, 4.0], "b": [1.0, 2.0, 1.0, 2.0]})
    nameless = espalier.MonotonicRegressor(epochs=1).fit(X, [1.0, 2.0, 3.0, 4.5]).model_
    with pytest.raises(espalier.Error, match="ONNX has no name for column"):
        nameless.export(tmp_path / "model.onnx")
    assert not list(tmp_path.iterdir())
    fitted.model_.export(tmp_path / "risk.h")
    assert "namespace risk_model" in (tmp_path / "risk.h").read_text()
