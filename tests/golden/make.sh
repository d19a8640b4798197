#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Makes one model of each kind for a new file format, in the folder FORMAT beside this script.
# Never run it for a format that was released: see README.md. Usage: make.sh ESPALIER FORMAT
set -euo pipefail
espalier=$(realpath "$1")
cd "$(dirname "$0")"
mkdir "$2"
cd "$2"
scratch=$(mktemp -d)
trap 'rm -r "$scratch"' EXIT

"$espalier" simulate --rows 300 --seed 7 -o "$scratch/loans.csv"
"$espalier" simulate --rows 20 --seed 8 --missing 0.2 -o rows.csv
# What no training row had: words, numbers beyond the keypoints, the words that mean missing.
printf '%s\n' 'inf,-inf,1e30,-1,-999,-999,moon,none,tent,no' '-inf,inf,-5,1e9,0,,?,NA,,yes' \
  '0,0,0,0,0,0,north,home,rent,no' >> rows.csv

# train NAME FLAGS...: a model that never falls with debt and late payments
train() {
  "$espalier" train "$scratch/loans.csv" --quiet --epochs 3 --increasing debt_ratio,late_payments \
    -o "$1.esp" "${@:2}"
}
risk=(--label default --decreasing income,years_employed)

train dln "${risk[@]}" --architecture dln
train dln-paper "${risk[@]}" --drop age --initialization paper --lattice-noise 0.1 --architecture \
  'cal(8,-2:2) lin(12,split) cal(6,-2:2) lat(4x3) cal(6,-2:2) lin(1)'
train calibrated-linear --label loan_amount --drop default --decreasing years_employed \
  --architecture calibrated-linear
train calibrated-lattice "${risk[@]}" --drop age,purpose,housing --class-weight balanced \
  --architecture calibrated-lattice
train random-lattices "${risk[@]}" --drop purpose --ensemble 3 --architecture random-lattices
train simplex-sum "${risk[@]}" --drop region --monotone-calibrators all \
  --architecture 'cal(6) gather(5x2) lat(5x2,simplex) cal(4) sum'
train ordered-weighted "${risk[@]}" --weight loan_amount --missing age=-999 \
  --missing purpose=none --order 'housing=own<mortgage<rent' --max-categories 3 \
  --architecture 'cal(5) lin(4) cal(3) lat(2x2,simplex) cal(3) lin(1)'
