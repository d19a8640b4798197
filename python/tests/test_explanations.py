# SPDX-License-Identifier: Apache-2.0
"""Reasons and importance: the numbers of the library, from the same code as the command line."""
import json
import subprocess

import numpy as np
import pandas as pd
import pytest

import espalier


@pytest.fixture(scope="module")
def risk():
    loans = pd.DataFrame(espalier.simulate(rows=400))
    y = loans.pop("default")
    return espalier.MonotonicClassifier(monotonic_cst={"debt_ratio": 1, "income": -1}, epochs=2,
                                        architecture="dln(4x2)", ensemble=1).fit(loans, y)


def test_shares_sum_to_the_difference_and_scores_are_those_of_predict(risk, loans):
    model = risk.model_
    found = model.explain(loans)
    np.testing.assert_array_equal(found.scores, model.predict(loans, output="score"))
    np.testing.assert_allclose(found.shares.sum(axis=1), found.scores - found.baselines, atol=1e-5)
    assert found.columns == model.feature_names and not found.errors.any()
    drawn = model.explain(loans, exact_columns=0, permutations=200, random_state=3)
    np.testing.assert_allclose(drawn.shares.sum(axis=1), found.shares.sum(axis=1), atol=1e-5)
    assert (np.abs(drawn.shares - found.shares) <= 8 * drawn.errors + 1e-5).all()


def test_reasons_are_the_worst_shares(risk, loans):
    model = risk.model_
    shares = model.explain(loans).shares
    for row, reasons in zip(shares, model.reasons(loans, top=3)):
        wanted = sorted(np.abs(row), reverse=True)[:len(reasons)]
        assert [abs(reason.share) for reason in reasons] == wanted
    texts = {"income": "Income is too low"}
    for reasons in risk.reasons(loans.drop(columns="default"), adverse="higher", sentences=texts):
        assert all(reason.share > 0 for reason in reasons)
        assert all(reason.text == texts.get(reason.column, reason.column) for reason in reasons)


def test_a_row_of_its_own_is_the_baseline(risk, loans):
    found = risk.model_.explain(loans, baseline=loans[:1])
    assert not found.shares[0].any()
    assert (found.baselines == found.scores[0]).all()
    with pytest.raises(espalier.Error, match="income"):
        risk.model_.explain(loans, baseline=loans[["age"]])


def test_a_worse_value_never_gets_a_better_share(risk, loans):
    model = risk.model_
    rows = model.rows(loans[:50])
    column = model.feature_names.index("debt_ratio")
    last = None
    for value in np.float32([0, 0.1, 0.2, np.nextafter(np.float32(0.2), np.float32(1)), 0.9, 5]):
        rows[:, column] = value
        shares = model._explain(rows, None, None, None, None, 1, None).shares[:, column]
        assert last is None or (shares >= last).all()
        last = shares


def test_importance_judges_columns_with_and_without_labels(risk, loans):
    model, label = risk.model_, loans["default"]
    found = model.importance(loans, label, repeats=2, rows=50)
    assert found.metric == "log_loss" and found.columns == model.feature_names
    assert found.loss.shape == found.share_deviation.shape == (len(found.columns),)
    X = loans.drop(columns="default")
    np.testing.assert_array_equal(found.loss, model.importance(X, label, repeats=2, rows=0).loss)
    plain = model.importance(X, repeats=2, rows=0)
    assert np.isnan(plain.loss).all() and np.isnan(plain.share).all()
    np.testing.assert_array_equal(plain.move, found.move)
    assert risk.feature_importances_.sum() == pytest.approx(1)


def test_the_command_line_gives_the_same_numbers(program, risk, loans, tmp_path):
    def said_of(command):
        words = [program, command, "loans.esp", "loans.csv", "--json"]
        done = subprocess.run(words, capture_output=True, check=True, cwd=tmp_path)
        return json.loads(done.stdout)

    risk.model_.save(tmp_path / "loans.esp")
    loans.to_csv(tmp_path / "loans.csv", index=False)
    shares = [list(row["shares"].values()) for row in said_of("explain")["explanations"]]
    np.testing.assert_array_equal(np.float32(shares), np.float32(risk.model_.explain(loans).shares))
    said = said_of("importance")
    found = risk.model_.importance(loans, loans["default"])
    assert [column["loss"]["mean"] for column in said["columns"]] == found.loss.tolist()
    assert [column["share"]["mean"] for column in said["columns"]] == found.share.tolist()


@pytest.mark.parametrize("options, message", [
    ({"top": -1}, "top: -1 is not a whole number"),
    ({"adverse": "up"}, "adverse: 'up' is not one of either, higher, lower"),
    ({"output": "q0.5"}, "output: 'q0.5' is not one of prediction"),
    ({"permutations": 1}, "permutations: 1 is not"),
])
def test_wrong_arguments_are_refused(risk, loans, options, message):
    with pytest.raises(espalier.Error, match=message):
        risk.model_.reasons(loans, **options)


def test_labels_that_do_not_fit_are_refused(risk, loans):
    with pytest.raises(espalier.Error, match="inconsistent numbers of samples"):
        risk.model_.importance(loans, [0, 1])
    with pytest.raises(espalier.Error, match="column .default.: row 1: .7. is neither"):
        risk.model_.importance(loans, np.full(len(loans), 7))
