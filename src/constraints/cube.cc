// SPDX-License-Identifier: Apache-2.0
// The inequalities of one dimension are 2^(S-1) disjoint pairs (a, b), a <= b. Their projection is
// the mean of a and b where a > b. The sweep applies these projections once per dimension. Each of
// them preserves the order of any two vectors, even in floats, so later ones keep the inequalities
// of earlier ones. For the nearest point they are repeated with a dual variable per pair.
#include "constraints/cube.h"

#include <algorithm>
#include <bit>
#include <cassert>
#include <cmath>
#include <cstddef>
#include <type_traits>
#include <vector>

namespace espalier {
namespace {

// Calls visit(a, b, edge) for both ends of every edge along one dimension, where vertices are
// `stride` apart. A compile-time stride allows vector instructions for short strides too.
template <class T, class Visitor, class Stride>
inline void for_each_edge_at(std::span<T> theta, Stride stride, const Visitor& visit) {
  std::size_t edge = 0;
  for (std::size_t base = 0; base < theta.size(); base += 2 * stride) {
    T* __restrict low = theta.data() + base;
    T* __restrict high = low + stride;
    for (std::size_t i = 0; i < stride; ++i) visit(low[i], high[i], edge + i);
    edge += stride;
  }
}

template <class T, class Visitor>
void for_each_edge(std::span<T> theta, const Rise& rise, const Visitor& visit) {
  switch (rise.lanes) {
    case 1:
      return for_each_edge_at(theta, std::integral_constant<std::size_t, 1>(), visit);
    case 2:
      return for_each_edge_at(theta, std::integral_constant<std::size_t, 2>(), visit);
    case 4:
      return for_each_edge_at(theta, std::integral_constant<std::size_t, 4>(), visit);
    default:
      return for_each_edge_at(theta, rise.lanes, visit);
  }
}

// If a > b, both become their mean: halving first cannot overflow, and rounding keeps b <= mean <=
// a and the order between pairs. If a <= b, both stay, even if halving would round subnormal
// numbers.
template <class T>
void sweep(std::span<T> theta, std::span<const Rise> rises) {
  for (const Rise& rise : rises) {
    for_each_edge(theta, rise, [](T& low, T& high, std::size_t) {
      const T a = low, b = high;
      const T mean = T(0.5) * a + T(0.5) * b;
      low = std::min(a, std::max(b, mean));
      high = std::max(b, std::min(a, mean));
    });
  }
}

template <class T>
bool is_monotone(std::span<T> theta, std::span<const Rise> rises) {
  int wrong = 0;
  for (const Rise& rise : rises)
    for_each_edge(theta, rise, [&](T a, T b, std::size_t) { wrong |= a <= b ? 0 : 1; });
  return wrong == 0;
}

// One pass over all edges along a dimension. Returns whether it moved a vertex farther than
// `tolerance`. The dual variable of an edge is the sum of the moves of its ends, and must not be
// negative.
bool relax_edges(std::span<double> theta, const Rise& rise, double* __restrict duals,
                 double relaxation, double tolerance) {
  bool far = false;
  for_each_edge(theta, rise, [&](double& a, double& b, std::size_t edge) {
    const double move = std::max(-duals[edge], 0.5 * relaxation * (a - b));
    duals[edge] += move;
    a -= move;
    b += move;
    far |= std::fabs(move) > tolerance;
  });
  return far;
}

double scale_of(std::span<const double> theta) {
  double scale = 1;
  for (const double value : theta) scale = std::max(scale, std::fabs(value));
  return scale;
}

[[maybe_unused]] bool is_cube(std::size_t size, std::span<const Rise> rises) {
  return std::has_single_bit(size) &&
         std::all_of(rises.begin(), rises.end(), [&](const Rise& rise) {
           return rise.first == 0 && rise.length == 2 && std::has_single_bit(rise.lanes) &&
                  rise.step == static_cast<std::ptrdiff_t>(rise.lanes) &&
                  2 * rise.lanes * rise.blocks == size;
         });
}

}  // namespace

void sweep_cube(std::span<float> theta, std::span<const Rise> rises) {
  assert(is_cube(theta.size(), rises));
  sweep(theta, rises);
}

void sweep_cube(std::span<double> theta, std::span<const Rise> rises) {
  assert(is_cube(theta.size(), rises));
  sweep(theta, rises);
}

int project_cube(std::span<double> theta, std::span<const Rise> rises,
                 const CubeProjection& options) {
  assert(is_cube(theta.size(), rises));
  if (is_monotone(theta, rises)) return 0;
  const double tolerance = options.tolerance * scale_of(theta);
  const std::size_t edges_a_dim = theta.size() / 2;
  std::vector<double> duals(edges_a_dim * rises.size());
  int iterations = 0;
  bool far = true;
  while (far && iterations < options.max_iterations) {
    far = false;
    double* duals_of_dim = duals.data();
    for (const Rise& rise : rises) {
      far |= relax_edges(theta, rise, duals_of_dim, options.relaxation, tolerance);
      duals_of_dim += edges_a_dim;
    }
    ++iterations;
  }
  sweep(theta, rises);
  return iterations;
}

// Minimizes |z - theta|^2 / 2 with a copy x = z in the cone of each dimension. The duals u are
// scaled; the weight of the quadratic penalty is 1. Ends when z does not move and the copies agree
// with it.
int project_cube_by_admm(std::span<double> theta, std::span<const Rise> rises,
                         const CubeProjection& options) {
  assert(is_cube(theta.size(), rises));
  if (is_monotone(theta, rises)) return 0;
  const double tolerance = options.tolerance * scale_of(theta);
  const std::size_t n = theta.size();
  const std::size_t copies = rises.size();
  const std::vector<double> start(theta.begin(), theta.end());
  std::vector<double> x(copies * n), u(copies * n);
  int iterations = 0;
  double farthest = INFINITY;
  for (; farthest > tolerance && iterations < options.max_iterations; ++iterations) {
    std::span<double> copy(x.data(), n);
    for (const Rise& rise : rises) {
      const double* dual = u.data() + (copy.data() - x.data());
      for (std::size_t v = 0; v < n; ++v) copy[v] = theta[v] - dual[v];
      sweep(copy, {&rise, 1});
      copy = {copy.data() + n, n};
    }
    farthest = 0;
    for (std::size_t v = 0; v < n; ++v) {
      double sum = start[v];
      for (std::size_t i = v; i < x.size(); i += n) sum += x[i] + u[i];
      const double z = sum / static_cast<double>(copies + 1);
      for (std::size_t i = v; i < x.size(); i += n) {
        u[i] += x[i] - z;
        farthest = std::max(farthest, std::fabs(x[i] - z));
      }
      farthest = std::max(farthest, std::fabs(z - theta[v]));
      theta[v] = z;
    }
  }
  sweep(theta, rises);
  return iterations;
}

namespace {

// Projects floats in double; rounding keeps the order.
template <class Project>
int in_double(std::span<float> theta, std::span<const Rise> rises, const Project& project) {
  if (is_monotone(theta, rises)) return 0;
  std::vector<double> exact(theta.begin(), theta.end());
  const int iterations = project(std::span(exact));
  std::transform(exact.begin(), exact.end(), theta.begin(),
                 [](double value) { return static_cast<float>(value); });
  return iterations;
}

}  // namespace

int project_cube(std::span<float> theta, std::span<const Rise> rises,
                 const CubeProjection& options) {
  return in_double(theta, rises,
                   [&](std::span<double> exact) { return project_cube(exact, rises, options); });
}

int project_cube_by_admm(std::span<float> theta, std::span<const Rise> rises,
                         const CubeProjection& options) {
  return in_double(theta, rises, [&](std::span<double> exact) {
    return project_cube_by_admm(exact, rises, options);
  });
}

}  // namespace espalier
