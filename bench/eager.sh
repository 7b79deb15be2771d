#!/usr/bin/env bash
# One APMC-PnP step in Penumbra against the same step in eager PyTorch: same weights, same CPU, same run.
# bench/eager.sh [PRIOR.safetensors] [CHAINS]. Needs Debian's python3-torch.
set -euo pipefail
cd "$(dirname "$0")/.."
prior=${1:-priors/face-64.safetensors} chains=${2:-16} seconds=8 threads=$(nproc)
ours=$(build/penumbra bench --prior "$prior" --chains "$chains" --seconds "$seconds" --threads "$threads" --device cpu --json)
theirs=$(OMP_WAIT_POLICY=passive /usr/bin/python3 bench/eager_step.py "$prior" "$chains" "$seconds" "$threads")
/usr/bin/python3 - "$ours" "$theirs" "$prior" "$chains" "$threads" <<'PY'
import json, sys
ours, theirs = json.loads(sys.argv[1]), json.loads(sys.argv[2])
a, b = ours["milliseconds"]["whole step (apmc-pnp)"], theirs["milliseconds"]
print(f"{sys.argv[3]}, {sys.argv[4]} chains, {sys.argv[5]} threads; {ours['compute']} against PyTorch {theirs['torch']} in float32")
print(f"one APMC-PnP step: Penumbra {a:.1f} ms, eager PyTorch {b:.1f} ms, ratio {b / a:.2f}")
print(f"norm of the score at a fixed image: {ours['score_norm']:.5g} and {theirs['score_norm']:.5g}")
PY
