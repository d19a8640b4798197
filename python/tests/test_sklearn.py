# SPDX-License-Identifier: Apache-2.0
"""scikit-learn's own checks, and its tools around the estimators."""
import pytest
from sklearn.utils.estimator_checks import parametrize_with_checks

from espalier import MonotonicClassifier, MonotonicRegressor

EXPECTED_FAILURES = {
    "check_sample_weight_equivalence_on_dense_data":
        "rows are drawn into mini-batches, so a weight of 2 is not the same as two rows",
}


@parametrize_with_checks([MonotonicClassifier(), MonotonicRegressor()],
                         expected_failed_checks=lambda estimator: EXPECTED_FAILURES)
@pytest.mark.filterwarnings("ignore::espalier.Warning")
def test_check_of_scikit_learn_passes(estimator, check):
    check(estimator)
