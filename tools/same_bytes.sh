#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Two builds of the program make the same tables, models and predictions, byte for byte.
#   tools/same_bytes.sh PROGRAM OTHER     # each a command that may have several words
set -euo pipefail

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
read -ra first <<< "$1"
read -ra second <<< "$2"

# run NAME COMMAND...: what a build makes, in a folder of that name.
run() {
  local out=$folder/$1
  shift
  mkdir "$out"
  "$@" simulate --rows 1500 --seed 3 -o "$out/loans.csv"
  for architecture in dln random-lattices calibrated-linear 'cal(8) lin(6) cal(5) lat(2x3,simplex) sum'
  do
    local name=${architecture%%(*}
    "$@" train "$out/loans.csv" --label default --increasing debt_ratio,late_payments \
      --decreasing income,years_employed --architecture "$architecture" --epochs 2 --ensemble 2 \
      --quiet -o "$out/$name.esp"
    "$@" predict "$out/$name.esp" "$out/loans.csv" > "$out/$name.txt"
  done
}

run first "${first[@]}"
run second "${second[@]}"
diff -r "$folder/first" "$folder/second"
echo "$(find "$folder/first" -type f | wc -l) files of both builds are the same"
