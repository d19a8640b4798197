// SPDX-License-Identifier: Apache-2.0
// The serving program in JavaScript: the formulas of serve/program.h with the rounding of
// serve/interpreter.h, so that the page computes the bits of the predictor. Wires are
// Float32Arrays; storing into one rounds to float.
'use strict';

const Interpreter = (() => {
  const fround = Math.fround;
  const LARGEST = 3.4028234663852886e38;

  const bytesOf = text => {
    const binary = atob(text);
    const bytes = new Uint8Array(binary.length);
    for (let i = 0; i < bytes.length; ++i) bytes[i] = binary.charCodeAt(i);
    return bytes.buffer;
  };
  const floats = text => new Float32Array(bytesOf(text));
  const wholes = text => new Int32Array(bytesOf(text));

  // a * b + c, rounded once. The product of two floats is exact in double. The sum is rounded to
  // double and then to float. That equals one rounding unless the double is halfway between two
  // floats; then the rounding error of the sum decides.
  const fma = (a, b, c) => {
    const product = a * b;
    const sum = product + c;
    const near = fround(sum);
    const far = sum + (sum - near);
    if (far === near || fround(far) !== far) return near;
    const part = sum - product;
    const lost = (product - (sum - part)) + (c - part);
    if (lost === 0 || !isFinite(near)) return near;
    return lost > 0 === far > near ? far : near;
  };

  const clip = (x, least, most) => Math.min(Math.max(x, least), most);

  // The number of `edges` that are <= x.
  const countBelow = (edges, x) => {
    let low = 0, high = edges.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (edges[middle] <= x)
        low = middle + 1;
      else
        high = middle;
    }
    return low;
  };

  const encodeNumber = (cell, x) => {
    if (Number.isNaN(x)) return cell.missing;
    const points = cell.keypoints, last = points.length - 1;
    x = clip(fround(x), points[0], points[last]);
    const k = clip(countBelow(points, x) - 1, 0, last - 1);
    const position = k + (x - points[k]) / (points[k + 1] - points[k]);
    return fround(cell.turned ? last - position : position);
  };
  const encodeCategory = (cell, x) => {
    if (Number.isNaN(x)) return cell.missing;
    return Number.isInteger(x) && x >= 0 && x < cell.num_words ? x : cell.num_words;
  };
  const encodePair = (pair, encoded) => {
    const i = countBelow(pair.first_edges, encoded[pair.first]);
    const j = countBelow(pair.second_edges, encoded[pair.second]);
    const cell = i * (pair.second_edges.length + 1) + j;
    return pair.codes.length === 0 ? cell : pair.codes[cell];
  };

  const wayBack = (low, range, y) => fma(range, fround(y - 1), low);
  const readTable = (table, begin, last, u) => {
    const k = Math.min(Math.floor(u), last - 1);
    const a = table[begin + k];
    return fma(fround(u - k), fround(table[begin + k + 1] - a), a);
  };

  // A table over two features, with positions in steps given by the code; everything except the
  // three fma is exact.
  const readGrid = (cell, code) => {
    const {table, rows, columns, steps} = cell;
    const width = (columns - 1) * steps + 1;
    const p = Math.floor(code / width) / steps, q = code % width / steps;
    const k = Math.min(Math.floor(p), rows - 2), l = Math.min(Math.floor(q), columns - 2);
    const along = at => fma(q - l, fround(table[at + 1] - table[at]), table[at]);
    const a = along(k * columns + l), b = along((k + 1) * columns + l);
    return fma(p - k, fround(b - a), a);
  };

  const steps = {
    cells(step) {
      const cells = step.cells.map(
          cell => cell && {...cell, table: floats(cell.table), back: floats(cell.back)});
      const through = (cell, x) => {
        if (cell === null) return x;
        let y;
        if (cell.rows > 0)
          y = readGrid(cell, x);
        else if (cell.keypoints === 0)
          y = cell.table[x];
        else if (x < 0)
          y = cell.table[cell.keypoints];
        else
          y = readTable(cell.table, 0, cell.keypoints - 1, x);
        return wayBack(cell.back[0], cell.back[1], y);
      };
      return {
        size: cells.length,
        run(input, out) {
          for (let i = 0; i < cells.length; ++i) out[i] = through(cells[i], input[i]);
        }
      };
    },

    calibrators(step) {
      const keypoints = step.keypoints, last = keypoints - 1;
      const [lo, inverse, tables, low, range] =
          [step.lo, step.inverse_step, step.tables, step.low, step.range].map(floats);
      return {
        size: lo.length,
        run(input, out) {
          for (let i = 0; i < lo.length; ++i) {
            const u = clip(fround(fround(input[i] - lo[i]) * inverse[i]), 0, last);
            out[i] = wayBack(low[i], range[i], readTable(tables, i * keypoints, last, u));
          }
        }
      };
    },

    linear(step) {
      const bias = floats(step.bias), weights = floats(step.weights);
      const numbers = wholes(step.numbers);
      const begin = step.category_begin, width = step.category_width;
      const categories = step.categories.map(own => ({wire: own.wire, rows: floats(own.rows)}));
      return {
        size: bias.length,
        run(input, out) {
          out.set(bias);
          for (const {wire, rows} of categories) {
            const row = input[wire] * width;
            for (let i = 0; i < width; ++i) out[begin + i] += rows[row + i];
          }
          for (let n = 0; n < numbers.length; n += 4) {
            const x = input[numbers[n]], from = numbers[n + 1], to = numbers[n + 2];
            const shift = numbers[n + 3] - from;
            for (let i = from; i < to; ++i) out[i] = fma(weights[shift + i], x, out[i]);
          }
        }
      };
    },

    lattices(step) {
      const size = step.size, vertices = 1 << size;
      const tables = floats(step.tables), backs = floats(step.backs);
      const folded = new Float32Array(vertices), x = new Float32Array(size);
      const fold = begin => {
        for (let v = 0; v < vertices; ++v) folded[v] = tables[begin + v];
        for (let d = 0, left = vertices >> 1; d < size; ++d, left >>= 1) {
          for (let v = 0; v < left; ++v) {
            const a = folded[2 * v];
            folded[v] = fma(x[d], fround(folded[2 * v + 1] - a), a);
          }
        }
        return folded[0];
      };
      const simplex = begin => {
        const order = Array.from(x.keys()).sort((a, b) => x[b] - x[a]);
        let sum = tables[begin], vertex = 0;
        for (const d of order) {
          const before = tables[begin + vertex];
          vertex += 1 << d;
          sum += fround(fround(1 + x[d]) - 1) * (tables[begin + vertex] - before);
        }
        return fround(sum);
      };
      const along = step.simplex ? simplex : fold;
      return {
        size: backs.length / 2,
        run(input, out) {
          for (let g = 0; g < backs.length / 2; ++g) {
            for (let d = 0; d < size; ++d) x[d] = clip(input[g * size + d], 0, 1);
            out[g] = wayBack(backs[2 * g], backs[2 * g + 1], along(g * vertices));
          }
        }
      };
    },

    gather(step) {
      const wires = wholes(step.wires);
      return {
        size: wires.length,
        run(input, out) {
          for (let i = 0; i < wires.length; ++i) out[i] = input[wires[i]];
        }
      };
    },

    sum() {
      return {
        size: 1,
        run(input, out) {
          out[0] = 0;
          for (const x of input) out[0] += x;
        }
      };
    },

    min_max(step) {
      return {
        size: 1,
        run(input, out) {
          let most = -Infinity;
          for (let g = 0; g < step.groups; ++g) {
            const group = input.subarray(g * step.size, (g + 1) * step.size);
            most = Math.max(most, Math.min(...group));
          }
          out[0] = most;
        }
      };
    },

    trees(step) {
      const questions = wholes(step.questions), above = floats(step.above);
      const roots = wholes(step.roots), leaves = floats(step.leaves);
      return {
        size: roots.length,
        run(input, out) {
          for (let g = 0; g < roots.length; ++g) {
            let at = roots[g];
            while (at >= 0) at = questions[3 * at + (input[questions[3 * at]] > above[at] ? 2 : 1)];
            out[g] = leaves[-1 - at];
          }
        }
      };
    },

    forest(step) {
      const splits = wholes(step.splits), thresholds = floats(step.splits);
      const sizes = wholes(step.sizes), leaves = floats(step.leaves), sets = wholes(step.sets);
      const goesRight = (i, x) => {
        const kind = splits[i] & 3;
        if (kind === 2) return sets[splits[i + 1] + (x >> 5)] >> (x & 31) & 1;
        return x < 0 ? kind : x >= thresholds[i + 1] ? 1 : 0;
      };
      return {
        size: 1,
        run(input, out) {
          out[0] = 0;
          let split = 0, leaf = 0;
          for (const size of sizes) {
            let at = size > 0 ? 0 : -1;
            while (at >= 0) {
              const i = 4 * (split + at);
              at = splits[i + 2 + goesRight(i, input[splits[i] >> 2])];
            }
            out[0] += leaves[leaf - 1 - at];
            split += size;
            leaf += size + 1;
          }
        }
      };
    },

    relu(step, inputs) {
      return {
        size: inputs,
        run(input, out) {
          for (let i = 0; i < inputs; ++i) out[i] = Math.max(input[i], 0);
        }
      };
    },
  };

  // The steps of one network, each with memory for its outputs.
  const member = (list, inputs) => {
    const made = [];
    for (const step of list) {
      const own = steps[step.step](step, inputs);
      made.push({run: own.run, out: new Float32Array(own.size)});
      inputs = own.size;
    }
    return encoded => {
      let wires = encoded;
      for (const {run, out} of made) {
        run(wires, out);
        wires = out;
      }
      return wires;
    };
  };

  // e^x with the operations of core/math.cc; JavaScript does not fuse operations.
  const SERIES = [
    1 / 2, 1 / 6, 1 / 24, 1 / 120, 1 / 720, 1 / 5040, 1 / 40320, 1 / 362880, 1 / 3628800,
    1 / 39916800, 1 / 479001600, 1 / 6227020800
  ];
  const SHIFT = 1.5 * 2 ** 52, LOG2E = 1.4426950408889634;
  const LN2_HIGH = 0x162e42fefa / 2 ** 37, LN2_LOW = 0x1cf79abc9e3b3a / 2 ** 92;
  const exp = x => {
    if (x > 710) return Infinity;
    if (x < -746) return 0;
    const k = (x * LOG2E + SHIFT) - SHIFT;
    const high = x - k * LN2_HIGH, low = k * LN2_LOW;
    const r = high - low;
    const lostOfR = (high - r) - low;
    const onePlusR = 1 + r;
    const lostOfSum = (1 - onePlusR) + r;
    let series = SERIES[11];
    for (let i = 10; i >= 0; --i) series = series * r + SERIES[i];
    const rest = r * r * series + (lostOfSum + lostOfR);
    const half = Math.trunc(k / 2);
    return (onePlusR + rest) * 2 ** half * 2 ** (k - half);
  };

  const links = {
    identity: scores => scores,
    sigmoid: scores => scores.map(score => fround(1 / (1 + exp(-score)))),
    exponential: (scores, unit, exposure) => scores.map(
        score => Math.min(
            fround(
                Math.min(fround(fround(Math.min(exp(score), LARGEST)) * unit), LARGEST) * exposure),
            LARGEST)),
    softmax(scores) {
      const largest = Math.max(...scores);
      const sum = scores.reduce((total, score) => total + exp(score - largest), 0);
      return scores.map(score => fround(exp(score - largest) / sum));
    },
    promised_softmax: scores => scores.map(
        (own, c) => fround(
            1 /
            (1 +
             scores.reduce(
                 (others, score, j) =>
                     j === c ? others : others + exp(fround(clip(score - own, -1000, 1000))),
                 0)))),
  };

  const make = program => {
    const cells = program.cells.map(
        cell => cell.keypoints === undefined ? cell : {...cell, keypoints: floats(cell.keypoints)});
    const pairs = program.pairs.map(pair => ({
                                      ...pair,
                                      first_edges: floats(pair.first_edges),
                                      second_edges: floats(pair.second_edges),
                                      codes: wholes(pair.codes)
                                    }));
    const levels = floats(program.levels);
    const numEncoded = cells.length + pairs.length;
    const inputs = numEncoded + (levels.length > 0 ? 1 : 0);
    const members = program.members.map(list => member(list, inputs));
    const weights = floats(program.weights);
    const totalWeight = weights.reduce((sum, weight) => sum + weight, 0);
    const numScores = program.scores.length;
    const encoded = new Float32Array(inputs);
    const sums = new Float64Array(numScores);

    const encode = row => {
      cells.forEach((cell, i) => {
        encoded[i] = cell.keypoints ? encodeNumber(cell, row[i]) : encodeCategory(cell, row[i]);
      });
      pairs.forEach((pair, i) => {
        encoded[cells.length + i] = encodePair(pair, encoded);
      });
    };

    // row: one number per cell as the predictor reads it, then exposure and offset.
    const scores = row => {
      encode(row);
      sums.fill(0);
      members.forEach((run, m) => {
        if (levels.length === 0) {
          const out = run(encoded);
          for (let s = 0; s < numScores; ++s) sums[s] += weights[m] * out[s];
        }
        for (let level = 0; level < levels.length; ++level) {
          encoded[numEncoded] = levels[level];
          sums[level] += weights[m] * run(encoded)[0];
        }
      });
      const raw = program.has_offset ? row[cells.length + (program.has_exposure ? 1 : 0)] : 0;
      const offset = Number.isNaN(raw) ? 0 : clip(fround(raw), -LARGEST, LARGEST);
      return program.scores.map(
          (units, s) => fround(clip(
              units.offset + units.scale * (sums[s] / totalWeight) + offset, -LARGEST, LARGEST)));
    };

    const predict = row => {
      const raw = program.has_exposure ? fround(row[cells.length]) : 1;
      const exposure = Number.isNaN(raw) ? 1 : raw > 0 ? Math.min(raw, LARGEST) : 0;
      return links[program.link](scores(row), program.unit, exposure);
    };

    return {scores, predict, numCells: cells.length, numScores};
  };

  return {make};
})();
