#!/usr/bin/env bash
# Installs the build given as $1 into a scratch prefix and builds and runs a program that finds it there.
set -euo pipefail
build=$(realpath "$1")
here=$(dirname "$(realpath "$0")")
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
cmake --install "$build" --prefix "$scratch/prefix" >/dev/null
for map in "$here"/../../priors/*.sd.json; do
  cmp "$map" "$scratch/prefix/share/penumbra/priors/$(basename "$map")"
done
prefix_path="$scratch/prefix;$(sed -n 's/^CMAKE_PREFIX_PATH:[^=]*=//p' "$build/CMakeCache.txt")"
cmake -G Ninja -S "$here" -B "$scratch/build" -DCMAKE_PREFIX_PATH="$prefix_path" -DCMAKE_BUILD_TYPE=Release >/dev/null
cmake --build "$scratch/build" >/dev/null
"$scratch/build/user"
