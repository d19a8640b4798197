# SPDX-License-Identifier: Apache-2.0
# Nanoseconds a row for many rows, one thread: the paper's network of TensorFlow Lattice's layers,
# trained for a moment, compiled by XLA, in batches of 4096. Encoding the rows is not timed.
#   peer_tensorflow_lattice.py FOLDER ROWS
import sys

import numpy

import lattice_nets
import peers

BATCH, EPOCHS = 4096, 3


def main():
    tf = lattice_nets.tf
    lattice_nets.set_threads(1)
    data = peers.Data(sys.argv[1])
    model, encode = lattice_nets.deep(lattice_nets.Inputs(data), 70, 5, 2)
    x, y = data.parts["train"]
    steps = lattice_nets.make_steps(model, encode(x), y)
    random = numpy.random.default_rng(1)
    for _ in range(EPOCHS):
        steps(random.permutation(len(x))[:len(x) // 1024 * 1024].reshape(-1, 1024))
    predict = tf.function(lambda rows: tf.sigmoid(model(rows)), jit_compile=True)
    test_x, test_y = data.parts["test"]
    batch = tf.constant(encode(peers.repeated(test_x, BATCH)))
    predict(batch)
    batches = int(sys.argv[2]) // BATCH
    seconds = peers.median_seconds(3, lambda: [predict(batch).numpy() for _ in range(batches)])
    probabilities = tf.sigmoid(model.predict(encode(test_x), batch_size=BATCH, verbose=0)).numpy()
    peers.report(contender="tensorflow-lattice", value=seconds / (batches * BATCH) * 1e9,
                 unit="ns/row", log_loss=peers.log_loss(test_y, probabilities),
                 version=peers.version("tensorflow-lattice"))


main()
