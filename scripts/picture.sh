#!/usr/bin/env bash
# Makes docs/images/demo.png, the README's picture: the top of the report that `penumbra demo` writes to demo/.
set -euo pipefail
cd "$(dirname "$0")/.."
[ -f demo/report.html ] || { echo "run scripts/demo.sh first" >&2; exit 2; }
profile=$(mktemp -d)
trap 'rm -rf "$profile"' EXIT
chromium --headless --no-sandbox --disable-gpu --no-first-run --disable-background-networking --disable-component-update \
  --disable-sync --hide-scrollbars --user-data-dir="$profile" --window-size=1200,1420 \
  --screenshot="$PWD/docs/images/demo.png" "file://$PWD/demo/report.html" >/dev/null 2>&1
echo docs/images/demo.png
