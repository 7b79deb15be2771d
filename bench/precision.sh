#!/usr/bin/env bash
# bench/precision.sh PENUMBRA OUT [PRIOR CHAINS SAMPLE-OPTION...]: what a network's short numbers do to a posterior. Three
# images of the prior, compressed sensing with 0.3 of the numbers, sampled with the same seeds in bfloat16 and in float32;
# prints JSON: PSNR (dB) and NLL of both, and the largest differences. Part of scripts/gpu.sh. The images side by side
# where PENUMBRA_SIDE_BY_SIDE is 1: for a GPU and many cores.
set -euo pipefail
penumbra=$1 out=$2 prior=${3:-face-64} chains=${4:-32}
options=("${@:5}")
rm -rf "$out"
mkdir -p "$out"
out=$(realpath "$out")  # a configuration's paths are relative to it

# A function that is one side of && does not stop at its first error by itself.
sample() { # IMAGE COMPUTE
  "$penumbra" sample "$out/$1.yaml" --set "prior.compute=$2" --out "$out/$1/$2" "${options[@]}" &&
    "$penumbra" evaluate "$out/$1/$2" --truth "$out/$1/samples.npy"
}
configure() { # IMAGE
  cat >"$out/$1.yaml" <<END
prior: {kind: network, name: $prior}
likelihood: {kind: gaussian, ratio: 0.3, data: $out/$1/y.npy, noise_sd: 0.01}
chains: $chains
seed: $1
END
}
image() { # NUMBER
  "$penumbra" generate --prior "$prior" --compute float32 --count 1 --seed "$1" --out "$out/$1" && configure "$1" &&
    "$penumbra" observe "$out/$1.yaml" --truth "$out/$1/samples.npy" --out "$out/$1/y.npy" &&
    both sample "$1" bfloat16 -- sample "$1" float32
}
# both COMMAND... -- COMMAND...: one after the other, or at once.
both() {
  local first=() other
  while [ "$1" != -- ]; do
    first+=("$1")
    shift
  done
  shift
  if [ "${PENUMBRA_SIDE_BY_SIDE:-0}" = 1 ]; then
    "${first[@]}" &
    other=$!
    "$@" && wait "$other"
  else
    "${first[@]}" && "$@"
  fi
}
rest() { both image 2 -- image 3; }
both image 1 -- rest >&2

python3 - "$out" "$prior" "$chains" <<'EOF'
import json
import sys

out, prior, chains = sys.argv[1:]
rows = []
for image in 1, 2, 3:
    row = {"image": image}
    for compute in "bfloat16", "float32":
        with open(f"{out}/{image}/{compute}/metrics.json") as file:
            metrics = json.load(file)
        row[compute] = {"psnr": metrics["psnr_paper"]["db"], "nll": metrics["nll"]["per_pixel"]}
    rows.append(row)
largest = {key: max(abs(row["bfloat16"][key] - row["float32"][key]) for row in rows) for key in ("psnr", "nll")}
print(json.dumps({"prior": prior, "chains": int(chains), "images": rows, "largest_difference": largest}))
EOF
