#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Makes one model of each kind that the newest file format is for, in the folder FORMAT beside this
# script.
# Never run it for a format that was released: see README.md. Usage: make.sh ESPALIER FORMAT
set -euo pipefail
espalier=$(realpath "$1")
cd "$(dirname "$0")"
mkdir "$2"
cd "$2"
scratch=$(mktemp -d)
trap 'rm -r "$scratch"' EXIT

"$espalier" simulate --rows 20 --seed 8 --missing 0.2 --kind claims -o rows.csv
# What no training row had: words, numbers beyond the keypoints, the words that mean missing.
printf '%s\n' 'inf,-inf,1e30,-1,-999,-999,moon,none,tent,0.5,0,0' \
  '-inf,inf,-5,1e9,0,,?,NA,,2,0,0' '0,0,0,0,0,0,north,home,rent,1e-3,0,0' >> rows.csv
for kind in loans claims prices grades; do
  "$espalier" simulate --rows 300 --seed 7 --kind $kind -o "$scratch/$kind.csv"
done

# train KIND NAME FLAGS...: a model that never falls with late payments
train() {
  "$espalier" train "$scratch/$1.csv" --quiet --epochs 3 --interactions "${pairs:-none}" \
    --increasing late_payments --architecture 'cal(6) lin(6) cal(4) lat(3x2) cal(4) lin(1)' \
    -o "$2.esp" "${@:3}"
}
claims=(--exposure exposure --decreasing income)

train claims poisson --label claims --drop cost --loss poisson "${claims[@]}"
train claims tweedie --label cost --offset claims --loss tweedie --power 1.7 --ensemble 2 \
  "${claims[@]}"
train prices gamma --label loan_amount --drop interest --loss gamma
train prices absolute-error --label interest --loss absolute_error
train prices quantile --label interest --quantile 0.9
train prices quantiles --label interest --quantile 0.1,0.5,0.9 --decreasing income
trees=(--trees 12 --tree-leaves 8 --tree-share 0.5)
train claims trees --label claims --drop cost --loss poisson "${claims[@]}" "${trees[@]}"
train prices trees-quantiles --label interest --quantile 0.1,0.5,0.9 --decreasing income \
  "${trees[@]}"
train grades grades --label grade --grades 'low<moderate<high<severe'
pairs='age*housing:8' train loans pairs --label default
"$espalier" simulate --rows 300 --seed 7 --missing 0.2 -o "$scratch/gaps.csv"
pairs='late_payments*age:4,housing*late_payments:3,income*late_payments:5' \
  train gaps tables --label default --decreasing income
"$espalier" train "$scratch/grades.csv" --quiet --epochs 3 --interactions none --label grade \
  --architecture 'cal(6) lin(6) cal(4) lat(3x2) cal(4) lin(4)' -o classes.esp
"$espalier" train "$scratch/grades.csv" --quiet --epochs 3 --interactions none --label grade \
  --increasing low:income,severe:late_payments --decreasing severe:income,low:late_payments \
  --architecture 'cal(6) lin(6) cal(4) lat(3x2) cal(4) lin(4)' -o directed-classes.esp
