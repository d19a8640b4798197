#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Runs one libFuzzer program of the preset fuzz: replays the committed corpus and past crashes, then
# tries RUNS inputs. Those that reach new code are kept in FOLDER. One that crashes, leaks, takes a
# second or 256 MB is left as build-fuzz/TARGET-...; once that is fixed it belongs into
# tests/fuzz/crashes/TARGET. Usage: fuzz.sh TARGET RUNS FOLDER SEED; the seed 0 is the clock.
set -euo pipefail
cd "$(dirname "$0")/.."
target=$1 runs=$2 folder=$3 seed=$4
case $target in
  csv) longest=256 ;;
  model) longest=1400 ;;
  config) longest=1024 ;;
  architecture) longest=160 ;;
  *) echo "error: no fuzz target '$target'" >&2 && exit 2 ;;
esac
mkdir -p "$folder/$target"
log=$folder/$target.log
inputs=("$folder/$target" "tests/fuzz/corpus/$target")
[[ ! -d tests/fuzz/crashes/$target ]] || inputs+=("tests/fuzz/crashes/$target")

# Freed memory that the address sanitizer holds back would count as used.
export ASAN_OPTIONS=quarantine_size_mb=8:malloc_context_size=2:detect_stack_use_after_return=0
export UBSAN_OPTIONS=print_stacktrace=1
status=0
"build-fuzz/tests/fuzz/${target}_fuzz" -runs="$runs" -seed="$seed" -max_len="$longest" \
  -rss_limit_mb=256 -timeout=1 -print_final_stats=1 -dict="tests/fuzz/$target.dict" \
  -artifact_prefix="build-fuzz/$target-" "${inputs[@]}" > "$log" 2>&1 || status=$?
if [[ $status -ne 0 ]]; then
  tail -n 60 "$log" >&2
  echo "error: the $target fuzzer failed; its whole log is $log" >&2
  exit "$status"
fi
awk -v target="$target" '/number_of_executed_units/ {runs = $2} /average_exec_per_sec/ {rate = $2}
  /peak_rss_mb/ {peak = $2}
  END {printf "%s: %d inputs, %d a second, at most %d MB: no crash\n", target, runs, rate, peak}' \
  "$log"
