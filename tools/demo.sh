#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The main job on a made-up table of loans: train, prove, judge, predict, look inside.
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

show 'Made-up loans: the true risk rises with debt and late payments and falls with income.' \
  'espalier simulate --rows 20000 --seed 1 > loans.csv'
show 'Fresh loans from another seed, to judge the model on.' \
  'espalier simulate --rows 5000 --seed 2 > test.csv'
show 'What the table looks like; empty cells are missing.' \
  'head -n 4 loans.csv'
show 'One command makes a model whose risk never moves in a wrong direction.' \
  'espalier train loans.csv --label default --increasing debt_ratio,late_payments \
    --decreasing income,years_employed -o loans.esp'
show 'The proof: every inequality on the stored numbers, with no tolerance.' \
  'espalier verify loans.esp'
show 'How good it is on loans it has never seen.' \
  'espalier evaluate loans.esp test.csv'
show 'The risk of new loans, from standard input; the last column is the prediction.' \
  'head -n 6 test.csv | espalier predict loans.esp - --keep income,debt_ratio,late_payments'
show 'All of it as a page for people: open it in a browser, move the sliders of what-if.' \
  'espalier report loans.esp test.csv -o report.html --by region'
show 'The model laid open: layers, parameters, curves.' \
  'espalier inspect loans.esp | sed -n 1,40p'

printf '\nThe page is %s; the other files lie beside it.\n' "$root/build/demo/report.html"
