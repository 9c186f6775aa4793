#!/usr/bin/env bash
# Builds the initial RAM disk of the VM: busybox, tc, the modules of the kernel, the replay, cases and traces:
#
#   peers/kernel/image.sh CASES TRACES OUTPUT
#
# The same input gives the same bytes.
set -euo pipefail
cases=$1 traces=$2 output=$3
here=$(dirname "${BASH_SOURCE[0]}")
kernel=$here/../../build/kernel/unpacked
place=$(mktemp -d)
trap 'rm -rf "$place"' EXIT

# add PROGRAM PATH: a program of this machine, with the libraries that it needs at their places.
add() {
  local program library
  program=$(PATH=$PATH:/usr/sbin:/sbin command -v "$1")
  cp -L "$program" "$place/$2"
  # A static program has none.
  { ldd "$program" 2>/dev/null || true; } | sed -n 's/.*[[:space:]]\(\/[^ ]*\) (.*/\1/p' | while read -r library; do
    mkdir -p "$place$(dirname "$library")"
    cp -L "$library" "$place$library"
  done
}

mkdir -p "$place"/{bin,usr/sbin,modules,traces,proc,sys,dev,tmp}
add busybox bin/busybox
for applet in sh mount insmod uname stty head gzip poweroff; do ln -s busybox "$place/bin/$applet"; done
add ip usr/sbin/ip
add tc usr/sbin/tc
cc -O2 -static -o "$place/replay" "$here/replay.c"

# Some kernels have these built in, others compress them.
for module in veth sch_tbf sch_red sch_pie sch_codel sch_fq_codel sch_cake; do
  file=$(find "$kernel" -name "$module.ko*" | head -n 1)
  case $file in
    '') ;;
    *.xz) xz -dc "$file" >"$place/modules/$module.ko" ;;
    *.zst) zstd -qdc "$file" >"$place/modules/$module.ko" ;;
    *) cp "$file" "$place/modules/" ;;
  esac
done

cp "$here/init" "$place/init"
cp "$cases" "$place/cases"
cp "$traces"/* "$place/traces/"
chmod -R u+rwX,go+rX "$place" && chmod 755 "$place/init"
find "$place" -exec touch -h -d @0 {} +
(cd "$place" && find . | LC_ALL=C sort | cpio --quiet --reproducible -o -H newc -R 0:0) | gzip -n -6 >"$output"
