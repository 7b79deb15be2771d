#!/usr/bin/env bash
# bench/precision.sh PENUMBRA OUT [PRIOR CHAINS SAMPLE-OPTION...]: what a network's short numbers do to a posterior. Three
# images of the prior, compressed sensing with 0.3 of the numbers, sampled with the same seeds in bfloat16 and in float32;
# prints JSON: PSNR (dB) and NLL of both, and the largest differences. Part of scripts/gpu.sh.
set -euo pipefail
penumbra=$1 out=$2 prior=${3:-face-64} chains=${4:-32}
options=("${@:5}")
rm -rf "$out"
mkdir -p "$out"
out=$(realpath "$out")  # a configuration's paths are relative to it
for image in 1 2 3; do
  at=$out/$image
  "$penumbra" generate --prior "$prior" --compute float32 --count 1 --seed "$image" --out "$at" >&2
  cat >"$at.yaml" <<EOF
prior: {kind: network, name: $prior}
likelihood: {kind: gaussian, ratio: 0.3, data: $at/y.npy, noise_sd: 0.01}
chains: $chains
seed: $image
EOF
  "$penumbra" observe "$at.yaml" --truth "$at/samples.npy" --out "$at/y.npy" >&2
  for compute in bfloat16 float32; do
    "$penumbra" sample "$at.yaml" --set "prior.compute=$compute" --out "$at/$compute" "${options[@]}" >&2
    "$penumbra" evaluate "$at/$compute" --truth "$at/samples.npy" >&2
  done
done
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
