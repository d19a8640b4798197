#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Runs one libFuzzer program of the preset asan: replays the committed corpus and past crashes, then
# tries RUNS inputs. Those that reach new code are kept in FOLDER. One that crashes, leaks, takes a
# second, 256 MB or 32 MB at once is left as build-asan/TARGET-...; once that is fixed it belongs into
# tests/fuzz/crashes/TARGET. Usage: fuzz.sh TARGET RUNS FOLDER SEED; the seed 0 is the clock.
set -euo pipefail
cd "$(dirname "$0")/.."
target=$1 runs=$2 folder=$3 seed=$4
case $target in
  csv) longest=256 ;;
  model) longest=1400 ;;
  config) longest=1024 ;;
  architecture) longest=160 ;;
  tune) longest=512 ;;
  table) longest=400 ;;
  *) echo "error: no fuzz target '$target'" >&2 && exit 2 ;;
esac
mkdir -p "$folder/$target"
log=$folder/$target.log
inputs=("$folder/$target" "tests/fuzz/corpus/$target")
[[ ! -d tests/fuzz/crashes/$target ]] || inputs+=("tests/fuzz/crashes/$target")

# Freed memory that the address sanitizer holds back would count as used.
export ASAN_OPTIONS=quarantine_size_mb=8:malloc_context_size=2:detect_stack_use_after_return=0
export UBSAN_OPTIONS=print_stacktrace=1
program=build-asan/tests/fuzz/${target}_fuzz

# Whether a unit that took a second by the clock takes less than one of the CPU: then the machine was
# busy, and the unit is innocent.
is_quick() {
  local TIMEFORMAT=%U cpu
  cpu=$({ time "$program" "$1" > /dev/null 2>&1; } 2>&1)
  awk -v cpu="$cpu" 'BEGIN {exit !(cpu < 1)}'
}

stat() { awk -v name="stat::$1:" '$1 == name {print $2}' "$log"; }

done_runs=0 peak=0 SECONDS=0
while [[ $done_runs -lt $runs ]]; do
  status=0
  "$program" -runs=$((runs - done_runs)) -seed="$seed" -max_len="$longest" \
    -rss_limit_mb=256 -malloc_limit_mb=32 -timeout=1 -print_final_stats=1 -dict="tests/fuzz/$target.dict" \
    -artifact_prefix="build-asan/$target-" "${inputs[@]}" > "$log" 2>&1 || status=$?
  executed=$(stat number_of_executed_units) memory=$(stat peak_rss_mb)
  done_runs=$((done_runs + ${executed:-0}))
  [[ ${memory:-0} -le $peak ]] || peak=$memory
  [[ $status -ne 0 ]] || continue
  slow=$(sed -n 's/.*Test unit written to \(.*-timeout-.*\)/\1/p' "$log")
  if [[ -n $slow && ${executed:-0} -gt 0 ]] && is_quick "$slow"; then
    rm "$slow"
    seed=$((seed == 0 ? 0 : seed + 1))
    continue
  fi
  tail -n 60 "$log" >&2
  echo "error: the $target fuzzer failed; its whole log is $log" >&2
  exit "$status"
done
echo "$target: $done_runs inputs, $((done_runs / (SECONDS + 1))) a second, at most $peak MB: no crash"
