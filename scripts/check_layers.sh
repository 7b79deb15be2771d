#!/usr/bin/env bash
# The folders of src are layers: each may include only what its line names. Prints every include that breaks this.
set -euo pipefail
cd "$(dirname "$0")/../src"
declare -A may=(
  [core]="core"
  [io]="io core"
  [team]="team core"
  [models]="models io core"
  [vlbi]="vlbi io core"
  [blackhole]="blackhole core"
  [likelihoods]="likelihoods models vlbi io core"
  [networks]="networks core"
  [priors]="priors networks io core"
  [samplers]="samplers core likelihoods/likelihood.h priors/score.h priors/reconstruction.h networks/realnvp.h training/adam.h"
  [training]="training networks team io core models/forward_model.h"
  [diagnostics]="diagnostics core"
  [theory]="theory samplers priors likelihoods models core"
  [run]="run samplers diagnostics team io core likelihoods/likelihood.h priors/score.h"
  [report]="report io core"
  [app]="app vlbi blackhole report run training theory diagnostics samplers priors networks likelihoods models team io core"
)
bad=0
for layer in *; do
  [ -d "$layer" ] || continue
  [ -n "${may[$layer]:-}" ] || { echo "src/$layer: no layer of this name in scripts/check_layers.sh"; bad=1; continue; }
  while IFS=: read -r file line include; do
    target=${include#*\"}; target=${target%\"*}
    allowed=0
    for rule in ${may[$layer]}; do
      case "$target" in "$rule"/* | "$rule") allowed=1 ;; esac
    done
    [ $allowed = 1 ] || { echo "src/$file:$line: $layer may not include $target"; bad=1; }
  done < <(grep -rnE '^#include "' "$layer" --include='*.h' --include='*.cpp' || true)
done
[ $bad = 0 ] && echo "layers: in order"
exit $bad
