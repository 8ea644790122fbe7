#!/usr/bin/env bash
# Builds the tools with which the chart is checked, once, with Go 1.26 or newer, into the user's cache. Tests find them there.
set -euo pipefail
bin="${XDG_CACHE_HOME:-$HOME/.cache}/wonrail/bin"
command -v go >/dev/null || { echo "Go is not on the PATH; or put helm 4 on it yourself" >&2; exit 1; }
mkdir -p "$bin"
[ -x "$bin/helm" ] || GOBIN="$bin" go install helm.sh/helm/v4/cmd/helm@v4.2.4
"$bin/helm" version --short
