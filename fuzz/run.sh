#!/usr/bin/env bash
# fuzz/run.sh look [TARGET [SECONDS]]  search for inputs that break a target; 20 minutes for each target
# fuzz/run.sh keep                     the fewest of corpus and findings that reach every edge found so far
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
readonly TARGETS="sender receiver pair scenario recording"

# run TARGET FOLDER... -- OPTION...
run() {
  local options="-max_len=600"
  [ "$1" != scenario ] || options="-max_len=2000 -dict=fuzz/scenario.dict"
  # shellcheck disable=SC2086 # options, a word each
  cargo +nightly fuzz run --sanitizer none --target-dir target/fuzz "$@" $options
}

look() {
  local targets=${1:-$TARGETS} seconds=${2:-1200} target
  case " $TARGETS $TARGETS " in
    *" $targets "*) ;;
    *) echo "fuzz/run.sh: $targets: unknown target; expected ${TARGETS// /, }" >&2 && exit 2 ;;
  esac
  case $seconds in
    "" | *[!0-9]*) echo "fuzz/run.sh: $seconds: not a number of seconds; expected a number such as 1200" >&2 && exit 2 ;;
  esac
  for target in $targets; do
    mkdir -p "build/fuzz/$target" "fuzz/regressions/$target"
    # Failures land where `make test` replays them; other new inputs, in build/fuzz.
    run "$target" "build/fuzz/$target" "fuzz/corpus/$target" -- -max_total_time="$seconds" -timeout=10 \
      -artifact_prefix="fuzz/regressions/$target/"
  done
}

keep() {
  local target
  for target in $TARGETS; do
    mkdir -p "build/fuzz/$target"
    rm -rf "build/fuzz/kept/$target"
    mkdir -p "build/fuzz/kept/$target"
    run "$target" "build/fuzz/kept/$target" "fuzz/corpus/$target" "build/fuzz/$target" -- -set_cover_merge=1 \
      -use_counters=0
    rm -rf "fuzz/corpus/$target"
    mv "build/fuzz/kept/$target" "fuzz/corpus/$target"
  done
}

"$@"
