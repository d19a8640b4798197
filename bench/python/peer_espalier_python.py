# SPDX-License-Identifier: Apache-2.0
# The Python package at the work of espalier.cc, on the same rows as a float32 array in C order.
#   peer_espalier_python.py fit|one|batch FILE ROWS THREADS
import sys
import time

import peers

EPOCHS, REPEATS, CALLS, BATCH = 3, 51, 500, 100_000

espalier = peers.require("espalier", "espalier in Python")
np = peers.require("numpy")
kind, path, rows, threads = sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4])
cells = np.fromfile(path, dtype=np.float32).reshape(rows, 11)
X, y = np.ascontiguousarray(cells[:, :10]), np.ascontiguousarray(cells[:, 10])


def estimator(n_jobs):
    return espalier.MonotonicRegressor(monotonic_cst={"x0": 1, "x2": 1}, epochs=EPOCHS,
                                       n_jobs=n_jobs)


def measure(name, call, calls, count):
    def repeat():
        for _ in range(calls):
            call()

    repeat()
    # The quickest: what is compared is code, not how busy the machine is.
    seconds = min(peers.median_seconds(1, repeat) for _ in range(REPEATS))
    peers.report(contender=name, value=seconds / calls / count * 1e9, unit="ns/row",
                 first=float(call()[0]))


def fit():
    """What fit takes, and how much of it the package spends outside the library's train()."""
    inside = []

    def timed(*arguments, train=espalier._core.train):
        start = time.process_time()
        result = train(*arguments)
        inside.append(time.process_time() - start)
        return result

    espalier._core.train = timed
    start, cpu_start = time.perf_counter(), time.process_time()
    fitted = estimator(threads).fit(X, y)
    seconds, cpu_seconds = time.perf_counter() - start, time.process_time() - cpu_start
    peers.report(contender="fit in Python", value=seconds, unit="s", cpu_seconds=cpu_seconds,
                 outside_train=cpu_seconds - inside[0], model=fitted.model_.hash)


if kind == "fit":
    fit()
else:
    count, calls = (1, CALLS) if kind == "one" else (min(rows, BATCH), 1)
    some = X[:count].copy()
    served = espalier.load(path + ".esp")
    fitted = estimator(1).fit(X[:1000], y[:1000])
    fitted.model_ = served  # the same model behind the estimator's checks
    measure("Model.predict", lambda: served.predict(some, n_jobs=1), calls, count)
    measure("estimator.predict", lambda: fitted.predict(some), calls, count)
