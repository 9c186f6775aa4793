#!/usr/bin/env bash
# netperf and netserver, which Flent needs, in a folder: the machine's own, or those of Debian sid with its C library, unpacked there.
#
#   peers/netperf.sh FOLDER
#
# Nothing is installed: lists and packages of apt have a folder of their own, and the programs start through the loader of
# the library beside them. Exit code 3: there is neither.
set -euo pipefail

readonly FOLDER=$1
mkdir -p "$FOLDER"
cd "$FOLDER"
readonly HERE=$PWD

# The mirror from which the machine has its own packages.
mirror() { apt-get indextargets --format '$(REPO_URI)' | grep -E '/debian/?$' | sort -u | sed -n 1p; }

fetched() {
  command -v apt-get dpkg-deb > /dev/null || return
  local uri
  uri=$(mirror) && [ -n "$uri" ] || return
  mkdir -p state/lists/partial cache/archives/partial sources
  printf 'Types: deb\nURIs: %s\nSuites: sid\nComponents: main\nSigned-By: %s\n' \
    "$uri" /usr/share/keyrings/debian-archive-keyring.gpg > sources/sid.sources
  printf '%s "%s";\n' Dir::State "$HERE/state" Dir::State::status /var/lib/dpkg/status Dir::Cache "$HERE/cache" \
    Dir::Etc::sourcelist /dev/null Dir::Etc::sourceparts "$HERE/sources" > apt.conf
  apt-get -qq -c apt.conf update && apt-get -qq -c apt.conf download netperf libc6 || return
  local package
  for package in ./*.deb; do dpkg-deb -x "$package" unpacked; done
}

started() { # NAME: a command that starts the unpacked program
  local loader
  loader=$(find "$HERE/unpacked" -name 'ld-linux*' | sed -n 1p)
  local libraries
  libraries=$(dirname "$(find "$HERE/unpacked" -name libc.so.6 | sed -n 1p)")
  printf '#!/bin/sh\nexec %s --library-path %s %s/unpacked/usr/bin/%s "$@"\n' "$loader" "$libraries" "$HERE" "$1" > "bin/$1"
  chmod +x "bin/$1"
}

mkdir -p bin
if [ -x bin/netperf ] && [ -x bin/netserver ]; then
  :
elif command -v netperf netserver > /dev/null; then
  ln -sf "$(command -v netperf)" "$(command -v netserver)" bin/
elif fetched; then
  started netperf
  started netserver
fi
[ -x bin/netserver ] && bin/netperf -V || exit 3
