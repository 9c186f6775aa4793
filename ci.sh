#!/usr/bin/env bash
# The builds and checks behind make: ./ci.sh VERB. Parts that this machine cannot run are skipped by name.
# Exit codes: 0 done, 1 a part failed, 2 no such verb, 3 the machine lacks something, 130 interrupted.
#
#: setup       .venv with the locked Python packages
#: develop     setup, then the Rust extension without link-time optimisation, into .venv
#: build       setup, then the Rust extension as users get it, into .venv
#: check       develop, then the quick checks
#: test        build, then every check and test
#: demo        build, then the demonstration: the last line is the path of its page
#: bench       build, then the cost of each law, of many queues, of a simulated packet and of a live one, large networks, and a sweep
#: behaviour   build, then a table of the behaviour of every law on three links
#: figures     [--write] [PAGE...]: build, then compare the figures that pages quote with their runs, or write them
#: kills       build, then kill run, sweep, report, prove and lab at 15 random moments (KILLS) and at every step of their writing
#: live        build, then live runs (LIVE_RUNS, 5) beside packets, a million live packets replayed, and 64 flows at 100 Mbit/s: half an hour, idle
#: parameter   setup, then add parameters to a copy of the tree, build it, and find them in help, schema, pages and Python
#: peers       build, install missing peers where possible, then compare; with options, one point
#: kernel_check [--keep]: boot a Debian kernel in virtual time and compare its red, pie, codel, fq_codel and cake with ours
#: flent_check build, install Flent into an environment of its own, and let it open, summarise and plot our data files; with netperf (peers/netperf.sh) let it measure over the lab
#: kernel_tcp  [--keep]: boot it with TCP flows of its own through cake and fq_codel, and compare their goodputs with ours
#: sqm         build, then sqm in packets: ten seeds (SQM_SEEDS) against codel, pie, pi2, fq_codel and others, a quarter of an hour
#: calibration build, then p of the calibrated fluid beside packets over the grid of docs/theory/calibration.md, a quarter of an hour
#: noise       build, then predicted deviations of queues beside packets over the grid of docs/theory/noise.md, ten minutes
#: design      build, then `sojourn design` for every law over a wide box, in packets at 20 points, some minutes
#: networks    build, then certificates of ten random networks of congested links beside the running fluid, some minutes
#: engines     build, then sweeps on Dask and Ray, on clusters of this machine: a minute or two
#: long        build, then the whole of the tests of which `test` runs a part and that have no verb of their own
#: ordeal      a hundred million operations (ORDEAL_OPERATIONS) on every law and every qdisc, less than an hour
#: fuzz        [TARGET [SECONDS]]: search for inputs that break a sender, a receiver or a reader: 20 minutes a target
#: fuzz_keep   minimise what fuzz found on its way into fuzz/corpus, which `test` plays
#: docs        build, then the pages, warnings as errors: the last line is the path of the first one
#: wheel       build, then dist/*.whl
#: dist        wheel, then install it into a clean environment and run it
#: lock        write requirements/*.lock anew from the .in files (needs uv)
#: clean       remove .venv, build, dist, target and the caches
#: rust_format rust_lint rust_test generated python_format python_lint python_types python_quick
#: stubs python_test compared  one part of `check` or `test`
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")"

readonly ROOT=$PWD
readonly PY=$ROOT/.venv/bin/python
readonly LACKING=3
export PIP_DISABLE_PIP_VERSION_CHECK=1 PIP_NO_INPUT=1 PIP_ROOT_USER_ACTION=ignore PYTHONUNBUFFERED=1 INSTA_UPDATE=no
# The extension and the checks must see one interpreter, or PyO3 is rebuilt each time.
export PYO3_PYTHON=$PY

# ---- Parts of `check` and `test` ----------------------------------------------------------------

rust_format() {
  need "cargo fmt --version" "Rust format" "rustfmt is not installed: rustup component add rustfmt"
  cargo fmt --all --check && cargo fmt --manifest-path fuzz/Cargo.toml --check
}

rust_lint() {
  need "cargo clippy --version" "Rust lints" "clippy is not installed: rustup component add clippy"
  cargo clippy --locked --workspace --all-targets -- -D warnings
}

# `sojourn-py` links Python and is tested from Python.
rust_test() {
  .venv/bin/cargo-nextest nextest run --locked --workspace --exclude sojourn-py --no-fail-fast --status-level fail \
    --show-progress none
  cargo test --quiet --locked --workspace --exclude sojourn-py --doc
}

generated() { cargo run --quiet --locked -p xtask -- generate --check; }
python_format() { "$PY" -m ruff format --check .; }
python_lint() { "$PY" -m ruff check .; }
python_types() { "$PY" -m mypy; }
stubs() { "$PY" -m mypy.stubtest --mypy-config-file pyproject.toml sojourn._core; }

# Two processes; the tests of a file share runs, and so one process. tests/conftest.py orders the files.
# `docs` and `wheel` test what they build.
python_test() {
  local name
  for name in optimal sensitivity ui pandas; do
    extra "$name" || echo "skipped: tests of the extra $name (its packages cannot be installed)"
  done
  "$PY" -m pytest -n 2 --dist loadfile --no-loadscope-reorder -m "not peers and not built" "$@" tests
}
python_quick() { python_test -m "not peers and not built and not slow and not browser"; }

# The comparison with the installed peers.
compared() {
  need "eval command -v ns || [ -x build/ns3/3.44/dumbbell ] || [ -x build/ns3/3.37/dumbbell ]" \
    "comparison with peers" "neither ns-2 nor ns-3 is installed: make peers"
  build
  "$PY" -m pytest -m peers tests/peers
}

# ---- Other verbs --------------------------------------------------------------------------------

check() {
  echo "make check: the quick checks, with a quickly built extension. It takes about 2 to 4 minutes on two cores once built."
  develop
  ORDEAL_OPERATIONS=100000 parts rust_format rust_lint rust_test generated python_format python_lint python_types python_quick
}

test() {
  echo "make test: every check and test, with the extension as users get it. It takes about 35 to 45 minutes on two cores."
  setup
  # The last steps of the extension's build, the stubs and the pages need one core alone.
  beside rust_format rust_lint rust_test generated
  build
  parts python_format python_lint python_types stubs wheel python_test compared docs
}

demo() {
  cat <<'TEXT'
make demo: builds Sojourn, then runs a home in the evening (a call, a game, web pages, downloads and uploads over
50/10 Mbit/s) for 60 simulated seconds without and with fair queueing (tail_drop, codel, fq_codel, cake) under five
seeds each, and writes a page that compares them.
It takes about 2 to 4 minutes on a fresh machine (packages and compiling), and some seconds after that.
TEXT
  build
  .venv/bin/sojourn run home/evening --qdisc tail_drop --qdisc codel --qdisc fq_codel --qdisc cake \
    --seeds 1..5 --out build/demo
  .venv/bin/sojourn report build/demo -o build/demo/report.html
  printf '\nThe page to open:\n%s\n' "$ROOT/build/demo/report.html"
}

bench() {
  build
  local name
  for name in law_cost qdisc_cost packet_cost scale sweep relay_cost; do "$PY" "benches/$name.py"; done
}

behaviour() {
  build
  PYTHONPATH=docs "$PY" -c 'from sojourn_docs.behaviour import main; main()'
}

figures() {
  build
  "$PY" docs/figures.py "$@"
}

kills() {
  build
  KILLS=${KILLS:-15} "$PY" -m pytest -q -rP tests/python/test_killed.py
  KILLS=${KILLS:-15} "$PY" -m pytest -q -rP tests/python/test_sweep.py -k kills
  KILLS=${KILLS:-15} "$PY" -m pytest -q -rP tests/python/test_sweep_kills.py
  KILLS=${KILLS:-15} "$PY" -m pytest -q -rP tests/python/test_live.py -k kill
}

live() {
  build
  LIVE_REQUIRED=1 cargo test --quiet --locked -p sojourn-live
  LIVE_REQUIRED=1 "$PY" -m pytest -q tests/python/test_live.py tests/python/test_live_laws.py tests/python/test_live_shell.py \
    tests/reproduce/test_live.py
  LIVE_RUNS=${LIVE_RUNS:-5} "$PY" -m pytest -q -s tests/python/test_live_long.py
}

parameter() {
  setup
  "$PY" -m pytest -q tests/house/parameter.py
}

# The tables of docs/qdiscs/sqm.md; `test` runs two seeds at a few points.
sqm() {
  build
  SQM_SEEDS=${SQM_SEEDS:-10} "$PY" -m pytest -q -s "$@" tests/sqm
}

# The table of docs/howto/design-a-queue-law.md, and packets; `test` runs a few points.
design() {
  build
  DESIGN_LONG=1 "$PY" -m pytest -q "$@" tests/python/test_design.py
}

# Ten networks beside the fluid plant; `test` runs two.
networks() {
  build
  NETWORKS_LONG=1 "$PY" -m pytest -q -n 2 "$@" tests/python/test_prove_joint.py
}

# The residuals of docs/theory/calibration.md; `test` runs a few points.
calibration() {
  build
  CALIBRATION=long "$PY" -m pytest -q -s "$@" tests/python/test_calibration.py
}

# The residuals of docs/theory/noise.md; `test` runs a few points.
noise() {
  build
  NOISE=long "$PY" -m pytest -q -s "$@" tests/python/test_noise.py
}

engines() {
  need "extra engines" "engines" "the packages of requirements/engines.lock cannot be installed"
  build
  ENGINES=1 "$PY" -m pytest -q -rP "$@" tests/engines
}

# Rows of docs/laws/arm_pfc.md, "Windows of a few segments", and of the analysis of variance in docs/laws/pi_pd.md; the coverage of
# intervals; random loops and networks; damaged results; FB-OCQ's forms: `test` runs a part of each.
long() {
  build
  LONG=1 "$PY" -m pytest -q "$@" tests/python/test_arm_pfc.py tests/python/test_statistics.py \
    tests/python/test_factors.py tests/python/test_prove_random.py tests/python/test_prove_networks.py \
    tests/python/test_result_mutants.py tests/python/test_fb_ocq.py tests/reproduce/test_fb_ocq.py
}

# The fixed comparison, or the one point of the options (peers/compare.py --help).
peers() {
  build
  case " $* " in
    *" --help "* | *" -h "*) ;;
    *) bash peers/install.sh "$PY" ;;
  esac
  "$PY" peers/compare.py "$@"
  [ "$#" -gt 0 ] || LONG=1 "$PY" -m pytest -m peers tests/peers/test_ns2_live.py tests/peers/test_emitted.py
}

# For releases: no part of `test`, which compares with what it has kept.
kernel_check() { beside_the_kernel peers/kernel_check.py "$@"; }
kernel_tcp() { beside_the_kernel peers/kernel_tcp.py "$@"; }
beside_the_kernel() {
  local PATH=$PATH:/usr/sbin:/sbin program packages
  packages="apt-get install qemu-system-x86 busybox-static cpio iproute2 gcc libc6-dev"
  for program in qemu-system-x86_64 busybox cpio ip tc cc; do
    need "command -v $program" "comparison with the kernel" "$program is not installed: $packages"
  done
  need "bash peers/kernel/fetch.sh" "comparison with the kernel" "no Debian kernel package: apt-get update"
  build
  "$PY" "$@"
}

# Flent is no package that Sojourn imports: a program beside it, in an environment of its own.
flent_check() {
  need "install_flent" "the check by Flent" "Flent and its packages, requirements/flent.lock, cannot be installed"
  build
  local netperf=
  bash peers/netperf.sh build/netperf && netperf=$ROOT/build/netperf/bin || echo "skipped: Flent over the lab (netperf cannot be fetched)"
  FLENT=$ROOT/build/flent/bin/flent "$PY" -m pytest -q -rP "$@" tests/python/test_flent.py
  [ -z "$netperf" ] || FLENT=$ROOT/build/flent/bin/flent NETPERF=$netperf "$PY" -m pytest -q -rPs tests/python/test_flent_live.py
}
install_flent() {
  cmp --quiet requirements/flent.lock build/flent/.lock && return
  setup
  make_environment build/flent
  install_locked build/flent requirements/flent.lock && cp requirements/flent.lock build/flent/.lock
}

ordeal() {
  ORDEAL_OPERATIONS=${ORDEAL_OPERATIONS:-100000000} cargo test --locked --release -p sojourn-aqm --test ordeal --test ordeal_of_qdiscs
}

fuzz() { fuzzing look "$@"; }
fuzz_keep() { fuzzing keep; }
fuzzing() {
  need "cargo +nightly --version" "fuzzing" "no nightly Rust is installed: rustup toolchain install nightly"
  need "cargo fuzz --version" "fuzzing" "cargo-fuzz is not installed: cargo install cargo-fuzz"
  bash fuzz/run.sh "$@"
}

docs() {
  build
  rm -rf build/docs build/docs-work
  RUSTDOCFLAGS="-D warnings" cargo doc --locked --quiet --no-deps --workspace --exclude sojourn-py
  "$PY" -m sphinx -q -W --keep-going -d build/docs-work/doctrees docs build/docs
  cp -R "${CARGO_TARGET_DIR:-target}/doc" build/docs/rust
  "$PY" -m pytest -q tests/house/test_docs.py tests/python/test_behaviour.py
  printf 'The page to open:\n%s\n' "$ROOT/build/docs/index.html"
}

wheel() {
  build
  rm -rf dist
  "$PY" crates/py/third_party.py python/sojourn/THIRD-PARTY.txt
  maturin build --release --out "$ROOT/dist"
  "$PY" -m pytest -q tests/house/test_wheel.py
}

dist() {
  wheel
  PLACE=$(mktemp -d)
  trap 'rm -rf "$PLACE"' EXIT
  make_environment "$PLACE/env"
  install_locked "$PLACE/env" requirements/run.lock
  "$PLACE/env/bin/python" -m pip install --quiet --no-deps --no-index dist/*.whl
  bash tests/house/use_wheel.sh "$PLACE"
  echo "dist: $(ls dist/*.whl)"
}

lock() {
  command -v uv >/dev/null || lacks "uv" "pip install uv"
  local name
  # Inside the folder, so that the locks' comments name files without a path.
  cd requirements
  for name in bootstrap run dev docs optimal sensitivity ui pandas engines flent; do
    uv pip compile --quiet --universal --generate-hashes --no-header --python-version 3.11 "$name.in" -o "$name.lock"
  done
}

clean() {
  rm -rf .venv build dist target .mypy_cache .ruff_cache .pytest_cache .hypothesis python/sojourn/_core*.so \
    python/sojourn/THIRD-PARTY.txt
  find python tests docs -name __pycache__ -type d -prune -exec rm -rf {} +
}

# ---- Bootstrap ----------------------------------------------------------------------------------

# Rebuilt when a lock changes or the folder moves: scripts in .venv name the folder.
setup() {
  check_machine
  local made
  made=$(echo "$ROOT" && cat requirements/dev.lock requirements/docs.lock)
  [ "$(cat .venv/.sojourn-packages 2>/dev/null)" != "$made" ] || ! "$PY" -c "" 2>/dev/null || return 0
  make_environment .venv
  install_locked .venv requirements/dev.lock
  install_locked .venv requirements/docs.lock
  echo "$made" >.venv/.sojourn-packages
}

# extra NAME: one of the extras that tests compare with and a demonstration needs not (`optimal`: 100 MB).
extra() {
  setup
  cmp --quiet "requirements/$1.lock" ".venv/.sojourn-$1" && return
  install_locked .venv "requirements/$1.lock" && cp "requirements/$1.lock" ".venv/.sojourn-$1"
}

build() { [ -n "${SOJOURN_BUILT:-}" ] || extension --release; }
develop() { extension --profile develop; }
extension() {
  setup
  maturin develop "$@"
}

# maturin VERB ARGUMENT...: with no path of this machine in the output.
maturin() {
  local flags
  flags=$(tr -s ' ' '\037' <<<"${RUSTFLAGS:-}" | tr -d '\n')
  flags+=${flags:+$'\037'}"--remap-path-prefix=${CARGO_HOME:-$HOME/.cargo}=cargo"
  flags+=$'\037'"--remap-path-prefix=$(rustc --print sysroot)=rust"
  flags+=$'\037'"--remap-path-prefix=${CARGO_TARGET_DIR:-$ROOT/target}=target"
  flags+=$'\037'"--remap-path-prefix=$ROOT=."
  env -u CONDA_PREFIX -u RUSTFLAGS PIP_QUIET=1 VIRTUAL_ENV="$ROOT/.venv" CARGO_ENCODED_RUSTFLAGS="$flags" \
    .venv/bin/maturin "$@" --locked
}

check_machine() {
  command -v cargo >/dev/null || lacks "a Rust toolchain" "https://rustup.rs"
  command -v cc >/dev/null || lacks "a C compiler (cc)" "apt-get install gcc libc6-dev"
  [ -w . ] || lacks "write access to $ROOT" "a copy of this folder that is yours"
  # Everything is built in this folder, but cargo keeps the crates in the user's home, where they may exist already.
  local have need crates=${CARGO_HOME:-${HOME:-}/.cargo}
  { mkdir -p "$crates" 2>/dev/null && [ -w "$crates" ]; } || cargo fetch --locked --offline >/dev/null 2>&1 ||
    lacks "a home that can be written: cargo keeps crates in $crates" "set HOME (or CARGO_HOME) to a folder of yours"
  have=$(rustc --version 2>/dev/null | cut -d ' ' -f 2) ||
    lacks "a Rust toolchain that runs (rustc --version fails here)" "rustup default stable"
  need=$(sed -n 's/^rust-version = "\(.*\)"/\1/p' Cargo.toml)
  [ "$(printf '%s\n' "$need" "$have" | sort -V | head -n 1)" = "$need" ] ||
    lacks "Rust $need or newer (found $have)" "rustup update stable"
  find_python >/dev/null || lacks "Python 3.11 or newer" "apt-get install python3, or set PYTHON to one"
}

# The first interpreter that is new enough; PYTHON, if set, is tried first.
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

# make_environment FOLDER: a fresh virtual environment with pip alone.
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
  "$1/bin/python" -m pip --quiet --quiet uninstall --yes setuptools wheel
}

# install_locked ENVIRONMENT LOCK: every package of the lock, with its hash.
install_locked() {
  echo "packages of $2"
  if command -v uv >/dev/null; then
    uv pip install --python "$1/bin/python" --require-hashes -r "$2"
  else
    "$1/bin/python" -m pip install --quiet --progress-bar off --require-hashes -r "$2"
  fi
}

# ---- Running parts ------------------------------------------------------------------------------

# beside VERB...: every part, while others run; their output comes after that of `parts`.
beside() {
  echo "Beside the other parts, with their output after those: $*"
  mkdir -p build/test
  # Job control: a process group of its own, which does not ignore SIGINT and can be ended as a whole.
  set -m
  each "$@" >build/test/beside 2>&1 </dev/null &
  set +m
  BESIDE=$!
  trap 'kill -- "-$BESIDE" 2>/dev/null || :' EXIT
}

# parts VERB...: every part, then how long each took, and the skipped and the failed ones.
parts() {
  local log=build/test/log status=0
  mkdir -p build/test
  SOJOURN_BUILT=1 each "$@" 2>&1 | tee "$log" || status=$?
  if [ -n "${BESIDE:-}" ] && [ "$status" -ne 130 ]; then
    wait "$BESIDE" || status=$?
    tee -a "$log" <build/test/beside
  fi
  printf '\n== done\n'
  sed -n -e 's/^took: //p' "$log"
  sed -n -e 's/^SKIPPED \[\([0-9]*\)\] \([^:]*\):[0-9:]* *\(.*\)$/skipped: \1 of \2 (\3)/' \
    -e '/^skipped: /p' -e '/^failed: /p' "$log"
  return "$status"
}

# each VERB...: in processes of their own, as bash drops `set -e` on the left of `||`.
each() {
  local verb status failed=0
  for verb; do
    printf '\n== %s\n' "$verb"
    status=0
    SECONDS=0
    "$BASH" ./ci.sh "$verb" || status=$?
    printf 'took: %4d s  %s\n' "$SECONDS" "$verb"
    case $status in
      0 | "$LACKING") ;;
      130) exit 130 ;;
      *) failed=1 && echo "failed: $verb" ;;
    esac
  done
  return "$failed"
}

# need COMMAND PART REMEDY: skip the part if the command fails.
need() {
  $1 >/dev/null 2>&1 || { echo "skipped: $2 ($3)" && exit "$LACKING"; }
}

# lacks WHAT HOW: the machine cannot build Sojourn.
lacks() {
  echo "ci.sh: this machine lacks $1; to get it: $2" >&2
  exit "$LACKING"
}

case ${1:-help} in
  help) echo "./ci.sh VERB" && sed -n 's/^#: /  /p' ci.sh ;;
  *)
    case $(sed -n '/^#: /{s/^#://;s/  .*//;s/$/ /;p;}' ci.sh) in
      *" $1 "*) "$@" ;;
      *) echo "ci.sh: no verb \"$1\"; ./ci.sh help lists them" >&2 && exit 2 ;;
    esac
    ;;
esac
