#!/usr/bin/env bash
# From a fresh Debian 12 machine to a posterior and its report: installs, builds, runs `penumbra demo`.
set -euo pipefail
cd "$(dirname "$0")/.."
bash scripts/dependencies.sh
cmake -G Ninja -S . -B build -DPENUMBRA_TESTS=OFF >/dev/null
cmake --build build
rm -rf demo
exec build/penumbra demo --out demo "$@"
