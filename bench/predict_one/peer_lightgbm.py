# SPDX-License-Identifier: Apache-2.0
# Nanoseconds for one row at a time, one thread: Booster.predict from Python, and the C interface
# that is made for it (SingleRowFast), called through ctypes.
#   peer_lightgbm.py FOLDER
import ctypes
import itertools
import sys

import numpy

import peers
import trees

ROWS = 500
BLOCK = 100  # rows timed together: too short to be interrupted often
FLOAT32, PREDICT_NORMAL = 0, 0


def fast_single_row(lightgbm, booster, width):
    """A function of the address of a row that leaves the prediction in the array it comes with."""
    library = lightgbm.basic._LIB
    config = ctypes.c_void_p()
    status = library.LGBM_BoosterPredictForMatSingleRowFastInit(
        booster._handle, PREDICT_NORMAL, 0, booster.best_iteration, FLOAT32, width,
        b"num_threads=1", ctypes.byref(config))
    if status != 0:
        raise RuntimeError("LGBM_BoosterPredictForMatSingleRowFastInit failed")
    length, out = ctypes.c_int64(), numpy.empty(1)
    length_at, out_at = ctypes.byref(length), ctypes.c_void_p(out.ctypes.data)
    call = library.LGBM_BoosterPredictForMatSingleRowFast
    return (lambda address: call(config, address, length_at, out_at)), out


def main():
    lightgbm = peers.require("lightgbm")
    data = peers.Data(sys.argv[1])
    booster, _ = trees.fit_lightgbm(lightgbm, data, 1)
    x, y = data.parts["test"]
    facts = {"unit": "ns/row", "log_loss": peers.log_loss(y, booster.predict(x)),
             "trees": booster.best_iteration, "version": peers.version("lightgbm")}
    rows = [x[i:i + 1] for i in range(ROWS)]
    each = itertools.cycle(rows)
    seconds = peers.median_seconds(4 * ROWS, lambda: booster.predict(
        next(each), num_threads=1, predict_disable_shape_check=True))
    peers.report(contender="lightgbm", value=seconds * 1e9, **facts)

    predict, out = fast_single_row(lightgbm, booster, x.shape[1])
    addresses = [ctypes.c_void_p(row.ctypes.data) for row in rows]
    predict(addresses[0])
    if abs(out[0] - booster.predict(rows[0])[0]) > 1e-9:
        raise RuntimeError("the C interface of LightGBM gives another answer")
    blocks = itertools.cycle([addresses[i:i + BLOCK] for i in range(0, ROWS, BLOCK)])
    seconds = peers.median_seconds(401, lambda: [predict(address) for address in next(blocks)])
    peers.report(contender="lightgbm, C single row", value=seconds / BLOCK * 1e9, **facts)


main()
