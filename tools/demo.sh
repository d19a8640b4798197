#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The main job on synthetic loans: train, verify, evaluate, predict, inspect.
# `make demo` builds the program first.
set -euo pipefail

root=$(cd "$(dirname "$0")/.." && pwd)
export PATH=$root/build:$PATH
rm -rf "$root/build/demo"
mkdir -p "$root/build/demo"
cd "$root/build/demo"

# show SENTENCE COMMAND: says what a command is for, prints it and runs it.
show() {
  printf '\n# %s\n$ %s\n' "$1" "$2"
  eval "$2"
}

show 'Synthetic loans: the true risk rises with debt and late payments and falls with income.' \
  'espalier simulate --rows 20000 --seed 1 > loans.csv'
show 'New loans from another seed, to evaluate the model on.' \
  'espalier simulate --rows 5000 --seed 2 > test.csv'
show 'The first rows. An empty field is a missing value.' \
  'head -n 4 loans.csv'
show 'Train a model whose risk is monotonic in four features.' \
  'espalier train loans.csv --label default --increasing debt_ratio,late_payments \
    --decreasing income,years_employed -o loans.esp'
show 'Verify the model: every inequality of the stored parameters, with no tolerance.' \
  'espalier verify loans.esp'
show 'Evaluate the model on new loans.' \
  'espalier evaluate loans.esp test.csv'
show 'Predict new loans from standard input. The last column is the prediction.' \
  'head -n 6 test.csv | espalier predict loans.esp - --keep income,debt_ratio,late_payments'
show 'Write a report. Open it in a browser and move the sliders of the what-if panel.' \
  'espalier report loans.esp test.csv -o report.html --by region'
show 'Inspect the model: layers, parameters and curves.' \
  'espalier inspect loans.esp | sed -n 1,40p'

printf '\nThe report is %s. The other files are beside it.\n' "$root/build/demo/report.html"
