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
# from adding up to the memory limit. CFITSIO asks for absurd sizes where a header is broken, and copes with being refused,
# as it is outside of the sanitizer.
export ASAN_OPTIONS=detect_leaks=0:quarantine_size_mb=32:allocator_may_return_null=1 OMP_NUM_THREADS=1
mkdir -p build-fuzz/findings
fuzz_one() {
  local target corpus longest=4096
  target=$(basename "$2")
  [ "$target" = uvfits ] && longest=32768  # its headers alone are longer
  corpus=build-fuzz/corpus/$target
  mkdir -p "$corpus"
  # The first folder collects new inputs, the second is only read.
  if build-fuzz/tests/fuzz/"${target}_fuzz" -max_total_time="$1" -timeout=20 -rss_limit_mb=2048 \
      -malloc_limit_mb=512 -max_len="$longest" -print_final_stats=1 -artifact_prefix="build-fuzz/findings/$target-" \
      "$corpus" "$2" >"build-fuzz/$target.log" 2>&1; then
    echo "fuzz $target: $1 s," "$(grep -oE "(number_of_executed_units|peak_rss_mb): +[0-9]+" "build-fuzz/$target.log" | tr -s ' \n' ' ')"
  else
    echo "fuzz $target: FOUND, see build-fuzz/$target.log" >&2
    tail -n 40 "build-fuzz/$target.log" >&2
    return 1
  fi
}
export -f fuzz_one
# One target a core; xargs fails if one of them does.
printf '%s\0' tests/fuzz/corpus/*/ | xargs -0 -P "$(nproc)" -I{} bash -c 'fuzz_one "$@"' _ "$duration" {}
