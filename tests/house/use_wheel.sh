#!/usr/bin/env bash
# use_wheel.sh FOLDER: a user's steps with the wheel in FOLDER/env, in FOLDER/user and with nothing else: no Rust, no
# tree, no variables of ours.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
place=$1

clean_run() {
  (cd "$place/user" && env -i HOME="$place/user" LANG=C.UTF-8 PATH="$place/env/bin" "$@" </dev/null)
}

mkdir "$place/user"
clean_run python -c 'import shutil, sys; sys.exit(any(map(shutil.which, ("cargo", "rustc", "cc"))))'
version=$(clean_run sojourn version)
echo "$version"
grep -q "^version = \"${version#sojourn }\"$" Cargo.toml
clean_run sojourn list scenarios
clean_run sojourn run dumbbell --qdisc tail_drop --qdisc pi --seeds 1..2 --out first
clean_run sojourn report first -o first.html
clean_run python -c 'import sojourn as sj; print(sj.run(sj.load("dumbbell", {"duration": "11 s", "at": "[]"})).summary().height)'
grep -q '</html>' "$place/user/first.html"
