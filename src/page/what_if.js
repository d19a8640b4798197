// SPDX-License-Identifier: Apache-2.0
// The what-if view: one control per feature. The prediction, its curve along a feature and its
// explanation are computed here by the serving program.
'use strict';

// Converts text to the numbers that the program reads, as the library does.
const Cells = (() => {
  const MISSING = ['', '?', 'na', 'n/a', 'nan', 'null'];

  // 1 for 1.0 and 1.00, 0.5 for 0.50; any other text is unchanged.
  const shortestPlain = text => {
    if (!/^-?(0|[1-9][0-9]*)\.[0-9]*$/.test(text)) return text;
    const short = text.replace(/0*$/, '').replace(/\.$/, '');
    return short === '-0' ? '0' : short;
  };

  const parseNumber = text => {
    if (/^[+-]?inf(inity)?$/i.test(text)) return text.startsWith('-') ? -Infinity : Infinity;
    return /^[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)(e[+-]?[0-9]+)?$/i.test(text) ?
        Math.fround(Number(text)) :
        null;
  };

  const isMissing = (column, text) => {
    if (text === '') return true;
    if ((column.not_missing || []).includes(text)) return false;
    const shortest = shortestPlain(text);
    if ((column.missing || []).some(word => word === text || shortestPlain(word) === shortest))
      return true;
    if (MISSING.includes(text.toLowerCase())) return true;
    const number = column.kind === 'number' ? parseNumber(text) : null;
    return number !== null && (column.missing || []).some(word => parseNumber(word) === number);
  };

  const indexOf = column => {
    if (!column.index) {
      column.index = new Map();
      for (const same of [word => word, shortestPlain]) {
        column.words.forEach((word, i) => {
          if (!column.index.has(same(word))) column.index.set(same(word), i);
        });
      }
    }
    return column.index;
  };

  // The encoded value of a text; null if it is invalid for the feature.
  const cellOf = (column, given) => {
    const text = given.trim();
    if (isMissing(column, text)) return NaN;
    if (column.kind === 'number') return parseNumber(text);
    const index = indexOf(column);
    const found = index.has(text) ? index.get(text) : index.get(shortestPlain(text));
    if (found !== undefined) return found;
    return column.kind === 'category' ? column.words.length : NaN;
  };

  const textOf = (column, cell) => {
    if (Number.isNaN(cell)) return '(missing)';
    if (column.kind === 'number') return Charts.number(cell);
    if (cell >= column.words.length) return '(unseen)';
    return column.words[cell] === '' ? '(missing)' : column.words[cell];
  };

  // The fields of CSV text, row by row; quoted fields may contain anything.
  const parseCsv = text => {
    const first = text.split('\n')[0];
    const delimiter =
        [',', ';', '\t', '|'].sort((a, b) => first.split(b).length - first.split(a).length)[0];
    const rows = [[]];
    let cell = '', quoted = false;
    const end = () => {
      rows[rows.length - 1].push(cell.trim());
      cell = '';
    };
    for (let i = 0; i < text.length; ++i) {
      const c = text[i];
      if (quoted && c === '"' && text[i + 1] === '"') {
        cell += c;
        ++i;
      } else if (c === '"' && (quoted || cell.trim() === ''))
        quoted = !quoted;
      else if (!quoted && c === delimiter)
        end();
      else if (!quoted && c === '\n') {
        end();
        rows.push([]);
      } else if (c !== '\r')
        cell += c;
    }
    end();
    return rows.filter(row => row.length > 1 || row[0] !== '');
  };

  return {cellOf, textOf, parseNumber, parseCsv};
})();

// Baseline Shapley values of the difference between two rows. Exact if few features differ, else
// means over a growing number of permutations and their reverses.
const Reasons = (() => {
  const EXACT_COLUMNS = 9, MOST_PAIRS = 64;

  // A portable random generator, so that a row always gets the same explanation.
  const generator = seed => () => {
    seed = (seed + 0x6d2b79f5) | 0;
    let t = Math.imul(seed ^ (seed >>> 15), 1 | seed);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 4294967296;
  };

  const exact = (value, players) => {
    const n = players.length, worth = new Float64Array(1 << n);
    for (let set = 0; set < 1 << n; ++set) worth[set] = value(i => (set >> i) & 1);
    const factorial = [1];
    for (let i = 1; i <= n; ++i) factorial.push(factorial[i - 1] * i);
    return players.map((_, p) => {
      let share = 0;
      for (let set = 0; set < 1 << n; ++set) {
        if ((set >> p) & 1) continue;
        let size = 0;
        for (let i = 0; i < n; ++i) size += (set >> i) & 1;
        share += factorial[size] * factorial[n - size - 1] / factorial[n] *
            (worth[set | (1 << p)] - worth[set]);
      }
      return share;
    });
  };

  // score(row): the score of the selected output. Calls tell({shares, error, done}) now or later.
  // Returns a function that stops it.
  const share = (score, row, baseline, columns, tell) => {
    const same = (a, b) => a === b || (Number.isNaN(a) && Number.isNaN(b));
    const players = [];
    for (let f = 0; f < columns; ++f)
      if (!same(row[f], baseline[f])) players.push(f);
    const mixed = [...row];
    const value = isIn => {
      players.forEach((f, i) => {
        mixed[f] = isIn(i) ? row[f] : baseline[f];
      });
      return score(mixed);
    };
    const spread = list => {
      const shares = new Array(columns).fill(0);
      players.forEach((f, i) => {
        shares[f] = list[i];
      });
      return shares;
    };
    if (players.length <= EXACT_COLUMNS) {
      tell({shares: spread(exact(value, players)), error: 0, done: true});
      return () => {};
    }
    const random = generator(1), n = players.length;
    const sums = new Float64Array(n), squares = new Float64Array(n);
    let pairs = 0, stopped = false;
    const walk = (order, into) => {
      const inside = new Uint8Array(n);
      let before = value(i => inside[i]);
      for (const p of order) {
        inside[p] = 1;
        const after = value(i => inside[i]);
        into[p] += (after - before) / 2;
        before = after;
      }
    };
    const onePair = () => {
      const order = players.map((_, i) => i), own = new Float64Array(n);
      for (let i = n - 1; i > 0; --i) {
        const k = Math.floor(random() * (i + 1));
        [order[i], order[k]] = [order[k], order[i]];
      }
      walk(order, own);
      walk(order.reverse(), own);
      own.forEach((x, i) => {
        sums[i] += x;
        squares[i] += x * x;
      });
      ++pairs;
    };
    const some = () => {
      if (stopped) return;
      const until = performance.now() + 40;
      do onePair();
      while (pairs < MOST_PAIRS && performance.now() < until);
      const error = Math.max(...Array.from(
          sums,
          (sum, i) => pairs < 2 ?
              0 :
              Math.sqrt(Math.max(0, squares[i] / pairs - (sum / pairs) ** 2) / (pairs - 1))));
      const done = pairs >= MOST_PAIRS;
      tell({shares: spread(Array.from(sums, sum => sum / pairs)), error, done});
      if (!done) setTimeout(some, 0);
    };
    setTimeout(some, 0);  // the prediction comes first
    return () => {
      stopped = true;
    };
  };

  return {share};
})();
