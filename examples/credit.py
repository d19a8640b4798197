# SPDX-License-Identifier: Apache-2.0
# %% [markdown]
# # The risk of a loan, proven monotone
#
# A lender must not raise the score of an applicant for being later with payments. This notebook
# trains such a model, proves it, draws it, and compares it with the constrained boosting of
# scikit-learn and XGBoost. Run it cell by cell, or all at once: `python examples/credit.py`.
#
# The loans are made up, so that the true risk is known. For a table of your own, replace the next
# cell. It needs pandas, scikit-learn and matplotlib; XGBoost is compared if it is there.

# %%
import os
import time

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.metrics import log_loss, roc_auc_score

import espalier

ROWS = int(os.environ.get("ROWS", 20_000))
DIRECTIONS = {"debt_ratio": 1, "late_payments": 1, "income": -1, "years_employed": -1}


def make_loans(rows, seed):
    """Features with categories as pandas has them, the label, and the true risk."""
    table = pd.DataFrame(espalier.simulate(rows=rows, seed=seed, truth=True))
    words = table.select_dtypes(exclude="number").columns.drop("default")
    table[words] = table[words].astype("category")
    return table.drop(columns=["default", "true_risk"]), table["default"], table["true_risk"]


X, y, _ = make_loans(ROWS, seed=1)
X_test, y_test, risk_test = make_loans(max(ROWS // 4, 500), seed=2)
X.head()

# %% [markdown]
# ## Train
# Numbers, categories and missing cells go in as they are. A fifth of the rows chooses the epoch.

# %%
risk = espalier.MonotonicClassifier(monotonic_cst=DIRECTIONS)
start = time.perf_counter()
risk.fit(X, y)
seconds = {"espalier": time.perf_counter() - start}
print(f"{risk.n_iter_} epochs, best validation log loss {risk.history_['valid_metric'].min():.4f}")

# %% [markdown]
# ## Prove
# Every inequality of the stored parameters holds, with tolerance 0; and no pair of rows that the
# hunt tries has predictions in the wrong order.

# %%
certificate = risk.model_.verify(pairs=10_000)
print(certificate)
assert certificate.holds
risk.model_.save("loans.esp")  # `espalier verify loans.esp` proves the same file again

# %% [markdown]
# ## Look
# What each input becomes first, what the prediction does with one feature and with two, and which
# features matter.

# %%
espalier.plot.calibrators(risk, list(DIRECTIONS))
espalier.plot.partial_dependence(risk, X_test, "debt_ratio")
espalier.plot.surface(risk, X_test, "debt_ratio", "income")
espalier.plot.importance(risk, X_test)
plt.show()

# %% [markdown]
# ## Compare
# The same constraints for all. `error` is the mean distance from the true risk, which no real table
# would tell. `falls` counts the rows of the test whose risk falls when their debt ratio rises by a
# hundredth.

# %%
models = {"espalier": risk,
          "HistGradientBoosting": HistGradientBoostingClassifier(
              monotonic_cst=DIRECTIONS, categorical_features="from_dtype", random_state=1)}
try:
    from xgboost import XGBClassifier
except ImportError:
    print("XGBoost is not installed and is left out")
else:
    models["XGBoost"] = XGBClassifier(monotone_constraints=DIRECTIONS, enable_categorical=True,
                                      n_estimators=100, learning_rate=0.1)

lines = {}
more_debt = X_test.assign(debt_ratio=X_test["debt_ratio"] + 0.01)
for name, model in models.items():
    if name != "espalier":
        start = time.perf_counter()
        model.fit(X, y == "yes")
        seconds[name] = time.perf_counter() - start
    found = model.predict_proba(X_test)[:, 1]
    lines[name] = {"log loss": log_loss(y_test, found), "AUC": roc_auc_score(y_test, found),
                   "error": np.abs(found - risk_test).mean(),
                   "falls": (model.predict_proba(more_debt)[:, 1] < found).sum(),
                   "seconds": seconds[name]}
lines["the truth"] = {"log loss": log_loss(y_test, risk_test),
                      "AUC": roc_auc_score(y_test, risk_test), "error": 0.0}
print(pd.DataFrame(lines).T.round(4).to_string())
