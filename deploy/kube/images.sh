#!/usr/bin/env bash
# Builds our images, and with PARTS=1 those of Postgres and the EVM node. Then hands each to LOAD, if that is set.
#   BUILD  what builds: "docker build" unless stated; more of its flags may follow
#   BASE   the base image; the Dockerfiles' own unless stated
#   LOAD   a command that is called with each image's name: LOAD="kind load docker-image"
set -euo pipefail
cd "$(dirname "$0")/../.."
read -ra build <<<"${BUILD:-docker build}"
tag="${TAG:-0.1.0}"
[ -z "${BASE:-}" ] || build+=(--build-arg "BASE_IMAGE=$BASE")

made() { # image folder flags…
  local image=$1 folder=$2 from=$SECONDS
  "${build[@]}" "${@:3}" -t "$image" "$folder" >/dev/null
  [ -z "${LOAD:-}" ] || $LOAD "$image"
  echo "$image  $((SECONDS - from)) s"
}

for service in gateway console auth wallet ledger payment chain-relayer events; do
  made "wonrail-$service:$tag" . -f deploy/Dockerfile --build-arg "SERVICE=$service" --build-arg "COMMIT=$(git rev-parse --short HEAD)"
done
if [ -n "${PARTS:-}" ]; then
  for part in postgres chain; do made "wonrail-part-$part:1" deploy/kube/parts --build-arg "PART=$part"; done
fi
