// SPDX-License-Identifier: Apache-2.0
// Charts as SVG. Text is inserted as text nodes, never as markup, so that names and categories of
// the data cannot become part of the page.
'use strict';

const Charts = (() => {
  const SVG = 'http://www.w3.org/2000/svg';

  const fill = (element, attributes, children) => {
    for (const [name, value] of Object.entries(attributes || {})) {
      if (value === true)
        element.setAttribute(name, '');
      else if (value !== false && value !== null && value !== undefined)
        element.setAttribute(name, String(value));
    }
    for (const child of children.flat(Infinity)) {
      if (child === null || child === undefined || child === false) continue;
      element.append(child instanceof Node ? child : String(child));
    }
    return element;
  };
  const html = (name, attributes, ...children) =>
      fill(document.createElement(name), attributes, children);
  const draw = (name, attributes, ...children) =>
      fill(document.createElementNS(SVG, name), attributes, children);

  // Formats numbers: about four digits, with thousands separators.
  const number = x => {
    if (x === null || x === undefined || Number.isNaN(x)) return '–';
    if (!Number.isFinite(x)) return x > 0 ? '∞' : '−∞';
    const size = Math.abs(x);
    if (size >= 1e7 || (size > 0 && size < 1e-4)) return x.toExponential(2).replace('-', '−');
    const digits = size >= 1000 ? 0 : size >= 100 ? 1 : size >= 10 ? 2 : size >= 1 ? 3 : 4;
    return x.toLocaleString('en', {maximumFractionDigits: digits}).replace('-', '−');
  };
  const percent = x => {
    if (x === null || x === undefined || Number.isNaN(x)) return '–';
    const digits = x !== 0 && Math.abs(x) < 0.0995 ? 2 : 1;
    return (100 * x).toLocaleString(
               'en', {minimumFractionDigits: digits, maximumFractionDigits: digits}) +
        ' %';
  };
  const count = x => x.toLocaleString('en');

  // Round steps of 1, 2 or 5 within [min, max].
  const ticks = (min, max, wanted) => {
    const rough = (max - min) / wanted;
    if (!(rough > 0) || !Number.isFinite(rough)) return [min];
    const power = 10 ** Math.floor(Math.log10(rough));
    const step = [1, 2, 5, 10].map(s => s * power).find(s => s >= rough * 0.999);
    const list = [];
    for (let k = Math.ceil(min / step - 1e-9); k * step <= max + step * 1e-9; ++k)
      list.push(Math.abs(k * step) < step * 1e-9 ? 0 : k * step);
    return list;
  };

  // Formats ticks with the digits that their step needs.
  const tickText = (list, isShare) => x => {
    const step = list.length > 1 ? Math.abs(list[1] - list[0]) : Math.abs(x) || 1;
    if (isShare) {
      const digits = Math.max(0, Math.ceil(-Math.log10(100 * step) - 1e-9));
      return (100 * x).toLocaleString('en', {maximumFractionDigits: Math.min(digits, 4)}) + ' %';
    }
    const most = Math.max(...list.map(Math.abs));
    if (most >= 1e6 || most < 1e-3) {
      return x.toLocaleString('en', {notation: 'compact', maximumSignificantDigits: 3});
    }
    if (most >= 1e4 && step >= 1000) return `${(x / 1000).toLocaleString('en')}k`;
    const digits = Math.max(0, Math.ceil(-Math.log10(step) - 1e-9));
    return x.toLocaleString('en', {maximumFractionDigits: Math.min(digits, 8)}).replace('-', '−');
  };

  const padded = (min, max) => {
    if (!Number.isFinite(min) || !Number.isFinite(max)) return [0, 1];
    if (min === max)
      return [min - (Math.abs(min) * 0.05 || 0.5), max + (Math.abs(max) * 0.05 || 0.5)];
    return [min, max];
  };

  // A plot with axes. x, y: {min, max, label, share, words}; with words, positions are 0, 1, ...
  const plot = ({x, y, width = 360, height = 216, summary}) => {
    const words = x.words;
    const left = 46, right = 12, top = 10, bottom = words ? 58 : 38;
    const [xMin, xMax] = words ? [-0.5, words.length - 0.5] : padded(x.min, x.max);
    const [yMin, yMax] = padded(y.min, y.max);
    const px = v => left + (v - xMin) / (xMax - xMin) * (width - left - right);
    const py = v => height - bottom - (v - yMin) / (yMax - yMin) * (height - top - bottom);
    const svg =
        draw('svg', {viewBox: `0 0 ${width} ${height}`, role: 'img', 'aria-label': summary});
    const yTicks = ticks(yMin, yMax, 5), yText = tickText(yTicks, y.share);
    for (const v of yTicks) {
      svg.append(
          draw('line', {class: 'axis', x1: left, x2: width - right, y1: py(v), y2: py(v)}),
          draw('text', {x: left - 6, y: py(v) + 4, 'text-anchor': 'end'}, yText(v)));
    }
    if (words) {
      const every = Math.max(1, Math.ceil(words.length / 16));
      words.forEach((word, i) => {
        if (i % every) return;
        const short = word.length > 11 ? word.slice(0, 10) + '…' : word;
        svg.append(draw(
            'text', {
              x: px(i),
              y: height - bottom + 14,
              'text-anchor': 'end',
              transform: `rotate(-38 ${px(i)} ${height - bottom + 12})`
            },
            short));
      });
    } else {
      const list = ticks(xMin, x.last ?? xMax, 5), text = tickText(list, x.share);
      for (const v of list) {
        svg.append(
            draw('text', {x: px(v), y: height - bottom + 15, 'text-anchor': 'middle'}, text(v)));
      }
      svg.append(draw(
          'text',
          {class: 'label', x: (left + width - right) / 2, y: height - 4, 'text-anchor': 'middle'},
          x.label || ''));
    }
    svg.append(draw(
        'line',
        {class: 'axis', x1: left, x2: width - right, y1: height - bottom, y2: height - bottom}));
    const inside = v => Math.min(Math.max(v, yMin), yMax);
    const path = (xs, ys) =>
        xs.map(
              (v, i) => ys[i] === null ?
                  '' :
                  `${i ? 'L' : 'M'}${px(v).toFixed(1)} ${py(inside(ys[i])).toFixed(1)}`)
            .join('');
    return {
      svg,
      px,
      py,
      line(xs, ys, style) {
        svg.append(draw('path', {class: `line ${style}`, d: path(xs, ys)}));
      },
      area(xs, lows, highs, style) {
        const back = path([...xs].reverse(), [...highs].reverse()).replace('M', 'L');
        svg.append(draw('path', {class: style, d: path(xs, lows) + back + 'Z'}));
      },
      guide(x1, y1, x2, y2) {
        svg.append(draw(
            'line',
            {class: 'guide', x1: px(x1), y1: py(inside(y1)), x2: px(x2), y2: py(inside(y2))}));
      },
      bar(from, to, value, style, title, base = yMin) {
        const a = py(inside(base)), b = py(inside(value));
        svg.append(draw(
            'rect', {
              class: style,
              x: px(from),
              width: Math.max(px(to) - px(from), 0.5),
              y: Math.min(a, b),
              height: Math.max(Math.abs(a - b), 0)
            },
            title && draw('title', {}, title)));
      },
      whisker(at, low, high, style) {
        if (low === null || high === null) return;
        svg.append(draw('line', {
          class: `whisker ${style}`,
          x1: px(at),
          x2: px(at),
          y1: py(inside(low)),
          y2: py(inside(high))
        }));
      },
      dot(at, value, style, title, size = 4) {
        if (value === null) return;
        svg.append(draw(
            'circle', {class: `dot ${style}`, cx: px(at), cy: py(inside(value)), r: size},
            title && draw('title', {}, title)));
      },
      text(at, value, words2, style = 'label', anchor = 'middle') {
        svg.append(draw(
            'text', {class: style, x: px(at), y: py(inside(value)), 'text-anchor': anchor},
            words2));
      },
    };
  };

  // A small arrow for a guaranteed direction, for one of several outputs.
  const arrow = (direction, output = '') => {
    if (direction === 'none') return null;
    const rises = direction === 'increasing';
    return html(
        'span', {class: 'arrow'},
        draw(
            'svg', {viewBox: '0 0 16 16', 'aria-hidden': 'true'},
            draw('path', {d: rises ? 'M2 14L13 3M6 3h7v7' : 'M2 2L13 13M6 13h7v-7'})),
        `${output} never ${rises ? 'falls' : 'rises'}`.trim());
  };

  const legend = entries => html(
      'ul', {class: 'legend'},
      entries.map(
          ([text, style]) => html(
              'li', {},
              draw(
                  'svg', {viewBox: '0 0 26 10', 'aria-hidden': 'true'},
                  /^(band|inner|density)/.test(style) ?
                      draw('rect', {class: style, width: 26, height: 10}) :
                      draw('line', {class: `line ${style}`, x1: 0, x2: 26, y1: 5, y2: 5})),
              text)));

  const table = (head, rows, caption, style) => html(
      'div', {class: 'scroll', tabindex: 0, role: 'region', 'aria-label': caption || head[0]},
      html(
          'table', {class: style}, caption && html('caption', {}, caption),
          html('thead', {}, html('tr', {}, head.map(text => html('th', {scope: 'col'}, text)))),
          html(
              'tbody', {},
              rows.map(
                  row => html(
                      'tr', {},
                      row.map(
                          (cell, i) => i === 0 ? html('th', {scope: 'row'}, cell) :
                                                 html('td', {}, cell)))))));

  // A chart with title, caption, and its numbers as a table.
  const figure = ({title, side, chart, caption, legendOf, numbers, id}) => {
    const own = html(
        'figure', {id}, html('h3', {}, html('span', {class: 'name'}, title), side), chart,
        legendOf && legend(legendOf), caption && html('figcaption', {}, caption));
    if (numbers) {
      const details = html('details', {}, html('summary', {}, 'The numbers'));
      details.addEventListener('toggle', () => {
        if (details.open && details.children.length === 1)
          details.append(table(numbers.head, numbers.rows()));
      });
      own.append(details);
    }
    return own;
  };

  // A grid of cells, darker for larger values. rows, columns: names; values[row][column].
  const heat = ({rows, columns, values, text, width = 360, rowLabel, columnLabel, summary}) => {
    const left = 84, top = 24, cell = (width - left - 6) / columns.length;
    const tall = Math.min(Math.max(cell * 0.6, 24), 30), bottom = 62;
    const height = top + rows.length * tall + bottom;
    const flat = values.flat().filter(v => v !== null);
    const least = Math.min(...flat), most = Math.max(...flat);
    const svg =
        draw('svg', {viewBox: `0 0 ${width} ${height}`, role: 'img', 'aria-label': summary});
    rows.forEach((name, r) => {
      svg.append(draw(
          'text', {x: left - 6, y: top + (r + 0.5) * tall + 4, 'text-anchor': 'end'},
          name.length > 12 ? name.slice(0, 11) + '…' : name));
      columns.forEach((other, c) => {
        const value = values[r][c];
        const share = value === null || most === least ? 0 : (value - least) / (most - least);
        const x = left + c * cell, y = top + r * tall;
        svg.append(draw(
            'rect', {
              x,
              y,
              width: cell - 1,
              height: tall - 1,
              class: 'f0',
              'fill-opacity': (0.06 + 0.94 * share).toFixed(3)
            },
            draw('title', {}, `${rowLabel} ${name}, ${columnLabel} ${other}: ${text(value)}`)));
        if (cell > 26) {
          svg.append(draw(
              'text',
              {x: x + cell / 2, y: y + tall / 2 + 4, class: 'cellText', 'data-dark': share > 0.5},
              text(value)));
        }
      });
    });
    columns.forEach((name, c) => {
      const x = left + (c + 0.5) * cell, y = top + rows.length * tall + 12;
      svg.append(draw(
          'text', {x, y, 'text-anchor': 'end', transform: `rotate(-38 ${x} ${y - 3})`},
          name.length > 11 ? name.slice(0, 10) + '…' : name));
    });
    const short = name => name.length > 30 ? name.slice(0, 29) + '…' : name;
    svg.append(
        draw('text', {class: 'strong', x: 0, y: 12}, `${short(rowLabel)} ↓`),
        draw(
            'text', {class: 'strong', x: width - 6, y: height - 4, 'text-anchor': 'end'},
            `${short(columnLabel)} →`));
    return svg;
  };

  return {html, draw, number, percent, count, plot, arrow, legend, table, figure, heat};
})();
