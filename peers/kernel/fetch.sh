#!/usr/bin/env bash
# Unpacks Debian's kernel package into build/kernel/unpacked; nothing is installed, and no root is needed:
#
#   peers/kernel/fetch.sh [PACKAGE]
#
# PACKAGE is by default what linux-image-amd64 depends on. Exit code 3: it cannot be had here.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
folder=build/kernel

lacks() {
  echo "kernel package: $1" >&2
  exit 3
}

if [ $# -eq 0 ] && compgen -G "$folder/unpacked/boot/vmlinuz-*" >/dev/null; then exit 0; fi
command -v apt-get >/dev/null && command -v dpkg-deb >/dev/null || lacks "apt-get or dpkg-deb is missing"
package=${1:-$(apt-cache depends linux-image-amd64 2>/dev/null | sed -n 's/^ *Depends: \(linux-image-[0-9].*\)/\1/p' | head -n 1)}
[ -n "$package" ] || lacks "no package linux-image-amd64; apt-get update may help"
rm -rf "$folder/unpacked" "$folder/package"
mkdir -p "$folder/package"
echo "fetching $package"
(cd "$folder/package" && apt-get -qq -o APT::Sandbox::User=root download "$package") || lacks "apt-get download $package failed"
dpkg-deb -x "$folder/package"/*.deb "$folder/package/unpacked"
mv "$folder/package/unpacked" "$folder/unpacked"
rm -rf "$folder/package"
