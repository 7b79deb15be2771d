#!/usr/bin/env bash
# On a machine with an NVIDIA GPU: builds, checks the kernels, times everything beside PyTorch, and writes
# bench/gpu_report.md, in some eight minutes on 16 cores. A part that fails is named and the others go on; the exit code is
# the number of such parts.
# scripts/gpu.sh [CMAKE OPTION...]; libraries in unusual places: CMAKE_PREFIX_PATH. PENUMBRA_GPU_PARTS="build tests
# sanitizer bench reference precision" chooses parts, PENUMBRA_GPU_BATCHES="50 10" the numbers of images,
# PENUMBRA_COMMIT names the sources where git does not know them (a copy of a working tree).
set -uo pipefail
cd "$(dirname "$0")/.." || exit 1
build=build-gpu out=build-gpu/report
parts=${PENUMBRA_GPU_PARTS:-build tests sanitizer bench reference precision}
read -ra batches <<<"${PENUMBRA_GPU_BATCHES:-50 10}"
kernels='*Cuda*:*cuda*:*Gpu*'
mkdir -p "$out"
rm -f "$out/failed"
commit=${PENUMBRA_COMMIT:-$(git describe --always --dirty)}
nvidia-smi --query-gpu=name,driver_version --format=csv,noheader >"$out/device.txt"

chosen() { [[ " $parts " == *" $1 "* ]]; }
# part SECONDS NAME COMMAND...: its output is in $out/NAME.log, and on the screen where it fails.
part() {
  local seconds=$1 name=$2 start=$SECONDS code
  shift 2
  timeout "$seconds" "$@" >"$out/$name.log" 2>&1
  code=$?
  if ((code == 0)); then
    printf '%-28s ok, %d s\n' "$name" $((SECONDS - start))
  else
    printf '%-28s FAILED (%d), %d s\n%s\n' "$name" "$code" $((SECONDS - start)) "$(tail -n 25 "$out/$name.log")"
    echo "$name" >>"$out/failed"
  fi
  return "$code"
}
# json SECONDS NAME COMMAND...: the same, and what it printed to stdout is $out/NAME.json; measured.tsv says when and of what.
json() {
  local seconds=$1 name=$2
  shift 2
  rm -f "$out/$name.json"
  # shellcheck disable=SC2016 # for the inner shell
  part "$seconds" "$name" bash -c '"${@:2}" >"$1"' - "$out/$name.json" "$@" || return
  printf '%s\t%s\t%s\n' "$name" "$commit" "$(date -u '+%Y-%m-%d %H:%M')" >>"$out/measured.tsv"
}
# check SECONDS NAME COMMAND...: the same without JSON; checks.tsv has what it says of itself in the end.
check() {
  local result=passed
  part "$@" || result=failed
  printf '%s\t%s\t%s\t%s\n' "$2" "$commit" "$result" \
    "$(grep -E 'PASSED  \]|passed, |SUMMARY' "$out/$2.log" | tail -n 2 | tr -d '=' | tr -s ' \n' ' ')" >>"$out/checks.tsv"
}
bench() { # SECONDS NAME WORD...: of `penumbra bench`
  json "$1" "$2" "$build/penumbra" bench "${@:3}" --seconds 3 --json
}

if chosen build; then
  rm -f "$out"/*.json "$out"/*.tsv  # of another build
  torch=$(python3 -c 'import torch; print(torch.utils.cmake_prefix_path)') || exit 1
  part 120 configure cmake -G Ninja -S . -B "$build" -DCMAKE_BUILD_TYPE=Release -DTorch_DIR="$torch/Torch" \
    -DCMAKE_CUDA_ARCHITECTURES=native -DPENUMBRA_BENCH=ON "$@"
  part 900 compile cmake --build "$build" --target penumbra_program penumbra_bench penumbra_kernel_check penumbra_tests \
    -- -k 0  # every error at once
fi
# What is timed has the machine to itself: small batches and small networks wait for the host.
for batch in "${batches[@]}"; do
  if chosen bench; then
    bench 120 "network-$batch" network --arch paper-256 --batch "$batch"
    bench 240 "iteration-$batch" iteration --arch paper-256 --batch "$batch"
  fi
  chosen reference && json 420 "eager-$batch" python3 bench/eager_network.py "$batch" 2
done
for name in brain-256 brain-64; do
  chosen bench && bench 120 "train-$name" train --prior "$name" --batch 32 --compute bfloat16
  chosen reference && json 120 "torch-$name" python3 bench/eager_training.py "priors/$name.safetensors" 32 2
done
if chosen bench; then
  bench 120 train-32 train --arch paper-256 --batch 32
  json 60 interferometry "$build/bench/penumbra_bench" --benchmark_filter=cuda --benchmark_format=json
fi
# What is not timed, all at once.
if chosen tests; then
  {
    check 300 tests "$build/tests/penumbra_tests" --gtest_filter="$kernels" --gtest_brief=1
    # Without a GPU they would all be skipped.
    grep -q 'PASSED  \] [1-9]' "$out/tests.log" || echo "tests (none was run)" >>"$out/failed"
  } &
  check 60 kernels "$build/tests/penumbra_kernel_check" &
fi
if chosen sanitizer; then
  for tool in memcheck racecheck synccheck; do
    check 300 "sanitizer-$tool" compute-sanitizer --tool "$tool" --error-exitcode 9 "$build/tests/penumbra_kernel_check" &
  done
fi
export PENUMBRA_SIDE_BY_SIDE=1
chosen precision && json 400 precision bash bench/precision.sh "$build/penumbra" "$out/precision" &
wait
touch "$out/failed"
mapfile -t failed < <(sort -u "$out/failed")
part 30 report python3 bench/gpu_report.py "$out" bench/gpu_report.md "${failed[@]}"
((${#failed[@]} == 0)) || printf 'failed: %s\n' "${failed[*]}"
cat bench/gpu_report.md
exit ${#failed[@]}
