#!/usr/bin/env bash
# On a machine with an NVIDIA GPU: builds, checks the kernels, times everything beside PyTorch, and writes
# bench/gpu_report.md. A part that fails is named and the others go on; the exit code is the number of such parts.
# scripts/gpu.sh [CMAKE OPTION...]; libraries in unusual places: CMAKE_PREFIX_PATH. PENUMBRA_GPU_PARTS="build tests
# sanitizer bench reference precision" chooses parts, PENUMBRA_GPU_BATCHES="50 10" the numbers of images.
set -uo pipefail
cd "$(dirname "$0")/.." || exit 1
build=build-gpu out=build-gpu/report
parts=${PENUMBRA_GPU_PARTS:-build tests sanitizer bench reference precision}
read -ra batches <<<"${PENUMBRA_GPU_BATCHES:-50 10}"
kernels='*Cuda*:*cuda*:*Gpu*'
mkdir -p "$out"
failed=()

chosen() { [[ " $parts " == *" $1 "* ]]; }
# part SECONDS NAME COMMAND...: its output is in $out/NAME.log, and on the screen where it fails.
part() {
  local seconds=$1 name=$2 start=$SECONDS
  shift 2
  if timeout "$seconds" "$@" >"$out/$name.log" 2>&1; then
    printf '%-28s ok, %d s\n' "$name" $((SECONDS - start))
  else
    printf '%-28s FAILED (%d), %d s\n' "$name" $? $((SECONDS - start))
    tail -n 25 "$out/$name.log"
    failed+=("$name")
  fi
}
# json SECONDS NAME COMMAND...: the same, and what it printed to stdout is $out/NAME.json; measured.tsv says when and of what.
json() {
  local seconds=$1 name=$2
  shift 2
  rm -f "$out/$name.json"
  # shellcheck disable=SC2016 # for the inner shell
  part "$seconds" "$name" bash -c '"${@:2}" >"$1"' - "$out/$name.json" "$@"
  printf '%s\t%s\t%s\n' "$name" "$(git rev-parse --short HEAD)" "$(date -u '+%Y-%m-%d %H:%M')" >>"$out/measured.tsv"
}
# tests SECONDS NAME FILTER [COMMAND...]: the kernels' tests, under COMMAND; without a GPU they would all be skipped.
tests() {
  local seconds=$1 name=$2 filter=$3
  shift 3
  part "$seconds" "$name" "$@" "$build/tests/penumbra_tests" --gtest_filter="$filter" --gtest_brief=1
  grep -q 'PASSED  \] [1-9]' "$out/$name.log" || failed+=("$name (none was run)")
}

torch=$(python3 -c 'import torch; print(torch.utils.cmake_prefix_path)') || exit 1
if chosen build; then
  rm -f "$out"/*.json "$out/measured.tsv"  # of another build
  part 120 configure cmake -G Ninja -S . -B "$build" -DCMAKE_BUILD_TYPE=Release -DTorch_DIR="$torch/Torch" \
    -DCMAKE_CUDA_ARCHITECTURES=native -DPENUMBRA_BENCH=ON "$@"
  part 900 compile cmake --build "$build" --target penumbra_program penumbra_tests penumbra_bench -- -k 0  # every error at once
fi
chosen tests && tests 300 tests "$kernels"
if chosen sanitizer; then
  # The tests of single kernels, and of our kernels alone: all others would take too long under it. Every tensor has memory
  # of its own, or what is written past its end would be another's.
  ours=()
  compute-sanitizer --help 2>&1 | grep -q -e --kernel-regex && ours=(--kernel-regex kns=penumbra)
  for tool in memcheck racecheck synccheck; do
    tests 300 "sanitizer-$tool" '*CudaNorm*:*CudaFeatures*:*CudaStep.Langevin*:*InterferometryOn*cuda*:*Gpu*-*ManyImages*' \
      env PYTORCH_NO_CUDA_MEMORY_CACHING=1 compute-sanitizer --tool "$tool" "${ours[@]}" --error-exitcode 9
  done
fi
# The same network's training in PyTorch, beside ours below.
for name in brain-256 brain-64; do
  chosen reference && json 120 "torch-$name" python3 bench/eager_training.py "priors/$name.safetensors" 32 2
done
for batch in "${batches[@]}"; do
  if chosen bench; then
    json 120 "network-$batch" "$build/penumbra" bench network --arch paper-256 --batch "$batch" --seconds 3 --json
    json 240 "iteration-$batch" "$build/penumbra" bench iteration --arch paper-256 --batch "$batch" --seconds 3 --json
  fi
  chosen reference && json 420 "eager-$batch" python3 bench/eager_network.py "$batch" 2
done
if chosen bench; then
  json 120 train-32 "$build/penumbra" bench train --arch paper-256 --batch 32 --seconds 3 --json
  for name in brain-256 brain-64; do
    json 120 "train-$name" "$build/penumbra" bench train --prior "$name" --batch 32 --compute bfloat16 --seconds 3 --json
  done
  json 60 interferometry "$build/bench/penumbra_bench" --benchmark_filter=cuda --benchmark_format=json
fi
chosen precision && json 400 precision bash bench/precision.sh "$build/penumbra" "$out/precision"
part 30 report python3 bench/gpu_report.py "$out" bench/gpu_report.md "${failed[@]}"
((${#failed[@]} == 0)) || printf 'failed: %s\n' "${failed[*]}"
cat bench/gpu_report.md
exit ${#failed[@]}
