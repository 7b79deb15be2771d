#!/usr/bin/env bash
# Installs the Debian packages that Penumbra builds with. `dependencies.sh test` adds those of the test suite.
# Where all of them are there already, nothing is asked of apt.
set -euo pipefail

# libopenblas-dev: with the reference BLAS that apt would choose otherwise, matrix products run thirty times slower.
packages=(g++ cmake ninja-build libtorch-dev libopenblas-dev libcli11-dev libfmt-dev nlohmann-json3-dev
          libyaml-cpp-dev libpng-dev libjpeg-dev libgloo-dev libhdf5-dev libismrmrd-dev libcfitsio-dev)
if [ "${1:-}" = test ]; then
  packages+=(git libgtest-dev libbenchmark-dev clang libclang-rt-14-dev clang-format chromium)
fi

missing=()
for package in "${packages[@]}"; do
  dpkg-query -W -f '${Status}' "$package" 2>/dev/null | grep -q 'ok installed' || missing+=("$package")
done
[ ${#missing[@]} -eq 0 ] && exit 0

echo "Installing: ${missing[*]}"
as_root=()
[ "$(id -u)" -eq 0 ] || as_root=(sudo)
"${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get -qq update
"${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get -qq install -y --no-install-recommends "${missing[@]}" >/dev/null
