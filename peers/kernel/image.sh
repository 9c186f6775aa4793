#!/usr/bin/env bash
# Builds the initial RAM disk of a VM: busybox, ip, tc, modules of the kernel, a program, its first process and files:
#
#   peers/kernel/image.sh INIT PROGRAM.c "MODULE..." OUTPUT FILE...
#
# The same input gives the same bytes.
set -euo pipefail
init=$1 program=$2 modules=$3 output=$4
shift 4
kernel=$(dirname "${BASH_SOURCE[0]}")/../../build/kernel/unpacked
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

mkdir -p "$place"/{bin,usr/sbin,modules,proc,sys,dev,tmp}
add busybox bin/busybox
for applet in sh mount insmod uname stty head gzip poweroff; do ln -s busybox "$place/bin/$applet"; done
add ip usr/sbin/ip
add tc usr/sbin/tc
cc -O2 -static -o "$place/$(basename "$program" .c)" "$program"

# Some kernels have these built in, others compress them.
for module in $modules; do
  file=$(find "$kernel" -name "$module.ko*" | head -n 1)
  case $file in
    '') ;;
    *.xz) xz -dc "$file" >"$place/modules/$module.ko" ;;
    *.zst) zstd -qdc "$file" >"$place/modules/$module.ko" ;;
    *) cp "$file" "$place/modules/" ;;
  esac
done

cp "$init" "$place/init"
cp -r "$@" "$place/"
chmod -R u+rwX,go+rX "$place" && chmod 755 "$place/init"
find "$place" -exec touch -h -d @0 {} +
(cd "$place" && find . | LC_ALL=C sort | cpio --quiet --reproducible -o -H newc -R 0:0) | gzip -n -6 >"$output"
