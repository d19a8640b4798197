# SPDX-License-Identifier: Apache-2.0
"""scikit-learn's own checks, and its tools around the estimators."""
import numpy as np
import pytest
from sklearn.calibration import CalibratedClassifierCV
from sklearn.compose import ColumnTransformer
from sklearn.feature_selection import SelectFromModel
from sklearn.frozen import FrozenEstimator
from sklearn.inspection import partial_dependence, permutation_importance
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks

from espalier import MonotonicClassifier, MonotonicRegressor

EXPECTED_FAILURES = {
    "check_sample_weight_equivalence_on_dense_data":
        "rows are drawn into mini-batches, so a weight of 2 is not the same as two rows",
}


# A fixed length: hundreds of trainings need not ask their rows for one.
@parametrize_with_checks([MonotonicClassifier(epochs=100), MonotonicRegressor(epochs=100)],
                         expected_failed_checks=lambda estimator: EXPECTED_FAILURES)
@pytest.mark.filterwarnings("ignore::espalier.Warning")
def test_check_of_scikit_learn_passes(estimator, check):
    check(estimator)


def test_pipelines_and_column_transformers(loans):
    y = loans.pop("default")
    numbers = loans.select_dtypes("number").columns
    pipeline = make_pipeline(
        ColumnTransformer([("numbers", StandardScaler(), numbers)], remainder="passthrough"
                          ).set_output(transform="pandas"),
        MonotonicClassifier(monotonic_cst={"numbers__income": -1}, epochs=2))
    pipeline.fit(loans, y)
    assert pipeline[-1].model_.verify().decreasing == ["numbers__income"]
    kinds = {f["name"]: f["kind"] for f in pipeline[-1].model_.info["features"]}
    assert kinds["remainder__purpose"] == "category"
    assert pipeline.score(loans, y) > 0.7


def test_searches_and_cross_validation(loans):
    y = loans.pop("default")
    search = GridSearchCV(MonotonicClassifier(epochs=1, n_jobs=1),
                          {"weight_decay": np.logspace(-2, 0, 2),
                           "architecture": ["dln", "calibrated-linear"]}, cv=2, n_jobs=2)
    search.fit(loans, y)
    assert len(search.cv_results_["params"]) == 4 and search.best_score_ > 0.7
    scores = cross_val_score(MonotonicClassifier(), loans, y, scoring="roc_auc", cv=3)
    assert scores.shape == (3,) and (scores > 0.6).all()


def test_calibration(loans):
    y = loans.pop("default")
    calibrated = CalibratedClassifierCV(MonotonicClassifier(epochs=1), cv=2).fit(loans, y)
    assert calibrated.predict_proba(loans).shape == (600, 2)
    prefit = CalibratedClassifierCV(FrozenEstimator(MonotonicClassifier(epochs=1).fit(loans, y)))
    assert prefit.fit(loans, y).score(loans, y) > 0.7


def test_importances_choose_features():
    X = np.random.default_rng(1).uniform(size=(300, 5))
    chosen = SelectFromModel(MonotonicRegressor(epochs=20), max_features=1).fit(X, X[:, 2])
    assert chosen.get_support().tolist() == [False, False, True, False, False]
    fitted = MonotonicRegressor(epochs=20).fit(X, X[:, 2])
    assert permutation_importance(fitted, X, X[:, 2]).importances_mean.argmax() == 2
    assert partial_dependence(fitted, X, [2])["average"].shape[0] == 1
