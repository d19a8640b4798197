// SPDX-License-Identifier: Apache-2.0
// The charts of quality, by kind of label.
'use strict';

const Quality = (data, say) => {
  const {html, number, percent, plot, table, figure, heat} = Charts;
  const {label} = data;
  const STYLES = ['c0', 'c1 d1', 'c2 d2', 'c3 d3', 'c4 d4', 'c5 d5'];
  const share = {min: 0, max: 1, share: true};
  // Two charts per line; more of them are smaller.
  const size =
      ['number', 'quantiles', 'amount'].includes(label.kind) ? {width: 560, height: 270} : {};
  const MEANING = {
    accuracy: 'share of rows whose class is predicted',
    log_loss: 'lower is better',
    auc: 'share of pairs in the right order; ½ is chance',
    brier: 'mean squared error of the probability; lower is better',
    mse: 'mean squared error',
    rmse: 'its root, in units of the label',
    mae: 'mean absolute error',
    r2: 'share of the variance explained',
    rps: 'ranked probability score; lower is better',
    clipped: 'rows whose grade got next to no probability',
    pinball: 'mean loss of the quantiles; lower is better',
    coverage: 'share of labels within the outer quantiles, or up to the only one',
    deviance: 'lower is better',
    d2: 'share of the deviance explained',
    gini: 'of the Lorenz curve by predicted rate',
    balance: 'sum of predictions over sum of labels; 1 is right',
  };
  const SHARES = ['accuracy', 'clipped', 'coverage', 'r2', 'd2'];
  const metricText = (name, x) => SHARES.includes(name) ? percent(x) : number(x);
  const between = (low, high, text) =>
      low === null || high === null ? 'no interval' : `${text(low)} to ${text(high)}`;
  const interval = metric => between(metric.low, metric.high, x => metricText(metric.name, x));

  const metrics = quality => table(
      ['Metric', 'Value', '95 % interval', ''],
      quality.metrics.map(
          metric =>
              [metric.name.replace('_', ' '),
               html('strong', {}, metricText(metric.name, metric.value)), interval(metric),
               html('span', {class: 'note'}, MEANING[metric.name] || '')]),
      null, 'metrics');

  const calibration = (own, title, caption) => {
    const isShare = say.isShare || own.isShare;
    const all = [...own.predicted, ...own.seen, ...own.low, ...own.high].filter(x => x !== null);
    const range = isShare ? share : {min: Math.min(0, ...all), max: Math.max(...all) * 1.04};
    const text = isShare ? percent : number;
    const chart = plot({
      ...size,
      x: {...range, label: 'predicted'},
      y: range,
      summary: `${title}: mean predicted against mean seen in ${own.seen.length} bins`
    });
    chart.guide(range.min, range.min, range.max, range.max);
    own.seen.forEach((seen, i) => {
      chart.whisker(own.predicted[i], own.low[i], own.high[i], 'c0');
      chart.dot(
          own.predicted[i], seen, 'f0',
          `predicted ${text(own.predicted[i])}, seen ${text(seen)}, ${
              percent(own.share[i])} of the rows`);
    });
    return figure({
      title,
      chart: chart.svg,
      caption,
      numbers: {
        head: ['Predicted', 'Seen', 'from', 'to', 'Share of rows'],
        rows: () => own.seen.map(
            (seen, i) =>
                [text(own.predicted[i]), text(seen), text(own.low[i]), text(own.high[i]),
                 percent(own.share[i])])
      }
    });
  };

  const curve = (title, xs, ys, x, y, guide, caption, names) => {
    const chart = plot({x, y, summary: `${title}. ${caption}`});
    if (guide) chart.guide(...guide);
    chart.line(xs, ys, 'c0');
    return figure({
      title,
      chart: chart.svg,
      caption,
      numbers: {head: names, rows: () => xs.map((v, i) => [number(v), number(ys[i])])}
    });
  };

  const twoClasses = quality => {
    const {sweep} = quality, positives = sweep.positives;
    const auc = quality.metrics.find(metric => metric.name === 'auc');
    const tenth = sweep.flagged.findIndex(x => x >= 0.1);
    const lifts = sweep.recall.map((x, i) => x / sweep.flagged[i]);
    const bars = quality.histogram, most = Math.max(...bars[0], ...bars[1]);
    const spread = plot({
      x: {...share, label: say.outputName(0)},
      y: {min: 0, max: most, share: true},
      summary: 'How the predictions of both classes are spread'
    });
    bars.forEach((list, c) => {
      const xs = [], ys = [];
      list.forEach((height, i) => {
        xs.push(i / list.length, (i + 1) / list.length);
        ys.push(height, height);
      });
      spread.line(xs, ys, c === 0 ? 'c0' : 'c1 d1');
    });
    return [
      calibration(
          quality.calibration, 'Calibration',
          'Rows by their prediction, in bins: what was predicted against what was seen, with ' +
              '95 % intervals. On the diagonal both agree.'),
      curve(
          'ROC', [0, ...sweep.fall_out], [0, ...sweep.recall],
          {...share, label: `share of ${label.classes[0]} flagged`}, share, [0, 0, 1, 1],
          `The area below is ${number(auc.value)} (${interval(auc)}).`, ['False alarms', 'Found']),
      curve(
          'Precision and recall', sweep.recall, sweep.precision,
          {...share, label: `share of ${label.classes[1]} found`}, share,
          [0, positives, 1, positives],
          `Of those flagged, how many are ${label.classes[1]}. Flagging everybody gives ${
              percent(positives)}.`,
          ['Found', 'Precision']),
      curve(
          'Lift', sweep.flagged, lifts,
          {...share, label: 'share of rows flagged, the riskiest first'},
          {min: 0, max: Math.max(...lifts) * 1.05}, [0, 1, 1, 1],
          `The first tenth holds ${number(lifts[tenth] || 1)} times as many ${
              label.classes[1]} as chance would give.`,
          ['Flagged', 'Lift']),
      figure({
        title: 'Predictions by class',
        chart: spread.svg,
        legendOf: label.classes.map((name, c) => [name, c ? 'c1 d1' : 'c0']),
        caption: 'How the predictions of each class are spread.'
      }),
    ];
  };

  const confusion = quality => {
    const totals = quality.confusion.map(list => list.reduce((a, b) => a + b, 0));
    const values =
        quality.confusion.map((list, i) => list.map(x => totals[i] > 0 ? x / totals[i] : null));
    return figure({
      title: 'Confusion',
      chart: heat({
        rows: label.classes,
        columns: label.classes,
        values,
        text: x => x === null ? '–' : `${Math.round(100 * x)}`,
        rowLabel: 'seen',
        columnLabel: 'predicted',
        summary: 'Share of the rows of each class by predicted class'
      }),
      caption: 'Of the rows that are a class (a line), the per cent that are predicted to be each.',
      numbers: {
        head: ['Seen', ...label.classes],
        rows: () => label.classes.map((name, i) => [name, ...values[i].map(percent)])
      }
    });
  };

  const fan = (list, several) => {
    const xs = list.map(bin => bin.predicted[several ? label.main : 0]);
    const at = k => list.map(bin => bin.points[k]);
    const all = list.flatMap(bin => [...bin.points, ...bin.predicted]);
    const range = say.range(all);
    const chart = plot({
      ...size,
      x: {min: Math.min(...xs), max: Math.max(...xs), label: `predicted ${label.name}`},
      y: range,
      summary: 'Labels by prediction'
    });
    chart.area(xs, at(0), at(4), 'band');
    chart.area(xs, at(1), at(3), 'inner');
    chart.line(xs, several ? at(2) : list.map(bin => bin.seen), 'c0');
    if (several)
      label.quantiles.forEach((q, s) => chart.line(xs, list.map(bin => bin.predicted[s]), 'c1 d1'));
    else
      chart.guide(Math.min(...xs), Math.min(...xs), Math.max(...xs), Math.max(...xs));
    return figure({
      title: 'Predicted against seen',
      chart: chart.svg,
      legendOf: [
        [several ? 'median seen' : 'mean seen', 'c0'], ['half of the labels', 'inner'],
        ['four fifths', 'band'], ...(several ? [['predicted quantiles', 'c1 d1']] : [])
      ],
      caption: `Rows by their prediction, in bins of as many rows: where their labels lie.${
          several ? '' : ' On the dashed line both agree.'}`,
      numbers: {
        head: ['Predicted', 'Mean seen', '10 %', '25 %', '50 %', '75 %', '90 %'],
        rows: () =>
            list.map((bin, i) => [number(xs[i]), number(bin.seen), ...bin.points.map(number)])
      }
    });
  };

  const residuals = own => {
    const n = own.bars.length, step = (own.high - own.low) / n;
    const chart = plot({
      ...size,
      x: {min: own.low, max: own.high, label: 'seen minus predicted'},
      y: {min: 0, max: Math.max(...own.bars), share: true},
      summary: 'Histogram of the residuals'
    });
    own.bars.forEach(
        (height, i) => chart.bar(own.low + i * step, own.low + (i + 1) * step, height, 'density'));
    chart.guide(0, 0, 0, Math.max(...own.bars));
    return figure({
      title: 'Residuals',
      chart: chart.svg,
      caption: `Half of them lie between ${number(own.points[1])} and ${
          number(own.points[3])}. The outer bars hold the last hundredth on each side.`
    });
  };

  const coverage = list => {
    const chart = plot(
        {...size, x: {...share, label: 'wanted'}, y: share, summary: 'Coverage of each quantile'});
    chart.guide(0, 0, 1, 1);
    for (const own of list) {
      chart.whisker(own.quantile, own.low, own.high, 'c0');
      chart.dot(own.quantile, own.seen, 'f0', `${percent(own.quantile)}: ${percent(own.seen)}`);
    }
    return figure({
      title: 'Coverage',
      chart: chart.svg,
      caption: 'The share of labels up to each quantile, against what it should be, with 95 % ' +
          'intervals. Fewer than 20 rows have none.',
      numbers: {
        head: ['Quantile', 'Seen', 'from', 'to'],
        rows: () => list.map(
            own => [percent(own.quantile), percent(own.seen), percent(own.low), percent(own.high)])
      }
    });
  };

  const lorenz = own => {
    const chart = plot({
      ...size,
      x: {...share, label: 'share of the exposure, the lowest predictions first'},
      y: share,
      summary: 'Lorenz curve'
    });
    chart.guide(0, 0, 1, 1);
    chart.line([0, ...own.exposure], [0, ...own.labels], 'c0');
    chart.line([0, ...own.exposure], [0, ...own.predictions], 'c1 d1');
    return figure({
      title: 'Lorenz curve',
      chart: chart.svg,
      legendOf: [[`share of ${label.name} seen`, 'c0'], ['share predicted', 'c1 d1']],
      caption: 'The further below the diagonal, the better the model tells small from large.',
      numbers: {
        head: ['Exposure', 'Seen', 'Predicted'],
        rows: () => own.exposure.map(
            (x, i) => [percent(x), percent(own.labels[i]), percent(own.predictions[i])])
      }
    });
  };

  const charts = quality => {
    if (quality.sweep) return twoClasses(quality);
    if (quality.confusion) {
      return [
        confusion(quality),
        ...quality.calibrations.map(
            (own, s) => calibration(
                {...own, isShare: true}, say.outputName(s),
                'Mean predicted against the share seen, in bins, with 95 % intervals.'))
      ];
    }
    if (quality.lorenz) {
      return [
        calibration(
            quality.calibration, 'Balance by decile',
            `Rows by their predicted rate, in bins of the same exposure: the mean ${
                label.name} predicted against that seen, with 95 % intervals.`),
        lorenz(quality.lorenz)
      ];
    }
    if (quality.coverage) return [coverage(quality.coverage), fan(quality.fan, true)];
    return [fan(quality.fan, false), residuals(quality.residuals)];
  };

  // A table and a chart of the groups of a column.
  const groups = own => {
    const names = own.list.map(group => group.name);
    const kept = own.list[0].metrics.map(metric => metric.name);
    const text = say.isShare && label.kind !== 'grades' ? percent : number;
    const all = own.list.flatMap(group => [group.predicted, group.seen, group.low, group.high])
                    .filter(x => x !== null);
    const range = say.range(all, text === percent);
    const chart = plot({
      x: {words: names},
      y: range,
      width: 560,
      height: 240,
      summary: `Mean predicted and seen by ${own.column}`
    });
    own.list.forEach((group, i) => {
      chart.whisker(i + 0.1, group.low, group.high, 'c0');
      chart.dot(i + 0.1, group.seen, 'f0', `${group.name}: seen ${text(group.seen)}`);
      chart.dot(
          i - 0.1, group.predicted, 'f1', `${group.name}: predicted ${text(group.predicted)}`);
    });
    const some = own.list.slice(0, 6).filter(group => group.calibration.seen.length > 1);
    const ends = some.flatMap(group => [...group.calibration.predicted, ...group.calibration.seen]);
    const square = say.range(ends.length > 0 ? ends : [0, 1], text === percent);
    const lines = plot({
      x: {...square, label: 'predicted'},
      y: square,
      width: 560,
      height: 240,
      summary: `Calibration by ${own.column}`
    });
    lines.guide(square.min, square.min, square.max, square.max);
    some.forEach((group, g) => {
      lines.line(group.calibration.predicted, group.calibration.seen, STYLES[g]);
      group.calibration.seen.forEach(
          (seen, i) => lines.dot(
              group.calibration.predicted[i], seen, `f${g}`,
              `${group.name}: predicted ${text(group.calibration.predicted[i])}, seen ${
                  text(seen)}`,
              3));
    });
    return [
      html(
          'div', {class: 'halves'}, figure({
            title: `Predicted and seen by ${own.column}`,
            chart: chart.svg,
            legendOf: [['mean predicted', 'c1'], ['mean seen, with its 95 % interval', 'c0']],
            caption:
                'A group whose interval leaves out the prediction is not calibrated. Fewer than ' +
                '20 rows have no interval.'
          }),
          some.length > 0 && figure({
            title: 'Calibration of the largest groups',
            chart: lines.svg,
            legendOf: some.map((group, g) => [group.name, STYLES[g]]),
            caption:
                'Rows of a group by their prediction, in bins. On the dashed line predictions are ' +
                'right.'
          })),
      html(
          'div', {class: 'card'},
          table(
              [
                own.column, 'Rows', 'Predicted', 'Seen', ...kept.map(name => name.replace('_', ' '))
              ],
              own.list.map(
                  group =>
                      [group.name, Charts.count(group.rows), text(group.predicted),
                       html(
                           'span', {}, text(group.seen), html('br'),
                           html('span', {class: 'note'}, between(group.low, group.high, text))),
                       ...group.metrics.map(
                           metric => html(
                               'span', {}, metricText(metric.name, metric.value), html('br'),
                               html('span', {class: 'note'}, interval(metric))))]),
              `Every metric with its 95 % interval: Wilson's for shares of rows, else from ${
                  own.resamples} resamples of each group; none below 20 rows`)),
    ];
  };

  return {metrics, charts, groups, isWide: 'width' in size};
};
