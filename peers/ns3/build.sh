#!/bin/sh
# Builds dumbbell.cc once for each installed ns-3, into FOLDER/{3.37,3.44}/dumbbell:
#
#   peers/ns3/build.sh build/ns3
#
# 3.37 is Debian's libns3-dev. 3.44 is the Python package `ns3`, unpacked into FOLDER/wheel: it ships C++ headers and
# libraries, and none of its Python is used. EMITTED: a file of further laws, as dumbbell.cc has it.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
folder=$1

# build VERSION FLAG...
build() {
  program=$folder/$1/dumbbell
  shift
  [ "$program" -nt "$here/dumbbell.cc" ] && return
  mkdir -p "$(dirname "$program")"
  echo "building $program"
  c++ -O2 -w ${EMITTED:+"-DEMITTED=\"$EMITTED\""} -o "$program.new" "$here/dumbbell.cc" "$@"
  mv "$program.new" "$program"
}

modules="applications internet traffic-control point-to-point bridge network stats core"

if [ -f /usr/include/ns3/core-module.h ]; then
  libraries=
  for module in $modules; do libraries="$libraries -lns3-$module"; done
  build 3.37 -std=c++17 $libraries
fi

if [ -d "$folder/wheel/ns3/lib64" ]; then
  wheel=$(cd "$folder/wheel/ns3" && pwd)
  libraries=
  for module in $modules; do libraries="$libraries $wheel/lib64/libns3.44-$module.so"; done
  build 3.44 -std=c++20 -I"$wheel/include" $libraries -Wl,-rpath,"$wheel/lib64" -Wl,--allow-shlib-undefined
fi
