# SPDX-License-Identifier: Apache-2.0
"""The page of `Model.report`; tests/page_test.py looks at it in a browser."""
import json
import re

import numpy as np
import pandas as pd
import pytest

import espalier


def data_of(path):
    with open(path, encoding="utf-8") as file:
        return json.loads(re.search(r'id="data">(.*?)</script>', file.read())[1])


@pytest.fixture(scope="module")
def loans():
    return pd.DataFrame(espalier.simulate(rows=300))


@pytest.fixture(scope="module")
def risk(loans):
    X, y = loans.drop(columns="default"), loans["default"]
    return espalier.MonotonicClassifier(monotonic_cst={"debt_ratio": 1}, epochs=1).fit(X, y)


def test_a_report_judges_with_y_or_with_the_label_of_the_frame(risk, loans, tmp_path):
    X, y = loans.drop(columns="default"), loans["default"]
    page = risk.model_.report(X, y, tmp_path / "a.html", by="region", pairs=1000)
    found = data_of(page)
    assert found["rows"] == 300 and found["proof"]["pairs"] == 1000
    assert found["quality"]["metrics"][0]["name"] == "accuracy"
    assert found["groups"]["column"] == "region"
    y_name = risk.model_.label
    whole = X.assign(**{y_name: y})
    again = data_of(risk.model_.report(whole, path=tmp_path / "b.html", by="region", pairs=1000))
    assert again["quality"] == found["quality"]
    with pytest.raises(espalier.Error, match="as a column, and y is given too"):
        risk.model_.report(whole, y, tmp_path / "c.html")
    assert not (tmp_path / "c.html").exists()


def test_without_labels_there_is_no_quality(risk, loans, tmp_path):
    X = loans.drop(columns="default")
    assert data_of(risk.model_.report(X, path=tmp_path / "a.html", pairs=0))["quality"] is None
    with pytest.raises(espalier.Error, match="by: X has no label"):
        risk.model_.report(X, path=tmp_path / "b.html", by="region", pairs=0)
    with pytest.raises(espalier.Error, match="no column 'regoin'; did you mean 'region'"):
        risk.model_.report(X, path=tmp_path / "b.html", by="regoin", pairs=0)


def test_numbers_and_weights_are_judged_too(tmp_path):
    drawn = np.random.default_rng(1)
    X = drawn.normal(size=(300, 3)).astype(np.float32)
    weights = drawn.uniform(0.5, 2, 300)
    model = espalier.MonotonicRegressor(epochs=1).fit(X, X[:, 0], sample_weight=weights).model_
    plain = data_of(model.report(X, X[:, 0], tmp_path / "a.html", pairs=0))["quality"]
    weighted = data_of(model.report(X, X[:, 0], tmp_path / "b.html", sample_weight=weights,
                                    pairs=0))["quality"]
    assert plain["metrics"][0]["value"] != weighted["metrics"][0]["value"]
    assert len(plain["fan"]) == 7
