# SPDX-License-Identifier: Apache-2.0
# Training throughput of TensorFlow Lattice: its layers as the paper's network, and its RTL ensemble.
#   peer_tensorflow_lattice.py FOLDER LATTICES SIZE MONOTONE BATCH THREADS
# All steps of a call run inside TensorFlow, compiled by XLA, which was never slower and up to 3.4
# times faster than without. `Keras fit` is the same network trained as its documentation does it,
# with compile() and fit(). Simplex interpolation is another function than Espalier's multilinear
# one, and faster for TensorFlow Lattice in large lattices; so it contends too.
import sys

import numpy

import lattice_nets
import peers

CHECK_STEPS, STEPS, CALLS = 40, 4, 5
FIT_ROWS, FIT_CALLS = 40960, 3


def report(name, model, encode, data, rows_a_second):
    test_x, test_y = data.parts["test"]
    logits = model.predict(encode(test_x), batch_size=4096, verbose=0)
    peers.report(contender=name, value=rows_a_second, unit="rows/s",
                 log_loss=peers.log_loss(test_y, 1 / (1 + numpy.exp(-logits))),
                 parameters=model.count_params(),
                 version=peers.version("tensorflow-lattice") + ", " + peers.version("tensorflow"))


def measure(name, made, data, batch):
    model, encode = made
    x, y = data.parts["train"]
    steps = lattice_nets.make_steps(model, encode(x), y)
    random = numpy.random.default_rng(1)
    steps(random.integers(0, len(x), (CHECK_STEPS, batch)))
    order = random.integers(0, len(x), (STEPS, batch))
    seconds = peers.median_seconds(CALLS, lambda: steps(order).numpy())
    report(name, model, encode, data, STEPS * batch / seconds)


def measure_fit(name, made, data, batch):
    model, encode = made
    x, y = (part[:FIT_ROWS] for part in data.parts["train"])
    fit = lattice_nets.make_fit(model, encode(x), y, batch)
    fit()
    report(name, model, encode, data, len(x) / peers.median_seconds(FIT_CALLS, fit))


def main():
    folder = sys.argv[1]
    lattices, size, monotone, batch, threads = map(int, sys.argv[2:])
    lattice_nets.set_threads(threads)
    data = peers.Data(folder)
    inputs = lattice_nets.Inputs(data)
    dims = monotone // lattices
    for name, how in (("", "hypercube"), (", simplex", "simplex")):
        measure(f"tensorflow-lattice{name}",
                lattice_nets.deep(inputs, lattices, size, dims, how), data, batch)
    measure_fit("tensorflow-lattice, Keras fit", lattice_nets.deep(inputs, lattices, size, dims),
                data, batch)
    faster = "hypercube" if size < 7 else "simplex"
    measure("tensorflow-lattice RTL", lattice_nets.rtl(inputs, lattices, size, faster), data,
            batch)


main()
