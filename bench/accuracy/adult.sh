#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Adult (UCI) with the paper's four monotone features and plain defaults: five seeds, each with its own
# 80/20 split to choose the epoch, judged on the UCI test file. Prints a row a seed and the means.
#
#   bench/accuracy/adult.sh [more flags for espalier train]
#
# Wants build/espalier (make build) and the files of Adult; bench/data/tables.py says where.
set -euo pipefail
root=$(cd "$(dirname "$0")/../.." && pwd)
espalier=$root/build/espalier
[ -e "$espalier" ] || { echo "adult.sh: $espalier is not there" >&2; exit 1; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

python3 "$root/bench/data/tables.py" adult "$work"
adult=$work/adult

printf '%-5s %10s %10s %10s %10s  %s\n' seed accuracy log_loss auc seconds proof
for seed in 1 2 3 4 5; do
  "$espalier" train "$adult/all.csv" --config "$adult/options.json" --valid-fraction 0.2 \
    --seed "$seed" -o "$work/adult.esp" --json "$@" > "$work/train.json" 2> "$work/log" ||
    { cat "$work/log" >&2; exit 1; }
  "$espalier" evaluate "$work/adult.esp" "$adult/test.csv" --json > "$work/test.json"
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
