#!/usr/bin/env bash
# Runs every fuzz target for a time: scripts/fuzz.sh [SECONDS], 600 each unless told. Fails on a finding, whose input is
# left in build-fuzz/findings. Needs clang and its sanitizer runtime (Debian: clang, libclang-rt-14-dev).
set -euo pipefail
cd "$(dirname "$0")/.."

duration=${1:-600}
if ! [[ $duration =~ ^[1-9][0-9]*$ ]]; then
  echo "usage: scripts/fuzz.sh [SECONDS]" >&2
  exit 2
fi
compiler=$(command -v clang++ || command -v clang++-14) || {
  echo "scripts/fuzz.sh: clang++ is missing (Debian: apt install clang libclang-rt-14-dev)" >&2
  exit 2
}

cmake -G Ninja -S . -B build-fuzz -DCMAKE_CXX_COMPILER="$compiler" -DPENUMBRA_FUZZ=ON -DPENUMBRA_TESTS=OFF >/dev/null
ninja -C build-fuzz -j"$(nproc)" penumbra_fuzzers

# LibTorch keeps global objects until the process ends; they are not ours to free. A small quarantine keeps freed images
# from adding up to the memory limit.
export ASAN_OPTIONS=detect_leaks=0:quarantine_size_mb=32 OMP_NUM_THREADS=1
mkdir -p build-fuzz/findings
failed=0
for seeds in tests/fuzz/corpus/*/; do
  target=$(basename "$seeds")
  corpus=build-fuzz/corpus/$target
  mkdir -p "$corpus"
  echo "fuzz $target: $duration s"
  # The first folder collects new inputs, the second is only read.
  if ! build-fuzz/tests/fuzz/"${target}_fuzz" -max_total_time="$duration" -timeout=20 -rss_limit_mb=2048 \
      -malloc_limit_mb=512 -max_len=4096 -print_final_stats=1 -artifact_prefix="build-fuzz/findings/$target-" \
      "$corpus" "$seeds" >"build-fuzz/$target.log" 2>&1; then
    failed=1
    echo "fuzz $target: FOUND, see build-fuzz/$target.log" >&2
    tail -n 40 "build-fuzz/$target.log" >&2
  else
    grep -E "number_of_executed_units|peak_rss_mb" "build-fuzz/$target.log"
  fi
done
exit $failed
