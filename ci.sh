#!/usr/bin/env bash
# What make and CI call: ./ci.sh VERB (`./ci.sh help` lists them).
#
# Each verb brings what it needs up to date first, and leaves alone what is. A
# part that this machine cannot run is skipped by name in the closing lines.
# Exit codes: 0 done, 1 a part failed, 2 no such verb, 3 the machine lacks
# something, 130 interrupted.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")"

readonly ROOT=$PWD
readonly PY=$ROOT/.venv/bin/python
readonly SKIPPED=${SOJOURN_SKIPPED:-$ROOT/build/test/skipped.txt} # the tests of this file set another
readonly THIRD_PARTY=python/sojourn/THIRD-PARTY.txt # the notices of the crates in the extension, made for the wheel
readonly FUZZED="sender receiver pair scenario recording" # the targets of fuzz/
readonly LACKING=3 # the exit status of a part that this machine cannot run

main() {
  export PIP_DISABLE_PIP_VERSION_CHECK=1 PIP_NO_INPUT=1 PIP_ROOT_USER_ACTION=ignore PYTHONUNBUFFERED=1
  # The extension and the checks must see one interpreter, or PyO3 is rebuilt each time.
  export PYO3_PYTHON=$PY
  local verb=${1:-help}
  case $verb in
    help) usage ;;
    test) everything ;;
    setup | build | demo | bench | behaviour | kills | compared | quoted | ordeal | docs | wheel | dist | lock | clean) "$verb" ;;
    peers | figures | fuzz | fuzz_keep) "$@" ;;
    rust_format | rust_lint | rust_test | generated | python_format | python_lint | python_types | stubs | python_test)
      "$verb" ;;
    *)
      echo "ci.sh: no verb \"$verb\"; ./ci.sh help lists them" >&2
      exit 2
      ;;
  esac
}

usage() {
  cat <<'TEXT'
./ci.sh VERB
  setup    .venv with the locked Python packages
  build    setup, then the Rust extension, optimised, into .venv
  demo     build, then the demonstration: the last line is the path of its page
  test     build, then every check and test
  bench    build, then the cost of each law and of a simulated packet
  behaviour build, then run every law on three links and print how it behaves
  figures [--write] [PAGE...]  build, then compare the figures that pages quote with their runs, or write them
  kills    build, then kill run, report and prove at 15 random moments and at every step of their writing
  peers    build, install the peers that are missing where that may be done, then compare; with options, one point
  ordeal   a hundred million operations on every law, some ten minutes (ORDEAL_OPERATIONS sets another number)
  fuzz [TARGET [SECONDS]]  look for what upsets a sender, a receiver or a reader of files: 20 minutes a target
  fuzz_keep  what fuzz found on its way, minimised, into fuzz/corpus, which `test` plays
  docs     build, then the pages, warnings as errors: the last line is the path of the first one
  wheel    build, then dist/*.whl
  dist     wheel, then install it into a clean environment and run it
  lock     write requirements/*.lock anew from the .in files (needs uv)
  clean    remove .venv, build, dist, target and the caches
One part of `test`, after `build`:
  rust_format rust_lint rust_test generated python_format python_lint python_types stubs python_test quoted
TEXT
}

# ---- The verbs a person types -------------------------------------------------------------------

demo() {
  cat <<'TEXT'
make demo: builds Sojourn, then runs 120 TCP flows over an 8 Mbit/s link for 100 simulated seconds with
five queue laws (tail drop, RED, PI, CoDel, ARM-PFC) and five seeds each, and writes a page that compares them.
It takes about 2 to 4 minutes on a fresh machine (packages and compiling), and some seconds after that.
TEXT
  step "build" build
  local sojourn=$ROOT/.venv/bin/sojourn out=build/demo
  heading "run"
  "$sojourn" run scenarios/arm_pfc/exp1.toml --disc tail_drop \
    --disc red:min=50packets,max=150packets,mark_below_p=0.1 \
    --disc pi --disc codel --disc arm_pfc --seeds 1..5 --out "$out"
  heading "report"
  "$sojourn" report "$out" -o "$out/report.html"
  printf '\nThe page to open:\n%s\n' "$ROOT/$out/report.html"
}

everything() {
  cat <<'TEXT'
make test: builds Sojourn, then runs every check and test: format, lints, Rust tests, generated files,
Python types, the pages, the wheel, Python tests, and the comparison with ns-2 and ns-3 where they are installed.
It takes about 14 to 22 minutes on two cores, the longer time on a fresh machine.
TEXT
  mkdir -p "$(dirname "$SKIPPED")"
  : >"$SKIPPED"
  step "build" build
  attempt "Rust format" rust_format
  attempt "Rust lints" rust_lint
  attempt "Rust tests" rust_test
  attempt "generated files" generated
  attempt "Python format" python_format
  attempt "Python lints" python_lint
  attempt "Python types" python_types
  attempt "Python stubs" stubs
  attempt "pages" docs
  attempt "wheel" wheel
  attempt "Python tests" python_test
  attempt "figures of the pages" quoted
  attempt "comparison with peers" compared
  closing
}

bench() {
  echo "make bench: builds Sojourn, then measures the cost of each law and of a simulated packet, and large networks; about 8 minutes once built."
  step "build" build
  heading "laws"
  "$PY" benches/law_cost.py
  heading "bench"
  "$PY" benches/packet_cost.py
  heading "scale"
  "$PY" benches/scale.py
}

behaviour() {
  echo "make behaviour: builds Sojourn, then runs every law on three links with ten seeds; about a minute once built."
  build
  docs_packages
  PYTHONPATH=docs "$PY" -c 'from sojourn_docs.behaviour import main; main()'
}

figures() {
  echo "make figures: builds Sojourn, then repeats every run whose figures the pages quote; about two minutes once built."
  build
  quoted "$@"
}

# quoted [--write] [PAGE...]: the figures of what is built.
quoted() { "$PY" docs/figures.py "$@"; }

kills() {
  echo "make kills: builds Sojourn, then kills run, report and prove over a good result, some 90 times; about 5 minutes once built."
  build
  KILLS=${KILLS:-15} "$PY" -m pytest -q -rP tests/python/test_killed.py
}

# peers [OPTION...]: the fixed comparison, or the one point that the options name (peers/compare.py --help).
peers() {
  case " $* " in
    *" --help "* | *" -h "*)
      build >/dev/null
      "$PY" peers/compare.py --help
      return
      ;;
    "  ")
      cat <<'TEXT'
make peers: builds Sojourn, installs ns-2 (Debian's ns2) and ns-3 (Debian's libns3-dev, and the Python package ns3; some
80 MB in all) where they are missing and that may be done, then runs the same points in all of them and compares.
It takes about 5 minutes once built. ARGS="..." compares one point of your own: make peers ARGS=--help
TEXT
      ;;
  esac
  install_peers
  build
  if [ "$#" -gt 0 ]; then
    "$PY" peers/compare.py "$@"
    return
  fi
  local status=0
  "$PY" peers/compare.py || status=$?
  [ "$status" -eq 130 ] && return 130
  run_pytest peers -m peers tests/peers/test_ns2_live.py
  return "$status"
}

# The comparison with the peers that are here.
compared() {
  if ! command -v ns >/dev/null && ! [ -x build/ns3/3.44/dumbbell ] && ! [ -x build/ns3/3.37/dumbbell ]; then
    skip "comparison with peers" "neither ns-2 nor ns-3 is installed: make peers"
  fi
  build
  run_pytest peers -m peers tests/peers
}

# What is missing of the peers, where this machine lets it be installed; the rest is named.
install_peers() {
  debian_package ns2 /usr/bin/ns
  debian_package libns3-dev /usr/include/ns3/core-module.h
  if ! [ -d build/ns3/wheel/ns3 ]; then
    rm -rf build/ns3/wheel build/ns3/wheel.new
    # Its Python is not used, so that one wheel serves every Python.
    if setup && "$PY" -m pip install --quiet --no-deps --no-compile --require-hashes --only-binary :all: \
      --implementation cp --python-version 3.11 --abi cp311 --platform manylinux_2_28_x86_64 \
      --target build/ns3/wheel.new -r peers/ns3/requirements.txt; then
      mv build/ns3/wheel.new build/ns3/wheel
    else
      echo "not installed: ns-3 3.44 (no wheel of the Python package ns3 for this machine)"
    fi
  fi
  if command -v c++ >/dev/null; then
    sh peers/ns3/build.sh build/ns3
  else
    echo "not built: ns-3's dumbbell (no C++ compiler: apt-get install g++)"
  fi
}

# debian_package NAME FILE: install the package where FILE is missing.
debian_package() {
  [ -e "$2" ] && return
  if [ "$(id -u)" -eq 0 ] && command -v apt-get >/dev/null; then
    echo "installing $1"
    apt-get update -qq </dev/null && apt-get install -y -qq "$1" </dev/null >/dev/null && return
  fi
  echo "not installed: $1 (as root: apt-get install $1)"
}

ordeal() {
  ORDEAL_OPERATIONS=${ORDEAL_OPERATIONS:-100000000} cargo test --locked --release -p sojourn-aqm --test ordeal
}

fuzz() {
  local targets=${1:-$FUZZED} seconds=${2:-1200} target
  case " $FUZZED $FUZZED " in
    *" $targets "*) ;;
    *) echo "ci.sh fuzz: $targets: is no target; legal: ${FUZZED// /, }" >&2 && exit 2 ;;
  esac
  case $seconds in
    "" | *[!0-9]*) echo "ci.sh fuzz: $seconds: is no number of seconds; legal: such as 1200" >&2 && exit 2 ;;
  esac
  echo "make fuzz: looks for what upsets a sender, a receiver or a reader of files, $seconds seconds a target, with what the compiler can check built in."
  has_fuzz
  for target in $targets; do
    mkdir -p "build/fuzz/$target" "fuzz/regressions/$target"
    # What goes wrong lands where `test` plays it from now on; what only leads somewhere new, in build/fuzz.
    cargo +nightly fuzz run --sanitizer none --target-dir target/fuzz "$target" "build/fuzz/$target" "fuzz/corpus/$target" -- \
      -max_total_time="$seconds" $(fuzz_options "$target") -timeout=10 -artifact_prefix="fuzz/regressions/$target/"
  done
}

fuzz_options() {
  case $1 in
    scenario) echo "-max_len=2000 -dict=fuzz/scenario.dict" ;;
    *) echo "-max_len=600" ;;
  esac
}

fuzz_keep() {
  has_fuzz
  local target
  for target in $FUZZED; do
    mkdir -p "build/fuzz/$target" "build/fuzz/kept/$target"
    cargo +nightly fuzz run --sanitizer none --target-dir target/fuzz "$target" "build/fuzz/kept/$target" "fuzz/corpus/$target" \
      "build/fuzz/$target" -- -set_cover_merge=1 $(fuzz_options "$target")
    rm -rf "fuzz/corpus/$target"
    mv "build/fuzz/kept/$target" "fuzz/corpus/$target"
  done
}

has_fuzz() {
  cargo +nightly --version >/dev/null 2>&1 || skip "fuzzing" "no nightly Rust is installed: rustup toolchain install nightly"
  cargo fuzz --version >/dev/null 2>&1 || skip "fuzzing" "cargo-fuzz is not installed: cargo install cargo-fuzz"
}

docs() {
  echo "make docs: builds Sojourn, then its pages, the law pages' pictures included; about half a minute once built."
  build
  docs_packages
  rm -rf build/docs build/docs-work
  RUSTDOCFLAGS="-D warnings" cargo doc --locked --quiet --no-deps --workspace --exclude sojourn-py
  "$PY" -m sphinx -q -W --keep-going -d build/docs-work/doctrees docs build/docs
  cp -R "${CARGO_TARGET_DIR:-target}/doc" build/docs/rust
  "$PY" -m pytest -q tests/house/test_docs.py
  printf 'The page to open:\n%s\n' "$ROOT/build/docs/index.html"
}

dist() {
  echo "make dist: builds a wheel, installs it into a clean environment and runs it there; about a minute once built."
  wheel
  heading "run the wheel in a clean environment"
  STRANGE=$(mktemp -d)
  trap 'rm -rf "$STRANGE"' EXIT
  make_environment "$STRANGE/env"
  install_locked "$STRANGE/env" requirements/run.lock
  "$STRANGE/env/bin/python" -m pip install --quiet --no-deps --no-index dist/*.whl
  run_wheel "$STRANGE"
  echo "dist: $(ls dist/*.whl)"
}

# run_wheel FOLDER: what a user of the wheel does, in FOLDER/user with FOLDER/env and nothing else: no Rust,
# no tree, no variables of ours.
run_wheel() {
  local version
  mkdir "$1/user"
  clean_run "$1" python -c 'import shutil, sys; sys.exit(any(map(shutil.which, ("cargo", "rustc", "cc"))))'
  version=$(clean_run "$1" sojourn version)
  echo "$version"
  grep -q "^version = \"${version#sojourn }\"$" Cargo.toml
  clean_run "$1" sojourn list scenarios
  clean_run "$1" sojourn run dumbbell --disc tail_drop --disc pi --seeds 1..2 --out first
  clean_run "$1" sojourn report first -o first.html
  clean_run "$1" python -c 'import sojourn as sj; print(sj.run(sj.load("dumbbell", {"duration": "11 s", "at": "[]"})).summary().height)'
  grep -q '</html>' "$1/user/first.html"
}

# clean_run FOLDER COMMAND...: one command of FOLDER/env in FOLDER/user.
clean_run() {
  local place=$1
  shift
  (cd "$place/user" && env -i HOME="$place/user" LANG=C.UTF-8 PATH="$place/env/bin" "$@" </dev/null)
}

wheel() {
  build
  rm -rf dist
  "$PY" crates/py/third_party.py "$THIRD_PARTY"
  maturin build --out "$ROOT/dist"
  "$PY" -m pytest -q tests/house/test_wheel.py
}

lock() {
  command -v uv >/dev/null || lacks "uv" "pip install uv"
  local name
  # Inside the folder, so that the locks' remarks name files by their plain names.
  cd requirements
  for name in bootstrap run dev docs; do
    uv pip compile --quiet --universal --generate-hashes --no-header --python-version 3.11 "$name.in" -o "$name.lock"
  done
}

clean() {
  rm -rf .venv build dist target .mypy_cache .ruff_cache .pytest_cache .hypothesis python/sojourn/_core*.so "$THIRD_PARTY"
  find python tests docs -name __pycache__ -type d -prune -exec rm -rf {} +
}

# ---- The parts of `test` ------------------------------------------------------------------------

rust_format() {
  cargo fmt --version >/dev/null 2>&1 || skip "Rust format" "rustfmt is not installed: rustup component add rustfmt"
  cargo fmt --all --check
  cargo fmt --manifest-path fuzz/Cargo.toml --check
}

rust_lint() {
  cargo clippy --version >/dev/null 2>&1 || skip "Rust lints" "clippy is not installed: rustup component add clippy"
  cargo clippy --locked --workspace --all-targets -- -D warnings
}

# `sojourn-py` links Python and is tested from Python.
rust_test() {
  local log=build/test/rust.log status=0
  mkdir -p build/test
  cargo test --locked --workspace --exclude sojourn-py 2>&1 | tee "$log" || status=1
  sed -n 's/^skipped: //p' "$log" >>"$SKIPPED"
  return "$status"
}

generated() { cargo run --quiet --locked -p xtask -- generate --check; }

python_format() { "$PY" -m ruff format --check .; }

python_lint() { "$PY" -m ruff check .; }

python_types() { "$PY" -m mypy; }

stubs() { "$PY" -m mypy.stubtest --mypy-config-file pyproject.toml sojourn._core; }

# Two processes: a file stays within one, as its tests share runs.
python_test() { run_pytest python -n 2 --dist loadfile tests; }

# run_pytest NAME ARGUMENT...: run pytest; what it skips is named in the closing lines.
run_pytest() {
  local log=build/test/$1.log status=0
  shift
  mkdir -p build/test
  "$PY" -m pytest -rs "$@" 2>&1 | tee "$log" || status=1
  sed -n 's/^SKIPPED \[\([0-9]*\)\] \([^:]*\):[0-9:]* *\(.*\)$/\1 of \2 (\3)/p' "$log" >>"$SKIPPED"
  return "$status"
}

# ---- Set-up -------------------------------------------------------------------------------------

setup() {
  check_machine
  if [ "$(cat .venv/.sojourn-place 2>/dev/null)" != "$ROOT" ] || ! "$PY" -m pip --version >/dev/null 2>&1; then
    make_environment .venv
    echo "$ROOT" >.venv/.sojourn-place # scripts in it name this folder: a moved one is made anew
  fi
  local now
  now=$(digest requirements/dev.lock)
  if [ "$(cat .venv/.sojourn-packages 2>/dev/null)" != "$now" ]; then
    rm -f .venv/.sojourn-docs # the two locks share packages
    install_locked .venv requirements/dev.lock
    remove_unlocked
    echo "$now" >.venv/.sojourn-packages
  fi
}

docs_packages() {
  local now
  now=$(digest requirements/docs.lock)
  [ "$(cat .venv/.sojourn-docs 2>/dev/null)" != "$now" ] || return 0
  install_locked .venv requirements/docs.lock
  echo "$now" >.venv/.sojourn-docs
}

build() {
  setup
  if [ "$(cat .venv/.sojourn-core 2>/dev/null)" != "$(core_state)" ]; then
    maturin develop
    core_state >.venv/.sojourn-core
  fi
}

# What the extension is made from, and the extension itself: somebody may have built another in its place.
core_state() {
  local sources
  sources=$(find crates -type f | LC_ALL=C sort)
  # shellcheck disable=SC2086 # one word a file: no path in this tree holds a space
  digest Cargo.toml Cargo.lock pyproject.toml $sources
  rustc --version
  [ -x .venv/bin/sojourn ] && digest python/sojourn/_core*.so 2>/dev/null || echo "not built"
}

# maturin VERB ARGUMENT...: with no path of this machine left in what is built.
maturin() {
  local flags verb=$1
  shift
  flags=$(tr -s ' ' '\037' <<<"${RUSTFLAGS:-}" | tr -d '\n')
  flags+=${flags:+$'\037'}"--remap-path-prefix=${CARGO_HOME:-$HOME/.cargo}=cargo"
  flags+=$'\037'"--remap-path-prefix=$(rustc --print sysroot)=rust"
  flags+=$'\037'"--remap-path-prefix=${CARGO_TARGET_DIR:-$ROOT/target}=target"
  flags+=$'\037'"--remap-path-prefix=$ROOT=."
  env -u CONDA_PREFIX -u RUSTFLAGS PIP_QUIET=1 VIRTUAL_ENV="$ROOT/.venv" CARGO_ENCODED_RUSTFLAGS="$flags" \
    "$ROOT/.venv/bin/maturin" "$verb" --release --locked "$@"
}

check_machine() {
  command -v cargo >/dev/null || lacks "a Rust toolchain" "https://rustup.rs"
  command -v cc >/dev/null || lacks "a C compiler (cc)" "apt-get install gcc libc6-dev"
  check_folders
  local have need
  have=$(rustc --version 2>/dev/null | cut -d ' ' -f 2) ||
    lacks "a Rust toolchain that runs (rustc --version fails here)" "rustup default stable"
  need=$(sed -n 's/^rust-version = "\(.*\)"/\1/p' Cargo.toml)
  [ "$(printf '%s\n' "$need" "$have" | sort -V | head -n 1)" = "$need" ] ||
    lacks "Rust $need or newer (found $have)" "rustup update stable"
  find_python >/dev/null || lacks "Python 3.11 or newer" "apt-get install python3, or set PYTHON to one"
}

# Everything is built in this folder, and cargo keeps the crates in the user's home, where they may be already.
check_folders() {
  [ -w . ] || lacks "write access to $ROOT" "a copy of this folder that is yours"
  local crates=${CARGO_HOME:-${HOME:-}/.cargo}
  { mkdir -p "$crates" 2>/dev/null && [ -w "$crates" ]; } || cargo fetch --locked --offline >/dev/null 2>&1 ||
    lacks "a home that can be written: cargo keeps crates in $crates" "set HOME (or CARGO_HOME) to a folder of yours"
}

# The first interpreter that is new enough; PYTHON, if set, is asked first.
find_python() {
  local candidate
  for candidate in ${PYTHON:+"$PYTHON"} python3 python python3.14 python3.13 python3.12 python3.11; do
    if "$candidate" -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null; then
      echo "$candidate"
      return
    fi
  done
  return 1
}

# make_environment FOLDER: a fresh virtual environment with pip in it.
make_environment() {
  local python
  python=$(find_python)
  rm -rf "$1"
  if command -v uv >/dev/null; then
    UV_PYTHON_DOWNLOADS=never uv venv --quiet --seed --python "$python" "$1"
  elif "$python" -c 'import venv, ensurepip' 2>/dev/null; then
    "$python" -m venv "$1"
  else
    # Debian splits venv off. `--target` leaves the system's own packages alone.
    "$python" -m pip --version >/dev/null 2>&1 || lacks "pip and the venv module" "apt-get install python3-pip"
    rm -rf build/bootstrap
    "$python" -m pip install --quiet --target build/bootstrap --require-hashes -r requirements/bootstrap.lock
    PYTHONPATH=build/bootstrap "$python" -m virtualenv --quiet "$1"
  fi
}

# install_locked ENVIRONMENT LOCK: every package with the hash that the lock names.
install_locked() {
  echo "packages of $2"
  if command -v uv >/dev/null; then
    uv pip install --python "$1/bin/python" --require-hashes -r "$2"
  else
    "$1/bin/python" -m pip install --progress-bar off --require-hashes -r "$2" |
      awk '/^Collecting/ { print "  " $2; fflush() } /^Installing/ { print "  installing"; fflush() }'
  fi
}

# Remove from .venv what no lock names: what came with the environment, and what an earlier lock had.
remove_unlocked() {
  local others
  others=$("$PY" - requirements/dev.lock requirements/docs.lock <<'TEXT'
import re, sys
from importlib.metadata import distributions

plain = lambda name: re.sub(r"[-_.]+", "-", name).lower()
locked = {plain(name) for lock in sys.argv[1:] for name in re.findall(r"(?m)^([\w.-]+)==", open(lock).read())}
print(*sorted({plain(one.name) for one in distributions()} - locked - {"sojourn"}))
TEXT
  )
  # shellcheck disable=SC2086 # names of packages, a word each
  [ -z "$others" ] || "$PY" -m pip uninstall --quiet --yes $others
}

# ---- Running parts, and saying how they went ----------------------------------------------------

PASSED=0
FAILED=()

heading() { printf '\n== %s (at %d s)\n' "$1" "$SECONDS"; }

# step NAME VERB: a part that all the rest needs; the script ends where it fails.
step() {
  local began=$SECONDS
  heading "$1"
  "$2"
  printf -- '-- %s: done in %d s\n' "$1" $((SECONDS - began))
}

# attempt NAME VERB: a part that may fail without ending the others. It runs in a process of its
# own, because bash drops `set -e` inside whatever stands before `||`.
attempt() {
  local began=$SECONDS status=0 word
  heading "$1"
  "$BASH" ./ci.sh "$2" || status=$?
  case $status in
    0) word=passed PASSED=$((PASSED + 1)) ;;
    "$LACKING") word=skipped ;;
    130) exit 130 ;;
    *) word=FAILED FAILED+=("$1") ;;
  esac
  printf -- '-- %s: %s in %d s\n' "$1" "$word" $((SECONDS - began))
}

# skip NAME HOW: end this part, which the machine cannot run; `test` names it at its end.
skip() {
  echo "skipped: $1 ($2)"
  mkdir -p "$(dirname "$SKIPPED")"
  echo "$1 ($2)" >>"$SKIPPED"
  exit "$LACKING"
}

# lacks WHAT HOW: this machine cannot do it.
lacks() {
  echo "ci.sh: this machine lacks $1; to get it: $2" >&2
  exit 3
}

closing() {
  printf '\n== all parts (%d s)\n' "$SECONDS"
  sed 's/^/skipped: /' "$SKIPPED"
  local name
  for name in ${FAILED[@]+"${FAILED[@]}"}; do echo "failed: $name"; done
  echo "$PASSED passed, ${#FAILED[@]} failed"
  [ "${#FAILED[@]}" -eq 0 ]
}

# digest FILE...: one hash of names and contents.
digest() {
  { printf '%s\n' "$@" && cat -- "$@"; } | { sha256sum 2>/dev/null || shasum -a 256; } | cut -c 1-64
}

main "$@"
