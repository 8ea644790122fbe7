#!/usr/bin/env bash
# Tries the chart on the cluster that KUBECONFIG names, from install to uninstall, in a namespace of its own. The images are there already
# (images.sh). What it said last is in docs/contribute/kubernetes-run.md. Ends with 1 at the first thing that is not as it should be.
#   NAMESPACE  made and deleted again (wonrail-smoke)      HELM  helm 4, or 3.21 (helm)
#   HELM_ARGS  more flags for install and upgrade: a registry, resources, other images of the development parts; for those that images.sh
#              builds with PARTS=1: "--set dev.images.postgres=wonrail-part-postgres:1 --set dev.images.chain=wonrail-part-chain:1"
#   PROBE_IMAGE  an image with node, for the pod that must be refused (the gateway's)
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
namespace="${NAMESPACE:-wonrail-smoke}"
helm="${HELM:-helm}"
probe="${PROBE_IMAGE:-wonrail-gateway:0.1.0}"
services=(auth ledger wallet payment chain-relayer events gateway console)
read -ra more <<<"${HELM_ARGS:-}"
chart=(helm/wonrail --namespace "$namespace" -f helm/wonrail/values-ci.yaml "${more[@]}" --wait --timeout 10m)
kube() { kubectl --namespace "$namespace" "$@"; }
say() { printf '%5d s  %s\n' "$SECONDS" "$*"; }
fail() { say "NOT AS IT SHOULD BE: $*"; kube get pods || true; complaints || true; exit 1; }
# Prints the logs of the pods, because the namespace is deleted with them.
complaints() {
  kube logs -l app.kubernetes.io/name=wonrail --all-containers --prefix --ignore-errors --tail 2000 --max-log-requests 100 2>/dev/null |
    grep -E '"level":"(warn|error|fatal)"|"status":5' | tail -n 40
}
# Prints a command's output and ends when it failed. Within an argument of say only the subshell
# would end.
told() { said="$("${@:2}")" || { echo "$said"; exit 1; }; say "$1: $said"; }

# Starts a pod in the restricted namespace: name, component label, image, and its command as a JSON
# list.
pod() {
  kube delete pod "$1" --ignore-not-found --wait >/dev/null
  kube apply -f - >/dev/null <<YAML
apiVersion: v1
kind: Pod
metadata: { name: $1, labels: { $2 } }
spec:
  automountServiceAccountToken: false
  restartPolicy: Never
  terminationGracePeriodSeconds: 60
  securityContext: { runAsNonRoot: true, runAsUser: 65532, runAsGroup: 65532, fsGroup: 65532, seccompProfile: { type: RuntimeDefault } }
  containers:
    - name: main
      image: ${IMAGE:-$probe}
      command: $3
      env:
        - { name: GATEWAY, value: "http://wonrail-gateway" }
        - { name: API_KEY_FILE, value: /run/smoke/api-key }
        - { name: SECONDS, value: "600" }
        - { name: WORKERS, value: "${WORKERS:-4}" }
      resources: { requests: { cpu: 50m, memory: 64Mi }, limits: { memory: 192Mi } }
      securityContext: { allowPrivilegeEscalation: false, readOnlyRootFilesystem: true, capabilities: { drop: [ALL] } }
      volumeMounts: [{ name: smoke, mountPath: /run/smoke, readOnly: true }]
  volumes: [{ name: smoke, secret: { secretName: smoke } }]
YAML
}
TESTER='app.kubernetes.io/name: wonrail, app.kubernetes.io/instance: wonrail, app.kubernetes.io/component: test'

phase() { kube get pod "$1" -o 'jsonpath={.status.phase}'; }
# Waits until a pod has ended, prints its last line, and fails when it failed.
outcome() {
  for _ in $(seq "${2:-180}"); do [[ $(phase "$1") =~ Succeeded|Failed ]] && break; sleep 1; done
  local said; said="$(kube logs "$1" | tail -n 1)"
  [ "$(phase "$1")" = Succeeded ] || fail "$1: $said"
  echo "$said"
}

# Runs a command under customer load: no request may fail after one retry.
under_load() {
  local what=$1 from=$SECONDS
  pod load "$TESTER" '[node, /run/smoke/inside.mjs, load]'
  for _ in $(seq 60); do [ "$(kube logs load 2>/dev/null | head -n 1)" = running ] && break; sleep 1; done
  sleep 5
  "${@:2}" >/dev/null || fail "$what"
  from=$((SECONDS - from)); sleep 5
  kube exec load -- node -e 'process.kill(1, "SIGTERM")'
  told "$what ($from s)" outcome load
}

# Tests whether a pod with these labels reaches host:port. A probe that never ran proves nothing.
reaches() {
  local code="const s = require('net').connect(${3}, '${2}'); s.setTimeout(2500); s.on('connect', () => process.exit(0)); for (const e of ['timeout', 'error']) s.on(e, () => process.exit(1));"
  pod probe "$1" "[node, -e, \"$code\"]" || fail "no pod for the probe"
  for _ in $(seq 60); do [[ $(phase probe) =~ Succeeded|Failed ]] && break; sleep 0.5; done
  case "$(phase probe)" in Succeeded) ;; Failed) return 1 ;; *) fail "the probe did not run" ;; esac
}
component() { echo "app.kubernetes.io/name: wonrail, app.kubernetes.io/instance: wonrail, app.kubernetes.io/component: $1"; }

# Runs a statement on the release's Postgres as its administrator, from an admitted pod. The
# ledger's image has the driver.
sql() {
  local code="const url = new URL(require('fs').readFileSync('/run/smoke/admin-url', 'utf8')); url.pathname = '/postgres'; const db = new (require('pg').Client)({ connectionString: url.href }); db.connect().then(() => db.query('$1')).then(() => process.exit(0), (error) => { console.log(error.message); process.exit(1); })"
  IMAGE="${probe/gateway/ledger}" pod sql "$(component ledger)" "[node, -e, \"$code\"]"
  outcome sql >&2
}
books() {
  local said
  said="$(kube exec deployment/wonrail-ledger -c ledger -- node bin/admin.mjs verify 2>&1 | tail -n 1)" || fail "the books: $said"
  echo "$said"
}
# Follows docs/operate/backup.md. The copy is consistent because no process writes; the customers'
# database is dropped.
restore() {
  kube scale "${services[@]/#/deployment/wonrail-}" --replicas=0 >/dev/null
  for service in "${services[@]}"; do kube wait --for=delete pod -l "app.kubernetes.io/component=$service" --timeout 2m >/dev/null; done
  for schema in auth wallet ledger payment chain_relayer; do
    sql "create database backup template wonrail_$schema"
    sql "drop database wonrail_$schema"
    sql "create database wonrail_$schema template backup"
    sql "drop database backup"
  done
  "$helm" upgrade wonrail "${chart[@]}" --set secrets.revision=4 >/dev/null
  rollout
}

rollout() { for service in "${services[@]}"; do kube rollout status "deployment/wonrail-$service" --timeout 5m >/dev/null; done; }
# under_load tests their exit code, and then bash does not end them on an error.
restart() {
  kube rollout restart deployment || return 1
  for service in "${services[@]}"; do kube rollout status "deployment/wonrail-$service" --timeout 5m || return 1; done
}
replace_pods() { # each pod in turn; the next goes when the one before is replaced
  for service in "${services[@]}"; do
    for name in $(kube get pods -l "app.kubernetes.io/component=$service" -o name); do
      kube delete "$name" --wait=true --timeout 2m || return 1
      kube rollout status "deployment/wonrail-$service" --timeout 5m || return 1
    done
  done
}
kill_pods() { # kills one pod of each service, as a failing node does
  for service in "${services[@]}"; do
    kube delete "$(kube get pods -l "app.kubernetes.io/component=$service" -o name | head -n 1)" --grace-period 0 --force || return 1
    kube rollout status "deployment/wonrail-$service" --timeout 5m || return 1
  done
}
field() { node -p 'JSON.parse(process.argv[2])[process.argv[1]]' "$@"; }
secret_value() { kube get secret wonrail-dev -o "jsonpath={.data.$1}" | base64 -d; }
set_secret() { kube patch secret wonrail-dev --type merge -p "{\"stringData\":{\"$1\":$(node -p 'JSON.stringify(process.argv[1])' "$2")}}" >/dev/null; }
wallet_admin() { kube exec deployment/wonrail-wallet -c wallet -- node bin/admin.mjs "$@"; }
kek_status() { wallet_admin kek status | tr -s '\n ' ' '; }

# Lists the commands of the pages for operators, with the given organisation, wallet and transfer.
in_use=0xe7f1725E7734CE288F8367e1Bb143E90bb3F0512 # of a chart that deploys its own contracts
operators_commands() {
  grep -ohE '(^|`)kubectl (-n wonrail )?exec [^`]*' docs/runbooks/*.md docs/operate/*.md |
    sed -E "s/^\`//; s/ -n wonrail//; s/--org <id>/--org $1/; s/--wallet <id>/--wallet $2/" |
    sed -E "s/<transfer>/$3/; s/--id <id>/--id 1/; s/<text>/smoke test/; s/(deliveries|disable) <id>/\1 --help/" |
    sed -E "s/adopt <address>/adopt $in_use/; s/…\$/--help/" | sort -u
}
try_command() {
  [[ $1 != *[\<…]* ]] || fail "nothing here fills in: $1"
  local said; said="$(bash -c "kubectl --namespace $namespace ${1#kubectl }" </dev/null 2>&1)" && return
  [[ $said == *"no such dead letter"* || $said == *"$in_use is in use"* || $said == *"only one that is open can be closed"* ]] || fail "$1: $said"
}

# A test reads the functions above and runs nothing below.
[ "${BASH_SOURCE[0]}" = "$0" ] || return 0
trap 'kubectl delete namespace "$namespace" --ignore-not-found --wait=false >/dev/null 2>&1' EXIT

say "$(kubectl version 2>/dev/null | tr '\n' ' '), $($helm version --short)"
kubectl create namespace "$namespace" >/dev/null
kubectl label namespace "$namespace" pod-security.kubernetes.io/enforce=restricted >/dev/null
if kube run privileged --image "$probe" --privileged >/dev/null 2>&1; then fail "a privileged pod got in"; fi
say "the namespace enforces Pod Security restricted: a privileged pod is refused"

for values in dev ci production; do
  # A plain cluster does not know cert-manager's kinds.
  manifests=(-f "helm/wonrail/values-$values.yaml" --set mtls.certManager.issuer=,mtls.secretPrefix=wonrail-tls)
  taken="$($helm template wonrail helm/wonrail --namespace "$namespace" "${manifests[@]}" 2>/dev/null | kube apply --dry-run=server --validate=strict -f - | wc -l)"
  say "values-$values.yaml: the API server takes all $taken objects, strictly validated"
done

$helm install wonrail "${chart[@]}" >/dev/null
rollout
say "installed: $(kube get pods --no-headers | grep -c Running) pods run"
$helm test wonrail --namespace "$namespace" >/dev/null
say "helm test passed"

made="$(kube exec deployment/wonrail-auth -c auth -- node bin/admin.mjs \
  org create --name Smoke --code SMOKE --plan ENTERPRISE --rate 10000 --burst 10000 --daily-limit 1000000000 \
  --incentive-bps 500 --reason "smoke test" --json)"
key="$(field apiKey "$made")"
kube create secret generic smoke --from-literal "api-key=$key" --from-literal "admin-url=$(secret_value admin-url)" --from-file deploy/kube/inside.mjs >/dev/null
pod story "$TESTER" '[node, /run/smoke/inside.mjs, story]'
told "the story" outcome story
closed="$(field deactivatedWallet "$said")" outside="$(field outsideTransferId "$said")"

under_load "rolling restart of all seven" restart
under_load "upgrade with a changed value" "$helm" upgrade wonrail "${chart[@]}" --set logLevel=debug
under_load "roll back" "$helm" rollback wonrail --namespace "$namespace" --wait --timeout 10m
under_load "each pod deleted in turn" replace_pods
under_load "one pod of each killed without grace" kill_pods

reaches "$TESTER" wonrail-gateway 80 || fail "the tester does not reach the gateway"
for edge in "chain-relayer wonrail-wallet 7000" "payment wonrail-chain-relayer 7000"; do
  read -r from host port <<<"$edge"
  reaches "$(component "$from")" "$host" "$port" || fail "$from does not reach $host:$port"
done
for edge in "ledger wonrail-chain-relayer 7000" "gateway wonrail-ledger 7000" "gateway wonrail-postgres 5432" "test wonrail-wallet 7000" "payment wonrail-chain 8545" "wallet wonrail-chain 8545" "auth wonrail-wallet 7000"; do
  read -r from host port <<<"$edge"
  if reaches "$(component "$from")" "$host" "$port"; then fail "$from reaches $host:$port"; fi
done
for host in auth wallet ledger payment chain-relayer events; do
  if reaches "app: stranger" "wonrail-$host" 7000; then fail "a stranger reaches $host"; fi
done
say "NetworkPolicy: chain-relayer reaches wallet, and payment chain-relayer; 7 edges that are not drawn, and a stranger to each service, are refused"

# Adds a second key-encryption key, then seals everything under it.
kek="$(secret_value 'kek\.json' | node -p 'const k = JSON.parse(require("fs").readFileSync(0, "utf8")); k.keys.second = require("crypto").randomBytes(32).toString("base64"); k.current = "second"; JSON.stringify(k)')"
set_secret kek.json "$kek"
under_load "key-encryption key added" "$helm" upgrade wonrail "${chart[@]}" --set secrets.revision=2
wallet_admin kek rotate --reason "smoke test" >/dev/null
told "key-encryption key rotated" kek_status

old="$(secret_value payment-url)"
set_secret payment-url "$(sed -E "s#(//[^:]+:)[^@]+@#\1$(node -p 'require("crypto").randomBytes(16).toString("hex")')@#" <<<"$old")"
under_load "payment's database password changed" "$helm" upgrade wonrail "${chart[@]}" --set secrets.revision=3
[ "$(secret_value payment-url)" != "$old" ] || fail "the upgrade put the old password back"

restore
told "database restored from a copy, as the backup page says" books

if kubectl top nodes >/dev/null 2>&1; then
  scaled() {
    "$helm" upgrade wonrail "${chart[@]}" --set secrets.revision=4 --set services.gateway.autoscaling.enabled=true --set services.gateway.autoscaling.targetCpuPercent=20 || return 1
    for _ in $(seq 180); do [ "$(kube get deployment wonrail-gateway -o 'jsonpath={.status.readyReplicas}')" -gt 2 ] && return 0; sleep 1; done
    return 1
  }
  under_load "HPA scaled the gateway out" scaled
fi

tried=0
while read -r command; do
  try_command "$command"
  tried=$((tried + 1))
done < <(operators_commands "$(field orgId "$made")" "$closed" "$outside")
say "operators' commands: the $tried of the pages for operators run in their pods"

pod story "$TESTER" '[node, /run/smoke/inside.mjs, story]'
told "the story again" outcome story
told "books" books
restarts="$(kube get pods -o 'jsonpath={range .items[*]}{.status.containerStatuses[*].restartCount}{"\n"}{end}' | tr ' ' '\n' | paste -sd+ | bc)"
say "containers restarted by the kubelet: $restarts"

$helm uninstall wonrail --namespace "$namespace" --wait --timeout 5m >/dev/null
# Deletes the objects of this script; then waits for the release's pods.
kube delete secret/smoke pod/load pod/probe pod/sql pod/story --ignore-not-found >/dev/null
kube wait --for=delete pod --all --timeout 90s >/dev/null 2>&1 || true
left="$(kube get all,configmap,secret,serviceaccount,networkpolicy,pdb,hpa,pvc -o name | grep -v -e configmap/kube-root-ca.crt -e serviceaccount/default || true)"
[ -z "$left" ] || fail "left behind: $left"
say "uninstalled: nothing is left"
