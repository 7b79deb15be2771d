#!/usr/bin/env bash
# From a fresh Debian 12 machine to a tested build: format, layers, unit, law and command-line tests, sanitizers, fuzzing.
set -euo pipefail
cd "$(dirname "$0")/.."
bash scripts/dependencies.sh test
step() { printf '\n== %s\n' "$*"; }

step "Format and layers"
git ls-files '*.cpp' '*.h' '*.cu' '*.cuh' | xargs clang-format --dry-run -Werror
bash scripts/check_layers.sh

step "Build"
cmake -G Ninja -S . -B build -DPENUMBRA_TESTS=ON -DPENUMBRA_BENCH=ON >/dev/null
cmake --build build

step "Readers under AddressSanitizer and UndefinedBehaviorSanitizer, fuzzed for ${PENUMBRA_FUZZ_SECONDS:=10} s each"
bash scripts/fuzz.sh "$PENUMBRA_FUZZ_SECONDS"

step "Install and use as a package"
bash tests/package/check.sh build

step "Tests"
ctest --test-dir build --output-on-failure -j 2
