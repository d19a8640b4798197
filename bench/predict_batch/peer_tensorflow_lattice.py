# SPDX-License-Identifier: Apache-2.0
# Nanoseconds a row for many rows, one thread: the paper's network of TensorFlow Lattice's layers,
# trained for a moment, in batches of 4096, compiled by XLA and by predict() of Keras. Encoding the
# rows is not timed.
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
    compiled = tf.function(lambda rows: tf.sigmoid(model(rows)), jit_compile=True)
    test_x, test_y = data.parts["test"]
    batches = int(sys.argv[2]) // BATCH
    batch = tf.constant(encode(peers.repeated(test_x, BATCH)))
    rows = encode(peers.repeated(test_x, batches * BATCH))
    contenders = {
        "tensorflow-lattice": lambda: [compiled(batch).numpy() for _ in range(batches)],
        "tensorflow-lattice, Keras predict":
            lambda: model.predict(rows, batch_size=BATCH, verbose=0)}
    probabilities = tf.sigmoid(model.predict(encode(test_x), batch_size=BATCH, verbose=0)).numpy()
    for name, predict in contenders.items():
        predict()
        peers.report(contender=name,
                     value=peers.median_seconds(3, predict) / (batches * BATCH) * 1e9,
                     unit="ns/row", log_loss=peers.log_loss(test_y, probabilities),
                     version=peers.version("tensorflow-lattice"))


main()
