#!/usr/bin/env bash
# Installs missing parts of ns-2 and ns-3 where the machine permits it, and names the others (some 80 MB in all):
#
#   peers/install.sh .venv/bin/python
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
python=$1

# debian_package NAME FILE: install the package if FILE is missing.
debian_package() {
  [ -e "$2" ] && return
  if [ "$(id -u)" -eq 0 ] && command -v apt-get >/dev/null; then
    echo "installing $1"
    apt-get update -qq </dev/null && apt-get install -y -qq "$1" </dev/null >/dev/null && return
  fi
  echo "not installed: $1 (as root: apt-get install $1)"
}

debian_package ns2 /usr/bin/ns
debian_package libns3-dev /usr/include/ns3/core-module.h
if ! [ -d build/ns3/wheel/ns3 ]; then
  rm -rf build/ns3/wheel build/ns3/wheel.new
  # Its Python is not used, so that one wheel serves every Python.
  if "$python" -m pip install --quiet --no-deps --no-compile --require-hashes --only-binary :all: \
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
