# SPDX-License-Identifier: Apache-2.0
# Microseconds a row for the shares of boosted trees: by LightGBM itself, over the rows that the trees
# saw in training, and by shap against one baseline row, which is the same question as ours. With
# splits of categories shap's shares against a baseline do not sum to the score, so its trees take the
# codes for numbers.
#   peer_lightgbm.py FOLDER ROWS THREADS
import copy
import sys

import numpy

import peers
import trees

lightgbm = peers.require("lightgbm")
data = peers.Data(sys.argv[1])
count, threads = int(sys.argv[2]), int(sys.argv[3])
x, y = data.parts["test"]
rows = peers.repeated(x, count)
booster, _ = trees.fit_lightgbm(lightgbm, data, threads)


def report(name, model, explain, sums):
    """`sums` gives the score of a row again, from its shares."""
    found = []
    seconds = peers.median_seconds(1, lambda: found.append(explain()))
    scores = model.predict(rows[:1000], raw_score=True)
    assert numpy.allclose(sums(found[0])[:1000], scores, atol=1e-3)
    peers.report(contender=name, value=seconds / len(rows) * 1e6, unit="us/row",
                 log_loss=peers.log_loss(y, model.predict(x)), trees=model.best_iteration,
                 version=peers.version("lightgbm"))


report("lightgbm, pred_contrib", booster,
       lambda: booster.predict(rows, pred_contrib=True, num_threads=threads),
       lambda shares: shares.sum(axis=1))
shap = peers.require("shap", "lightgbm, shap")
plain = copy.copy(data)
plain.categories = []
numbers, _ = trees.fit_lightgbm(lightgbm, plain, threads)
explainer = shap.TreeExplainer(numbers, numpy.nanmedian(data.parts["train"][0], axis=0)[None],
                               feature_perturbation="interventional")
report("lightgbm, shap", numbers, lambda: explainer.shap_values(rows, check_additivity=False),
       lambda shares: shares.sum(axis=1) + explainer.expected_value)
