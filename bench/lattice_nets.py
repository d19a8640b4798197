# SPDX-License-Identifier: Apache-2.0
# Networks of TensorFlow Lattice's layers, in the formulation that was found fastest for it.
#
# deep: the paper's network, as Espalier's
#   cal(100) lin(G S,monotone=G M) cal(20) lat(GxS) cal(20) lin(1)
# where M of the S inputs of each lattice are monotone. Numbers arrive as positions among their
# keypoints, so that all of them share one layer of calibrators, and words as one-hot columns.
# rtl: TensorFlow Lattice's own ensemble: calibrators, its RTL layer, an average.
import os

os.environ.setdefault("TF_USE_LEGACY_KERAS", "1")
os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")

import numpy

import peers
from inputs import INPUT_KEYPOINTS, Inputs

tfl = peers.require("tensorflow_lattice", "tensorflow-lattice")
tf = peers.require("tensorflow")
keras = tf.keras

INNER_KEYPOINTS = 20
LEARNING_RATE = 0.01


class NonNegativeRows(keras.constraints.Constraint):
    """Weights >= 0 in the first rows: those of monotone inputs."""

    def __init__(self, rows):
        self.rows = rows

    def __call__(self, kernel):
        return tf.concat([tf.nn.relu(kernel[:self.rows]), kernel[self.rows:]], 0)


def calibrators(units, keypoints, monotone, low=0.0, high=1.0):
    return tfl.layers.PWLCalibration(
        units=units, input_keypoints=numpy.linspace(low, high, keypoints, dtype=numpy.float32),
        output_min=0.0, output_max=1.0, monotonicity="increasing" if monotone else "none")


def calibrated_numbers(inputs, wires):
    """Layers over the first wires: (monotone, free), None where there are none."""
    m, f = len(inputs.monotone), len(inputs.free)
    monotone = calibrators(m, INPUT_KEYPOINTS, True)(wires[:, :m]) if m else None
    free = calibrators(f, INPUT_KEYPOINTS, False)(wires[:, m:m + f]) if f else None
    return monotone, free


def output(inputs, lattices):
    """The last layer: weights >= 0, and a start at the share of the positive class."""
    share = inputs.data.parts["train"][1].mean()
    spread = 4.0
    start = numpy.log(share / (1 - share)) - spread / 2
    return keras.layers.Dense(1, kernel_constraint=keras.constraints.NonNeg(),
                              kernel_initializer=keras.initializers.Constant(spread / lattices),
                              bias_initializer=keras.initializers.Constant(start))


def deep(inputs, lattices, size, monotone_dims, interpolation="hypercube"):
    wires = keras.Input((inputs.width,))
    monotone, free = calibrated_numbers(inputs, wires)
    words = wires[:, len(inputs.monotone) + len(inputs.free):]
    free = tf.concat([free, words], 1)
    scale = keras.initializers.RandomNormal(stddev=1.0, seed=1)
    rising = keras.layers.Dense(lattices * monotone_dims, kernel_initializer=scale,
                                kernel_constraint=NonNegativeRows(len(inputs.monotone)))(
                                    tf.concat([monotone, free], 1))
    other = keras.layers.Dense(lattices * (size - monotone_dims), kernel_initializer=scale)(free)
    rising = calibrators(lattices * monotone_dims, INNER_KEYPOINTS, True, -3, 3)(rising)
    other = calibrators(lattices * (size - monotone_dims), INNER_KEYPOINTS, False, -3, 3)(other)
    corners = tf.concat([tf.reshape(rising, (-1, lattices, monotone_dims)),
                         tf.reshape(other, (-1, lattices, size - monotone_dims))], 2)
    out = tfl.layers.Lattice([2] * size, units=lattices, output_min=0.0, output_max=1.0,
                             monotonicities=["increasing"] * monotone_dims +
                             ["none"] * (size - monotone_dims),
                             kernel_initializer="random_monotonic_initializer",
                             interpolation=interpolation)(corners)
    out = calibrators(lattices, INNER_KEYPOINTS, True)(out)
    logit = output(inputs, lattices)(out)
    return keras.Model(wires, logit), inputs.one_hot


def rtl(inputs, lattices, size, interpolation="hypercube"):
    count = len(inputs.monotone) + len(inputs.free)
    wires = keras.Input((count + len(inputs.buckets),))
    monotone, free = calibrated_numbers(inputs, wires)
    words = [tfl.layers.CategoricalCalibration(buckets, output_min=0.0, output_max=1.0)(
        wires[:, count + c:count + c + 1]) for c, buckets in enumerate(inputs.buckets)]
    layer = tfl.layers.RTL(num_lattices=lattices, lattice_rank=size, output_min=0.0,
                           output_max=1.0, interpolation=interpolation, random_seed=1,
                           kernel_initializer="random_monotonic_initializer",
                           avoid_intragroup_interaction=False)
    out = layer({"increasing": monotone, "unconstrained": tf.concat([free, *words], 1)})
    logit = output(inputs, lattices)(out)
    return keras.Model(wires, logit), inputs.with_codes


def set_threads(threads):
    tf.config.threading.set_intra_op_parallelism_threads(threads)
    tf.config.threading.set_inter_op_parallelism_threads(threads)


def make_steps(model, x, y):
    """A compiled function of row numbers, [steps][batch], that trains on them and returns the mean
    loss; all steps of a call run inside TensorFlow. Adam and the layers' projections each step."""
    optimizer = keras.optimizers.Adam(LEARNING_RATE)
    optimizer.build(model.trainable_variables)
    x, y = tf.constant(x), tf.constant(y[:, None])

    @tf.function(jit_compile=True)
    def step(rows):
        with tf.GradientTape() as tape:
            logits = model(tf.gather(x, rows), training=True)
            loss = tf.reduce_mean(
                tf.nn.sigmoid_cross_entropy_with_logits(tf.gather(y, rows), logits))
        gradients = tape.gradient(loss, model.trainable_variables)
        optimizer.apply_gradients(zip(gradients, model.trainable_variables))
        return loss

    @tf.function
    def steps(rows):
        total = 0.0
        for i in tf.range(tf.shape(rows)[0]):
            total += step(rows[i])
        return total / tf.cast(tf.shape(rows)[0], tf.float32)

    return steps


def make_fit(model, x, y, batch):
    """A function that trains for one epoch as Keras does it."""
    model.compile(optimizer=keras.optimizers.Adam(LEARNING_RATE),
                  loss=keras.losses.BinaryCrossentropy(from_logits=True))
    return lambda: model.fit(x, y[:, None], batch_size=batch, verbose=0)
