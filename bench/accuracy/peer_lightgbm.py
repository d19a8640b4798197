# SPDX-License-Identifier: Apache-2.0
# LightGBM, tuned: see boosting.py.
import boosting
import peers
import spaces
import trees

lightgbm = peers.require("lightgbm")


def fit(data, settings, rounds, threads, until=None):
    booster, history = trees.fit_lightgbm(lightgbm, data, threads, settings, rounds, until)
    return booster.predict, [loss for _, loss in history]


boosting.compete("lightgbm", spaces.LIGHTGBM, fit)
