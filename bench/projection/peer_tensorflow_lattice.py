# SPDX-License-Identifier: Apache-2.0
# Microseconds to make one lattice monotone by TensorFlow Lattice's own constraint: Dykstra's method
# with its default ten iterations, then its strict finish; all lattices at once, compiled by XLA.
#   peer_tensorflow_lattice.py FILE SIZE
import sys

import numpy

import lattice_nets
import peers

tf = lattice_nets.tf
size = int(sys.argv[2])
lattice_nets.set_threads(1)
# Vertices first, as its kernels are: [2^size][lattices]
theta = numpy.loadtxt(sys.argv[1], dtype=numpy.float32).reshape(-1, 2**size).T.copy()
lattices = theta.shape[1]
constraint = lattice_nets.tfl.lattice_layer.LatticeConstraints(
    lattice_sizes=[2] * size, monotonicities=[1] * size, num_projection_iterations=10,
    enforce_strict_monotonicity=True)
project = tf.function(constraint, jit_compile=True)
kernel = tf.constant(theta)
found = project(kernel).numpy()
falls = [found.reshape([2] * size + [lattices]).take(0, axis=d) -
         found.reshape([2] * size + [lattices]).take(1, axis=d) for d in range(size)]
seconds = peers.median_seconds(9, lambda: project(kernel).numpy())
peers.report(contender="tensorflow-lattice", value=seconds / lattices * 1e6, unit="us/lattice",
             distance=float(numpy.sqrt(((found - theta)**2).sum() / lattices)),
             worst_violation=float(max(0, numpy.max(falls))),
             version=peers.version("tensorflow-lattice"))
