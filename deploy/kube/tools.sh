#!/usr/bin/env bash
# Builds the tools with which the chart is checked, once, with Go 1.26 or newer, into the user's cache. Tests find them there, and say which
# they skip for want of one. Nothing here needs a cluster.
#   tools.sh          helm 4, by which the chart is rendered
#   tools.sh --all    also helm 3, helm-unittest and kubeconform: some minutes more
set -euo pipefail
bin="${XDG_CACHE_HOME:-$HOME/.cache}/wonrail/bin"
command -v go >/dev/null || { echo "Go is not on the PATH; or put helm 4 on it yourself" >&2; exit 1; }
mkdir -p "$bin"

tool() { # name module@version linker-flags…
  [ ! -x "$bin/$1" ] || return 0
  local made; made="$(mktemp -d "$bin/.XXXXXX")"
  GOBIN="$made" CGO_ENABLED=0 go install -trimpath -ldflags "-s -w ${*:3}" "$2"
  mv "$made"/* "$bin/$1" && rmdir "$made"
}

tool helm helm.sh/helm/v4/cmd/helm@v4.2.4
if [ "${1:-}" = --all ]; then
  # Without a cluster, helm 3 as `go install` builds it assumes Kubernetes 1.20.
  believes=(); for place in pkg/chartutil pkg/lint/rules; do
    believes+=(-X "helm.sh/helm/v3/$place.k8sVersionMajor=1" -X "helm.sh/helm/v3/$place.k8sVersionMinor=34")
  done
  tool helm3 helm.sh/helm/v3/cmd/helm@v3.21.4 "${believes[@]}"
  tool helm-unittest github.com/helm-unittest/helm-unittest/cmd/helm-unittest@v0.8.2
  tool kubeconform github.com/yannh/kubeconform/cmd/kubeconform@v0.7.0
fi
"$bin/helm" version --short
