// SPDX-License-Identifier: Apache-2.0
// The section in which a reader changes the values of a row.
'use strict';

function WhatIf(data, model, say) {
  const {html, draw, number, plot, figure} = Charts;
  const columns = data.columns.list, beside = data.beside;
  const baseline = [
    ...data.baseline.map(x => x === null ? NaN : x),
    ...beside.map(own => own.role === 'exposure' ? 1 : 0)
  ];
  const row = [...baseline];
  let shown = say.order[0];
  let stopReasons = () => {};
  const before = model.predict(baseline);

  // Controls by feature: set(value) updates a control.
  const controls = [];
  const answer = html('div', {class: 'card', 'aria-live': 'polite'});
  const curve = html('div'), reasons = html('div', {class: 'card'});

  const change = (f, cell) => {
    row[f] = cell;
    if (f < columns.length) shown = f;
    show();
  };

  const numberControl = (column, f) => {
    const id = `cell-${f}`, {low, high, whole} = column.density;
    const slider = html('input', {
      type: 'range',
      min: low,
      max: high,
      id,
      step: whole ? 1 : (high - low) / 200,
      'aria-label': column.name
    });
    const box = html(
        'input', {type: 'text', inputmode: 'decimal', 'aria-label': `${column.name}, exactly`});
    const missing = html('input', {type: 'checkbox'});
    const error = html('span', {class: 'error', role: 'alert'});
    slider.addEventListener('input', () => {
      const value = Math.fround(Number(Number(slider.value).toPrecision(6)));
      box.value = String(Number(slider.value).toPrecision(6) * 1);
      missing.checked = false;
      error.textContent = '';
      change(f, value);
    });
    box.addEventListener('change', () => {
      const cell = Cells.cellOf(column, box.value);
      error.textContent = cell === null ? `${box.value} is not a number` : '';
      if (cell === null) return;
      set(cell);
      change(f, cell);
    });
    missing.addEventListener('change', () => {
      if (missing.checked)
        change(f, NaN);
      else
        slider.dispatchEvent(new Event('input'));
      box.value = missing.checked ? '' : box.value;
    });
    const set = cell => {
      missing.checked = Number.isNaN(cell);
      box.value = Number.isNaN(cell) ? '' : String(Number(cell.toPrecision(7)));
      if (!Number.isNaN(cell)) slider.value = cell;
      error.textContent = '';
    };
    controls[f] = {set, slider};
    return html(
        'div', {class: 'control', 'data-name': column.name},
        html(
            'label',
            {for: id
            },
            column.name, say.promise(column)),
        box, slider, html('label', {class: 'tick'}, missing, ' missing'), error);
  };

  const wordControl = (column, f) => {
    const id = `cell-${f}`;
    const option = (text, value) => html('option', {value}, text);
    const menu = html(
        'select', {id}, column.words.map((word, i) => word === '' ? null : option(word, i)),
        option('(missing)', 'NaN'),
        column.kind === 'category' &&
            option('(a word that training never saw)', column.words.length));
    menu.addEventListener('change', () => change(f, Number(menu.value)));
    controls[f] = {
      set(cell) {
        menu.value = Number.isNaN(cell) || column.words[cell] === '' ? 'NaN' : String(cell);
      },
      menu
    };
    return html('div', {class: 'control', 'data-name': column.name}, html('label', {for: id
                }, column.name, say.promise(column)), menu);
  };

  const besideControl = (own, f) => {
    const box = html('input', {type: 'text', inputmode: 'decimal', id: `cell-${f}`});
    box.addEventListener('change', () => {
      const cell = Cells.parseNumber(box.value.trim());
      change(f, cell === null ? NaN : cell);
    });
    controls[f] = {
      set(cell) {
        box.value = Number.isNaN(cell) ? '' : String(cell);
      }
    };
    return html('div', {class: 'control', 'data-name': own.name}, html('label', {for: `cell-${f}`
                }, `${own.name} (${own.role})`), box);
  };

  const showAnswer = predicted => {
    const lines = say.predictionLines(predicted);
    answer.replaceChildren(
        html('h3', {}, say.predictionTitle),
        html(
            'div', {class: 'prediction', id: 'prediction', 'data-value': JSON.stringify(predicted)},
            say.headline(predicted)),
        html('p', {class: 'note'}, `The baseline row gives ${say.headline(before)}.`),
        html('div', {}, lines));
  };

  const showCurve = () => {
    const column = columns[shown], main = say.mainOf(model.predict(row));
    const moved = [...row];
    const at = cell => {
      moved[shown] = cell;
      return model.predict(moved)[main];
    };
    let chart;
    const own = row[shown], value = model.predict(row)[main];
    if (column.kind === 'number') {
      const {low, high} = column.density, xs = [];
      for (let k = 0; k <= 60; ++k) xs.push(low + (high - low) * k / 60);
      const ys = xs.map(at);
      chart = plot({
        x: {min: Math.min(low, own || low), max: Math.max(high, own || high), label: column.name},
        y: say.range([...ys, value]),
        width: 560,
        height: 230,
        summary:
            `The prediction along ${column.name}, from ${say.value(ys[0])} to ${say.value(ys[60])}`
      });
      chart.line(xs, ys, 'c0');
      if (!Number.isNaN(own)) chart.dot(own, value, 'f1', say.value(value), 6);
    } else {
      const codes = column.words.map((_, i) => i).slice(0, 30);
      const ys = codes.map(at);
      chart = plot({
        x: {words: codes.map(code => Cells.textOf(column, code))},
        y: say.range([...ys, value]),
        width: 560,
        height: 250,
        summary: `The prediction by ${column.name}`
      });
      codes.forEach(
          (code, i) => chart.dot(
              i, ys[i], code === own ? 'f1' : 'f0', say.value(ys[i]), code === own ? 6 : 4));
    }
    const choose = html(
        'select', {id: 'curve-column', 'aria-label': 'Column of the curve'},
        say.order.map(f => html('option', {value: f, selected: f === shown}, columns[f].name)));
    choose.addEventListener('change', () => {
      shown = Number(choose.value);
      showCurve();
    });
    curve.replaceChildren(figure({
      title: `${say.outputName(main)} along`,
      side: choose,
      chart: chart.svg,
      caption: 'The other columns stay as they are set; the dot is this row.'
    }));
  };

  const showReasons = () => {
    stopReasons();
    const main = say.mainOf(model.predict(row));
    const score = cells => say.explained(model.scores(cells), main);
    const from = [...baseline.slice(0, columns.length), ...row.slice(columns.length)];
    const start = score(from), end = score(row);
    stopReasons = Reasons.share(score, row, from, columns.length, ({shares, error, done}) => {
      const order = shares.map((_, f) => f)
                        .filter(f => Math.abs(shares[f]) > 1e-9)
                        .sort((a, b) => Math.abs(shares[b]) - Math.abs(shares[a]));
      const most = Math.abs(shares[order[0]]) || 1;
      const bar = share => draw(
          'svg',
          {viewBox: '0 0 200 12', preserveAspectRatio: 'none', height: 12, 'aria-hidden': 'true'},
          draw('rect', {
            class: share > 0 ? 'f1' : 'f0',
            x: share > 0 ? 100 : 100 + 98 * share / most,
            width: 98 * Math.abs(share) / most,
            y: 1,
            height: 10
          }),
          draw('line', {class: 'axis', x1: 100, x2: 100, y1: 0, y2: 12}));
      const rest = order.slice(10).reduce((sum, f) => sum + shares[f], 0);
      const line = (name, cell, share) => html(
          'li', {}, html('span', {class: 'name'}, name, html('small', {}, cell)), bar(share),
          html('span', {class: 'value'}, (share > 0 ? '+' : '') + number(share)));
      reasons.replaceChildren(
          html('h3', {}, 'Reasons'),
          html(
              'p', {class: 'note'},
              `${say.scoreName} goes from ${number(start)} for the baseline row to ${
                  number(end)}. ` +
                  (order.length === 0 ? 'This is the baseline row.' :
                       error > 0      ? `The shares below are means over permutations, ± ${
                                       number(2 * error)}${done ? '' : ' so far'     }.` :
                                        'The shares below are exact and add up to the difference.')),
          html(
                   'ul', {class: 'reasons', id: 'reasons', 'data-value': JSON.stringify(shares)},
                   order.slice(0, 10).map(
                       f => line(
                           columns[f].name,
                           `${Cells.textOf(columns[f], row[f])}, not ${
                          Cells.textOf(columns[f], baseline[f])}`,
                      shares[f])),
              order.length > 10 && line(`${order.length - 10} more columns`, '', rest)));
    });
  };

  const show = () => {
    showAnswer(model.predict(row));
    showCurve();
    showReasons();
  };

  const setRow = cells => {
    cells.forEach((cell, f) => {
      row[f] = cell;
      controls[f].set(cell);
    });
    show();
  };

  // The values of a row from the texts of a CSV line. A header line before it names the columns.
  // Throws an Error with the expected form.
  const readRow = text => {
    const lines = Cells.parseCsv(text);
    const wanted = [...columns.map(column => column.name), ...beside.map(own => own.name)];
    const own = lines[lines.length - 1];
    if (lines.length === 0 || lines.length > 2)
      throw Error('Wanted one line, or a header and one line.');
    let names = lines.length === 2 ? lines[0] : null;
    if (!names) {
      names = [wanted, columns.map(column => column.name), data.table_columns].find(
          list => list.length === own.length);
      if (!names)
        throw Error(`The line has ${own.length} cells, the model reads ${
            wanted.length}; put the line of names before it.`);
    }
    const at = new Map(names.map((name, i) => [name, i]));
    return wanted.map((name, f) => {
      const text2 = own[at.get(name)];
      if (text2 === undefined) {
        if (f >= columns.length) return baseline[f];
        throw Error(`There is no column ${name}.`);
      }
      if (f >= columns.length) return Cells.parseNumber(text2) ?? NaN;
      const cell = Cells.cellOf(columns[f], text2);
      if (cell === null) throw Error(`Column ${name}: ${text2} is not a number.`);
      return cell;
    });
  };

  const paste = () => {
    const text = html('textarea', {
      rows: 3,
      id: 'paste',
      spellcheck: 'false',
      placeholder: 'Paste one line of a CSV file, with or without its header'
    });
    const error = html('p', {class: 'error', role: 'alert'});
    const use = html('button', {type: 'button', id: 'use-row'}, 'Use this row');
    use.addEventListener('click', () => {
      error.textContent = '';
      try {
        setRow(readRow(text.value));
      } catch (problem) {
        error.textContent = problem.message;
      }
    });
    const reset =
        html('button', {type: 'button', class: 'quiet', id: 'reset'}, 'Back to the baseline');
    reset.addEventListener('click', () => setRow(baseline));
    return html('details', {class: 'card'}, html('summary', {}, 'Paste a row from a CSV file'),
      html('label', {for: 'paste', class: 'note'}, 'It stays in this window.'), text,
      html('div', {class: 'row'}, use, reset), error);
  };

  const list = html('div', {class: 'controls'},
    say.order.map(f => columns[f].kind === 'number' ? numberControl(columns[f], f) : wordControl(columns[f], f)),
    beside.map((own, i) => besideControl(own, columns.length + i)));
  const search = html('input', {type: 'search', class: 'grow', placeholder: 'Find a column', 'aria-label': 'Find a column'});
  search.addEventListener('input', () => {
      const wanted = search.value.toLowerCase();
      for (const own of list.children)
        own.hidden = !own.dataset.name.toLowerCase().includes(wanted);
  });
  const section = html('div', {class: 'whatif'},
    html('div', {class: 'card'}, columns.length > 12 && html('div', {class: 'row'}, search), list),
    html('div', {class: 'answer'}, answer, curve, reasons, paste()));
  setRow(baseline);
  return {section, setRow, readRow, row: () => [...row]};
  }
