// SPDX-License-Identifier: Apache-2.0
// The wording about predictions, by kind of label.
'use strict';

const Speech = data => {
  const {html, draw, number, percent} = Charts;
  const {label} = data, columns = data.columns.list;
  const isShare = ['two classes', 'grades', 'classes'].includes(label.kind);
  const value = x => isShare ? percent(x) : number(x);
  const order = columns.map((_, f) => f)
                    .sort((a, b) => (columns[b].importance ?? 0) - (columns[a].importance ?? 0));
  const rate = data.beside.some(own => own.role === 'exposure');

  const outputName = s => ({
    'two classes': `Probability of ${label.classes[1]}`,
    grades: `Probability of ${label.classes[s + 1]} or more`,
    classes: `Probability of ${label.classes[s]}`,
    quantiles: `${percent(label.quantiles[s])} quantile`,
    amount: rate ? `Expected ${label.name} a unit of exposure` : `Expected ${label.name}`,
    number: `Predicted ${label.name}`,
  })[label.kind];

  const predictionTitle = {
    'two classes': `Probability that ${label.name} is ${label.classes[1]}`,
    grades: `${label.name}`,
    classes: `Most probable ${label.name}`,
    quantiles: `Quantiles of ${label.name}`,
    amount: `Expected ${label.name}`,
    number: `Predicted ${label.name}`,
  }[label.kind];

  const sentence = {
    'two classes':
        `the probability that ${label.name} is ${label.classes[1]} rather than ${label.classes[0]}`,
    grades: `${label.name}, one of the grades ${label.classes.join(' < ')}`,
    classes: `${label.name}, one of ${label.classes.length} classes`,
    quantiles: `the ${(label.quantiles || []).map(percent).join(', ')} quantile${
        label.quantiles.length > 1 ? 's' : ''} of ${label.name}`,
    amount: `the expected ${label.name}${rate ? ', for the exposure of each row' : ''}`,
    number: label.loss === 'absolute_error' ? `the median of ${label.name}` :
                                              `the mean of ${label.name}`,
  }[label.kind];

  const best = predicted => predicted.indexOf(Math.max(...predicted));
  const gradeOf = reached => reached.filter(p => p >= 0.5).length;
  const headline = predicted => {
    if (label.kind === 'grades') return label.classes[gradeOf(predicted)];
    if (label.kind === 'classes') return label.classes[best(predicted)];
    return predicted.map(value).join('  ·  ');
  };

  const shareBars = entries => html(
      'ul', {class: 'reasons'},
      entries.map(
          ([name, share]) => html(
              'li', {}, html('span', {class: 'name'}, name),
              draw(
                  'svg', {
                    viewBox: '0 0 200 12',
                    preserveAspectRatio: 'none',
                    height: 12,
                    'aria-hidden': 'true'
                  },
                  draw('rect', {class: 'f0', width: Math.max(200 * share, 0.5), y: 1, height: 10})),
              html('span', {class: 'value'}, percent(share)))));
  // The other numbers of a prediction, if it has several.
  const predictionLines = predicted => {
    if (label.kind === 'classes')
      return shareBars(label.classes.map((name, i) => [name, predicted[i]]));
    if (label.kind === 'grades') {
      return shareBars(label.classes.map(
          (name, g) =>
              [name, (g > 0 ? predicted[g - 1] : 1) - (g < predicted.length ? predicted[g] : 0)]));
    }
    if (label.kind === 'quantiles' && predicted.length > 1) {
      return Charts.table(label.outputs.map((_, s) => outputName(s)), [predicted.map(number)]);
    }
    return null;
  };

  // The output that is shown alone, and its score, the sum of the Shapley values.
  const mainOf = predicted => label.kind === 'classes' ? best(predicted) : label.main;
  const explained = (scores, s) => {
    if (label.kind !== 'classes') return scores[s];
    const others = scores.filter((_, i) => i !== s), most = Math.max(...others);
    return scores[s] - most - Math.log(others.reduce((sum, x) => sum + Math.exp(x - most), 0));
  };
  const scoreName = isShare   ? 'The log-odds' :
      label.kind === 'amount' ? 'The logarithm of the rate' :
                                'The prediction';

  // The guarantee of a feature: an arrow, or one per class; null for none.
  const promise = column => {
    if (label.kind !== 'classes') return Charts.arrow(column.direction);
    const arrows =
        (column.promises ||
         []).map(([output, direction]) => Charts.arrow(direction, label.classes[output]));
    return arrows.length > 0 ? html('span', {class: 'arrows'}, arrows) : null;
  };

  const range = (values, asShare = isShare) => {
    const finite = values.filter(x => x !== null && Number.isFinite(x));
    let low = Math.min(...finite), high = Math.max(...finite);
    if (asShare) {
      low = Math.max(0, low - 0.03 - (high - low) * 0.08);
      high = Math.min(1, high + 0.03 + (high - low) * 0.08);
      if (low < 0.12) low = 0;
    } else {
      const gap = (high - low) * 0.08 || Math.abs(high) * 0.05 || 1;
      const touches = low >= 0 && low < (high - low) * 0.5;
      low = touches ? 0 : low - gap;
      high += gap;
    }
    return {min: low, max: high, share: asShare};
  };

  return {
    promise,
    order,
    value,
    isShare,
    outputName,
    predictionTitle,
    sentence,
    headline,
    predictionLines,
    mainOf,
    explained,
    scoreName,
    range,
    rate
  };
};
