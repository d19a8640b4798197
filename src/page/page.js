// SPDX-License-Identifier: Apache-2.0
// Builds the sections of the page from its data.
'use strict';

(() => {
  const {html, draw, number, percent, count, plot, figure, table, heat} = Charts;
  const data = JSON.parse(document.getElementById('data').textContent);
  const model = Interpreter.make(data.program);
  const say = Speech(data);
  const {label, proof} = data, columns = data.columns.list;
  const promised = columns.filter(column => column.direction !== 'none');
  const main = document.getElementById('content');

  const section = (id, title, ...children) => {
    main.append(html(
        'section', {id, 'aria-labelledby': `${id}-title`}, html('h2', {id: `${id}-title`}, title),
        children));
    document.getElementById('sections').append(html('li', {}, html('a', {href: `#${id}`}, title)));
  };
  const bold = text => html('strong', {class: 'name'}, text);

  const head = () => {
    const tile = (big, note, style) => html(
        'li', {}, html('span', {class: `big ${style || ''}`}, big),
        html('span', {class: 'note'}, note));
    const asked = promised.length > 0 || proof.levels.length > 0;
    main.append(
        html('p', {class: 'kicker'}, 'Model report'), html('h1', {class: 'name'}, label.name),
        html(
            'p', {class: 'lead'},
            `The model predicts ${say.sentence}, from ${columns.length} columns.`),
        html(
            'ul', {class: 'tiles'}, tile(count(data.rows), `rows of ${data.table}`),
            tile(
                !asked          ? 'none asked' :
                    proof.holds ? 'proved' :
                                  'BROKEN',
                `${promised.length} direction${promised.length === 1 ? '' : 's'}${
                    proof.levels.length ? ', and levels that never cross' : ''}`,
                asked && (proof.holds ? 'proved' : 'broken')),
            tile(
                count(proof.inequalities),
                `inequalities checked, ${count(proof.violations)} violated`),
            tile(count(proof.pairs), `pairs of rows hunted, ${count(proof.pair_violations)} fell`),
            tile(data.model.hash, 'hash of the model', 'mono')));
  };

  const promises = () => {
    const direction = column => html(
        'tr', {}, html('th', {scope: 'row'}, html('span', {class: 'name'}, column.name)),
        html('td', {}, say.promise(column)));
    const list = promised.length === 0 && proof.levels.length === 0 ?
        html('p', {}, 'No direction was asked of this model, so none is promised.') :
        html(
            'div', {},
            promised.length > 0 &&
                html(
                    'table', {},
                    html('caption', {}, 'When a column rises and all others stay, the prediction'),
                    html('tbody', {}, promised.map(direction))),
            proof.levels.length > 0 &&
                html('p', {}, `The outputs ${proof.levels.join(', ')} never cross.`));
    const command =
        `espalier verify model.esp --pairs ${proof.pairs || 100000} --seed ${proof.seed}`;
    section(
        'promises', 'Promises',
        html(
            'div', {class: 'halves'},
            html('div', {class: 'card'}, html('h3', {}, 'What holds'), list),
            html(
                'div', {class: 'card'}, html('h3', {}, 'How it is known'),
                html(
                    'p', {}, bold(count(proof.inequalities)),
                    ' inequalities between the stored numbers of the model give these directions. ' +
                        'All were compared with a plain ≤, with no tolerance: ',
                    bold(count(proof.violations)), ' are violated.'),
                html(
                    'p', {},
                    proof.pairs > 0 ?
                        [
                          'Then ', bold(count(proof.pairs)),
                          ' pairs of rows were predicted in search of a counter-example, ' +
                              'among them neighbouring floats and infinities: ',
                          bold(count(proof.pair_violations)), ' fell',
                          proof.levels.length ?
                              [
                                ', ', bold(count(proof.crossings)), ' rows had levels that crossed'
                              ] :
                              '',
                          '.'
                        ] :
                        'There was nothing to hunt for a counter-example to.'),
                html(
                    'p', {}, 'To check it again, with the model file whose hash is ',
                    html('code', {}, data.model.hash), ':'),
                html('pre', {tabindex: 0}, command),
                html(
                    'details', {}, html('summary', {}, 'Layer by layer'),
                    table(
                        ['Layer', 'Inequalities', 'Violated'],
                        proof.layers.map(
                            layer =>
                                [layer.layer, count(layer.inequalities),
                                 count(layer.violations)]))))));
  };

  const quality = () => {
    const own = data.quality, view = Quality(data, say);
    if (!own) {
      section(
          'quality', 'Quality',
          html(
              'p', {class: 'lead'},
              `The table has no label ${
                  label.name}, so this report cannot say how good the model is.`));
      return;
    }
    const sampled = own.resampled_rows < own.rows ?
        `, each of ${count(own.resampled_rows)} rows and narrowed to all` :
        '';
    section(
        'quality', 'Quality',
        html(
            'p', {class: 'note'},
            `On ${count(own.rows)} rows with a label${
                own.rows < data.rows ? ` (${count(data.rows - own.rows)} have none)` : ''}${
                own.weighted ?
                    ', weighted' :
                    ''}. The 95 % intervals of shares of rows are Wilson's, the others come from ${
                own.resamples} bootstrap resamples${sampled}. Fewer than 20 rows have none.`),
        html('div', {class: 'card'}, view.metrics(own)),
        html('div', {class: view.isWide ? 'halves' : 'grid'}, view.charts(own)));
    if (data.groups) {
      section(
          'groups', 'Groups',
          html(
              'p', {class: 'note'},
              `The rows by ${data.groups.column}, each group judged by itself.`),
          view.groups(data.groups));
    }
  };

  const STYLES = ['c0', 'c1 d1', 'c2 d2', 'c3 d3', 'c4 d4', 'c5 d5'];
  const curveOf = (column, f) => {
    const {curve, density} = column, several = label.outputs.length > 1;
    const points = k => curve.points.map(list => list[k]);
    const special = ['missing', 'unseen'].filter(name => curve[name]);
    const all = [
      ...curve.means.flat(), ...(several ? [] : curve.points.flat()),
      ...special.flatMap(name => curve[name].means[0])
    ];
    const range = say.range(all);
    const isNumber = column.kind === 'number';
    const names = isNumber ? null : [
      ...curve.cells.map(cell => Cells.textOf(column, cell)), ...special.map(name => `(${name})`)
    ];
    const gap = (density.high - density.low) * 0.14;
    const half = density.counted ? 0.5 : 0;
    const withMissing = isNumber && curve.missing;
    const chart = plot({
      x: isNumber ? {
        min: density.low - half,
        max: density.high + half + (withMissing ? gap : 0),
        last: density.high
      } :
                    {words: names},
      y: range,
      summary:
          `Prediction along ${column.name}: mean from ${say.value(curve.means[0][label.main])} to ${
              say.value(curve.means[curve.means.length - 1][label.main])}`
    });
    const tall = (range.max - range.min) * 0.26, most = Math.max(...density.bars, 1e-9);
    density.bars.forEach((share, i) => {
      const n = density.bars.length, width = (density.high - density.low) / n;
      const spread = isNumber && !density.counted, place = isNumber ? density.low + i : i;
      const from = spread ? density.low + i * width : place - 0.38,
            to = spread ? from + width : place + 0.38;
      if (share > 0)
        chart.bar(
            from, to, range.min + tall * share / most, 'density', `${percent(share)} of the rows`);
    });
    const shownOutputs = label.outputs.map((_, s) => s).slice(0, 6);
    if (isNumber) {
      if (!several) {
        chart.area(curve.cells, points(0), points(3), 'band');
        chart.area(curve.cells, points(1), points(2), 'inner');
      }
      shownOutputs.forEach(
          s => chart.line(curve.cells, curve.means.map(list => list[s]), STYLES[s]));
      if (withMissing) {
        const at = density.high + half + gap * 0.72;
        if (!several)
          chart.whisker(at, curve.missing.points[0][0], curve.missing.points[0][3], 'c0 half');
        shownOutputs.forEach(
            s => chart.dot(
                at, curve.missing.means[0][s], `f${s}`,
                `missing: ${say.value(curve.missing.means[0][s])}`));
        chart.text(at, range.min - (range.max - range.min) * 0.09, 'missing');
      }
    } else {
      const means = [...curve.means, ...special.map(name => curve[name].means[0])];
      const spread = [...curve.points, ...special.map(name => curve[name].points[0])];
      means.forEach((list, i) => {
        if (!several) chart.whisker(i, spread[i][0], spread[i][3], 'c0 half');
        shownOutputs.forEach(
            s => chart.dot(i, list[s], `f${s}`, `${names[i]}: ${say.value(list[s])}`));
      });
    }
    const notes = [];
    if (density.missing > 0) notes.push(`${percent(density.missing)} missing`);
    if (density.unseen > 0) notes.push(`${percent(density.unseen)} unseen or rare`);
    if (column.words && column.words.length > density.bars.length)
      notes.push(`the ${density.bars.length} heaviest of ${column.words.length} words`);
    return figure({
      id: `column-${f}`,
      title: column.name,
      side: say.promise(column) || html('span', {class: 'chip'}, 'free'),
      chart: chart.svg,
      caption: notes.join(' · '),
      numbers: {
        head: [column.name, ...shownOutputs.map(s => say.outputName(s)), '10 %', '90 %'],
        rows: () => curve.cells.map(
            (cell, i) =>
                [isNumber ? number(cell) : names[i],
                 ...shownOutputs.map(s => say.value(curve.means[i][s])),
                 say.value(curve.points[i][0]), say.value(curve.points[i][3])])
      }
    });
  };

  const importance = () => {
    const most = Math.max(...columns.map(column => column.importance || 0), 1e-12);
    return html('ol', {class: 'rank'}, say.order.map(f => {
      const column = columns[f];
      return html(
          'li', {}, html('a', {href: `#column-${f}`, title: column.name}, column.name),
          draw(
              'svg', {viewBox: '0 0 200 12', preserveAspectRatio: 'none', 'aria-hidden': 'true'},
              draw('rect', {
                class: 'f0',
                width: Math.max(200 * (column.importance || 0) / most, 0.5),
                height: 12
              })),
          html(
              'span', {class: 'value'}, number(column.importance),
              html('small', {}, ` ± ${number(column.importance_spread)}`)));
    }));
  };

  const columnSection = () => {
    const several = label.outputs.length > 1;
    section(
        'columns', 'Columns',
        html(
            'p', {class: 'note'},
            (data.columns.metric ?
                 `How much worse ${data.columns.metric.replace('_', ' ')} becomes` :
                 'How far the score moves, on average,') +
                ` when the cells of a column are shuffled among ${
                    count(data.columns
                              .weighed_rows)} rows: the mean of five times, and their deviation.`),
        html('div', {class: 'card'}, html('h3', {}, 'Importance'), importance()),
        html(
            'p', {class: 'note'},
            `Below, each column by itself: the mean prediction over ${
                count(data.columns.moved_rows)} rows while the column is moved` +
                (several ? '' : ', and how the predictions of single rows spread about it') +
                `; grey bars show where the data lie${
                    data.columns.sampled_rows < data.rows ?
                        ` (${count(data.columns.sampled_rows)} rows drawn)` :
                        ''}.` +
                (say.rate ? ' All for exposure 1.' : '')),
        Charts.legend([
          ...label.outputs.slice(0, 6).map((_, s) => [say.outputName(s), STYLES[s]]),
          ...(several ? [] : [['half of the rows', 'inner'], ['four fifths', 'band']]),
          ['density of the data', 'density']
        ]),
        html('div', {class: 'grid columns'}, say.order.map(f => curveOf(columns[f], f))));
  };

  const pairs = () => {
    const list = data.pairs.list;
    if (list.length === 0) return;
    const map = own => {
      const first = columns[own.first], second = columns[own.second],
            width = own.second_cells.length;
      const names = (column, cells) => cells.map(cell => Cells.textOf(column, cell));
      const values = own.first_cells.map((_, i) => own.means.slice(i * width, (i + 1) * width));
      const rows = names(first, own.first_cells), isNumber = first.kind === 'number';
      return figure({
        title: `${first.name} and ${second.name}`,
        side: own.kind && html('span', {class: 'chip'}, own.kind),
        chart: heat({
          rows: isNumber ? [...rows].reverse() : rows,
          columns: names(second, own.second_cells),
          values: isNumber ? [...values].reverse() : values,
          text: x => say.isShare ? `${Math.round(100 * x)}` : number(x),
          rowLabel: first.name,
          columnLabel: second.name,
          summary: `Mean prediction over ${first.name} and ${second.name}`
        }),
        caption: `Strength ${number(own.strength)}.`,
        numbers: {
          head: [first.name, ...names(second, own.second_cells)],
          rows: () => rows.map((name, i) => [name, ...values[i].map(say.value)])
        }
      });
    };
    section(
        'pairs', 'Pairs',
        html(
            'p', {class: 'note'},
            'The strongest pairs among the most important columns and those that the model has: ' +
                `${say.outputName(label.main)}${
                    say.isShare ? ' in per cent' : ''}, on average over ${
                    count(data.pairs.rows)} rows with both columns moved. ` +
                'The strength is how far the score is from a sum of one curve for each column.'),
        html('div', {class: 'grid'}, list.map(map)));
  };

  const notes = () => {
    const {training} = data.model;
    section(
        'notes', 'Notes',
        html(
            'div', {class: 'card'},
            html(
                'p', {},
                `Made by Espalier ${data.model.espalier} with seed ${
                    data.seed}; the same model, table and seed give the same bytes. `,
                'The page holds sums, means and quantiles over rows, the parameters of the model ' +
                    'and the names and words of its columns; it holds no row of the table and asks no ' +
                    'network for anything.'),
            html(
                'p', {},
                'The what-if runs the serving program of the model in this page, with the ' +
                    'arithmetic of the predictor.'),
            html(
                'p', {}, `The model: ${count(data.model.parameters)} parameters`,
                data.model.networks > 1 ? ` in ${data.model.networks} networks that are averaged` :
                                          '',
                data.model.trees > 0 ? `, with ${count(data.model.trees)} trees in the mean` : '',
                training.train_rows ? `, trained on ${count(training.train_rows)} rows.` : '.'),
            html('pre', {tabindex: 0}, data.model.architecture)));
  };

  const themeButton = () => {
    const button = document.getElementById('theme'), root = document.documentElement;
    const system = window.matchMedia('(prefers-color-scheme: dark)');
    const set = dark => {
      root.dataset.theme = dark ? 'dark' : 'light';
      button.textContent = dark ? 'Light' : 'Dark';
      button.setAttribute('aria-label', `Switch to ${dark ? 'light' : 'dark'} colours`);
    };
    set(system.matches);
    system.addEventListener('change', () => set(system.matches));
    button.addEventListener('click', () => set(root.dataset.theme !== 'dark'));
  };

  themeButton();
  document.title = `${label.name}: model report`;
  head();
  promises();
  quality();
  columnSection();
  pairs();
  const whatIf = WhatIf(data, model, say);
  section(
      'what-if', 'What if',
      html(
          'p', {class: 'note'},
          'Move a column: the prediction, its curve and the reasons follow. The row begins as the ' +
              'baseline: the training median of numbers, the most frequent words.'),
      whatIf.section);
  notes();
  document.getElementById('foot').textContent =
      `${label.name} · ${data.model.hash} · Espalier ${data.model.espalier}`;

  // For scripts: values as the predictor reads them, row by row, or texts as in a data file.
  window.espalier = {
    predict: rows => rows.map(row => model.predict(row.map(cell => cell === null ? NaN : cell))),
    scores: rows => rows.map(row => model.scores(row.map(cell => cell === null ? NaN : cell))),
    cells: texts => texts.map(
        (text, f) => f < columns.length ? Cells.cellOf(columns[f], text) :
                                          Cells.parseNumber(text.trim()) ?? NaN),
    readRow: whatIf.readRow,
    setRow: whatIf.setRow,
    row: whatIf.row,
  };
})();
