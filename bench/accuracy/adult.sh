#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Adult (UCI) with the paper's four monotone features and plain defaults: five seeds, each with its own
# 80/20 split to choose the epoch, judged on the UCI test file. Prints a row a seed and the means.
#
#   bench/accuracy/adult.sh [more flags for espalier train]
#
# Wants adult.data and adult.test (UCI "Adult", as published) in $ESPALIER_DATA/adult, else in
# ../shared/data/adult; and build/espalier (make build).
set -euo pipefail
root=$(cd "$(dirname "$0")/../.." && pwd)
data=${ESPALIER_DATA:-$root/../shared/data}/adult
espalier=$root/build/espalier
for file in "$data/adult.data" "$data/adult.test" "$espalier"; do
  [ -e "$file" ] || { echo "adult.sh: $file is not there" >&2; exit 1; }
done
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

columns=age,workclass,fnlwgt,education,education-num,marital-status,occupation,relationship,race,sex
columns+=,capital-gain,capital-loss,hours-per-week,native-country,income
# The labels of the test file end in a full stop.
sed 's/\.$//' "$data/adult.test" > "$work/test.csv"

printf '%-5s %10s %10s %10s %10s  %s\n' seed accuracy log_loss auc seconds proof
for seed in 1 2 3 4 5; do
  "$espalier" train "$data/adult.data" --no-header --columns "$columns" --drop fnlwgt,education \
    --label income --positive '>50K' --order 'sex=Female<Male' \
    --increasing capital-gain,hours-per-week,education-num,sex \
    --valid-fraction 0.2 --seed "$seed" -o "$work/adult.esp" --json "$@" > "$work/train.json" 2> "$work/log" ||
    { cat "$work/log" >&2; exit 1; }
  "$espalier" evaluate "$work/adult.esp" "$work/test.csv" --no-header --columns "$columns" --skip-lines 1 \
    --json > "$work/test.json"
  "$espalier" verify "$work/adult.esp" --json > "$work/proof.json"
  python3 - "$seed" "$work" <<'PY'
import json, sys
seed, work = sys.argv[1:]
test, train, proof = (json.load(open(f"{work}/{name}.json")) for name in ("test", "train", "proof"))
print(f"{seed:<5} {test['accuracy']:10.4f} {test['log_loss']:10.4f} {test['auc']:10.4f} {train['seconds']:10.1f}"
      f"  {proof['inequalities']} inequalities, {proof['violations']} violated")
PY
done | tee "$work/rows"
awk '{a += $2; l += $3; u += $4; s += $5} END {printf "mean  %10.4f %10.4f %10.4f %10.1f\n", a/NR, l/NR, u/NR, s/NR}' "$work/rows"
