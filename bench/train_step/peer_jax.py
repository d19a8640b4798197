# SPDX-License-Identifier: Apache-2.0
# Training throughput of the same network written in JAX, as a user would: XLA compiles the step,
# words are looked up instead of multiplied out, and after Adam the tables are made to rise.
#   peer_jax.py FOLDER LATTICES SIZE MONOTONE BATCH THREADS
import os
import sys
from functools import partial

os.environ["XLA_FLAGS"] = f"--xla_cpu_multi_thread_eigen={'true' if int(sys.argv[6]) > 1 else 'false'}"

import numpy

import peers
from inputs import INPUT_KEYPOINTS, Inputs

jax = peers.require("jax")
jnp = jax.numpy

INNER_KEYPOINTS, LEARNING_RATE = 20, 0.01
CHECK_STEPS, STEPS, CALLS = 40, 4, 5


def calibrate(tables, u):
    """tables: [units][keypoints], at u in [0, 1]: [rows][units]."""
    last = tables.shape[1] - 1
    position = jnp.clip(u, 0, 1) * last
    k = jnp.minimum(position.astype(jnp.int32), last - 1)
    units = jnp.arange(tables.shape[0])
    left, right = tables[units, k], tables[units, k + 1]
    return left + (position - k) * (right - left)


def fold(theta, x):
    """Multilinear interpolation. theta: [lattices][2^size], x: [rows][lattices][size]."""
    nodes = jnp.broadcast_to(theta, (x.shape[0], *theta.shape))
    for d in range(x.shape[2]):
        left, right = nodes[:, :, 0::2], nodes[:, :, 1::2]
        nodes = left + x[:, :, d:d + 1] * (right - left)
    return nodes[:, :, 0]


def forward(params, shape, positions, codes):
    lattices, size, dims, monotone = shape
    numbers = calibrate(params["input"], positions)
    rows = params["bias"] + numbers[:, monotone:] @ params["free"]
    for c, table in enumerate(params["words"]):
        rows += table[codes[:, c]]
    rising = numbers[:, :monotone] @ params["monotone"]
    rows = rows + jnp.pad(rising, ((0, 0), (0, rows.shape[1] - rising.shape[1])))
    wires = calibrate(params["inner"], (rows + 3) / 6)
    corners = jnp.concatenate([wires[:, :lattices * dims].reshape(-1, lattices, dims),
                               wires[:, lattices * dims:].reshape(-1, lattices, size - dims)], 2)
    out = calibrate(params["outer"], fold(params["theta"], corners))
    return out @ params["weights"] + params["offset"]


def rise(tables):
    """The nearest we need: each value at least the one before, within [0, 1]."""
    return jnp.clip(jax.lax.cummax(tables, axis=1), 0, 1)


def project(params, shape):
    lattices, size, dims, monotone = shape
    theta = params["theta"]
    for d in range(dims):
        pairs = theta.reshape(lattices, -1, 2, 2**d)
        middle = pairs.mean(2, keepdims=True)
        lower, upper = jnp.minimum(pairs[:, :, :1], middle), jnp.maximum(pairs[:, :, 1:], middle)
        theta = jnp.concatenate([lower, upper], 2).reshape(theta.shape)
    rising = lattices * dims
    return {**params, "theta": jnp.clip(theta, 0, 1),
            "input": jnp.concatenate([rise(params["input"][:monotone]),
                                      jnp.clip(params["input"][monotone:], 0, 1)]),
            "inner": jnp.concatenate([rise(params["inner"][:rising]),
                                      jnp.clip(params["inner"][rising:], 0, 1)]),
            "outer": rise(params["outer"]), "monotone": jnp.maximum(params["monotone"], 0),
            "weights": jnp.maximum(params["weights"], 0)}


def start(inputs, lattices, size, dims):
    draw = numpy.random.default_rng(1)
    wide = lattices * size
    line = lambda units, n: numpy.tile(numpy.linspace(0, 1, n, dtype="float32"), (units, 1))
    share = inputs.data.parts["train"][1].mean()
    vertices = numpy.array([bin(v).count("1") / size for v in range(2**size)])
    normal = lambda *shape: draw.normal(size=shape).astype("float32")
    return {"input": line(len(inputs.monotone) + len(inputs.free), INPUT_KEYPOINTS),
            "monotone": abs(normal(len(inputs.monotone), lattices * dims)),
            "free": normal(len(inputs.free), wide), "bias": normal(wide),
            "words": [normal(n, wide) for n in inputs.buckets],
            "inner": line(wide, INNER_KEYPOINTS), "outer": line(lattices, INNER_KEYPOINTS),
            "theta": numpy.tile(vertices, (lattices, 1)).astype("float32"),
            "weights": numpy.full(lattices, 4 / lattices, "float32"),
            "offset": numpy.float32(numpy.log(share / (1 - share)) - 2)}


def loss_of(params, shape, positions, codes, labels):
    z = forward(params, shape, positions, codes)
    return jnp.mean(jnp.logaddexp(0, z) - labels * z)


@partial(jax.jit, static_argnums=1, donate_argnums=0)
def steps(state, shape, positions, codes, labels, order):
    """Adam and the projection for each of the batches order: [steps][batch]."""
    def step(state, rows):
        params, mean, variance, t = state
        loss, grad = jax.value_and_grad(loss_of)(params, shape, positions[rows], codes[rows],
                                                 labels[rows])
        mean = jax.tree.map(lambda m, g: 0.9 * m + 0.1 * g, mean, grad)
        variance = jax.tree.map(lambda v, g: 0.999 * v + 0.001 * g * g, variance, grad)
        move = lambda p, m, v: p - LEARNING_RATE * (m / (1 - 0.9**t)) / (
            jnp.sqrt(v / (1 - 0.999**t)) + 1e-7)
        params = project(jax.tree.map(move, params, mean, variance), shape)
        return (params, mean, variance, t + 1), loss
    return jax.lax.scan(step, state, order)


def main():
    lattices, size, monotone, batch, _ = map(int, sys.argv[2:])
    data = peers.Data(sys.argv[1])
    inputs = Inputs(data)
    dims = monotone // lattices
    shape = (lattices, size, dims, len(inputs.monotone))
    encode = lambda x: (jnp.array(inputs.positions(x)), jnp.array(inputs.codes(x), jnp.int32))
    x, y = data.parts["train"]
    arrays = (*encode(x), jnp.array(y))
    params = jax.tree.map(jnp.array, start(inputs, lattices, size, dims))
    zeros = jax.tree.map(jnp.zeros_like, params)
    state = (params, zeros, jax.tree.map(jnp.zeros_like, params), jnp.float32(1))
    draw = numpy.random.default_rng(1)
    state, _ = steps(state, shape, *arrays, draw.integers(0, len(x), (CHECK_STEPS, batch)))
    test_x, test_y = data.parts["test"]
    logits = numpy.asarray(forward(state[0], shape, *encode(test_x)))
    order = draw.integers(0, len(x), (STEPS, batch))

    def call():
        nonlocal state
        state, losses = steps(state, shape, *arrays, order)
        losses.block_until_ready()

    call()  # compiles
    seconds = peers.median_seconds(CALLS, call)
    peers.report(contender="jax, the same network", value=STEPS * batch / seconds, unit="rows/s",
                 log_loss=peers.log_loss(test_y, 1 / (1 + numpy.exp(-logits))),
                 parameters=sum(p.size for p in jax.tree.leaves(state[0])),
                 version=peers.version("jax"))


main()
