{{/*
Facts of each process: its schema, whether it is an edge with an HTTP server, its callees, the size of its heap's young half, and its extra
settings. The calls are the edges of ARCHITECTURE.md; addresses and NetworkPolicies follow from them,
and a test compares them with each service's config.ts.
*/}}
{{- define "wonrail.facts" -}}
gateway:
  edge: true
  semiSpaceMib: 8
  calls: [auth, wallet, payment, chain-relayer, events]
  settings: [NETWORK]
auth:
  schema: auth
  semiSpaceMib: 16
  calls: []
  settings: [KEY_MODE, NETWORK]
wallet:
  schema: wallet
  semiSpaceMib: 16
  calls: [ledger]
  settings: [CHAIN_ID, TOKEN_ADDRESS, KEK_PATH]
ledger:
  schema: ledger
  semiSpaceMib: 16
  calls: []
  settings: [NETWORK]
payment:
  schema: payment
  semiSpaceMib: 8
  calls: [auth, wallet, ledger, chain-relayer]
  settings: [NETWORK, TOKEN_ADDRESS, PAYMENT_MANAGER_ADDRESS]
chain-relayer:
  schema: chain_relayer
  semiSpaceMib: 8
  calls: [auth, wallet, ledger, payment]
  chain: true
  settings: [CHAIN_ID, NETWORK, TOKEN_ADDRESS, PAYMENT_MANAGER_ADDRESS, START_BLOCK, FINALITY, CHAIN_RPC_URLS, OPERATOR_KEY_FILE]
events:
  schema: events
  semiSpaceMib: 8
  calls: [auth, wallet, ledger, payment, chain-relayer]
  webhooks: true
  settings: [NETWORK, WEBHOOK_KEK_PATH]
{{- if .Values.console.enabled }}
console:
  schema: console
  edge: true
  semiSpaceMib: 8
  calls: [auth, wallet, ledger, payment, chain-relayer, events]
  identity: {{ ne .Values.console.oidc.issuer "" }}
  monitoring: {{ ne .Values.console.prometheusUrl "" }}
  settings: [NETWORK]
{{- end }}
{{- end }}

{{- define "wonrail.addressVariable" -}}
{{ if eq . "chain-relayer" }}RELAYER{{ else }}{{ upper . }}{{ end }}_ADDRESS
{{- end }}

{{/* Everything a service may be told, as a map; _workload.tpl takes what its facts name. As YAML. */}}
{{- define "wonrail.chainSettings" -}}
{{- $chain := include "wonrail.chain" . | fromYaml -}}
KEY_MODE: {{ .Values.auth.keyMode | quote }}
NETWORK: {{ $chain.network | quote }}
CHAIN_ID: {{ $chain.chainId | int64 | toString | quote }}
TOKEN_ADDRESS: {{ $chain.tokenAddress | quote }}
PAYMENT_MANAGER_ADDRESS: {{ $chain.paymentManagerAddress | quote }}
START_BLOCK: {{ $chain.startBlock | int64 | toString | quote }}
FINALITY: {{ $chain.finality | toString | quote }}
KEK_PATH: /run/secrets/wonrail/kek.json
WEBHOOK_KEK_PATH: /run/secrets/wonrail/webhook-kek.json
OPERATOR_KEY_FILE: /run/secrets/wonrail/operator-key
{{- if .Values.secrets.rpc.existingSecret }}
CHAIN_RPC_URLS_FILE: /run/secrets/wonrail/rpc-urls
{{- else }}
CHAIN_RPC_URLS: {{ join "," $chain.rpcUrls | quote }}
{{- end }}
{{- end }}

{{/* The chain as configured, or dev's own: the addresses follow from the deployer's well-known key on a new chain. As YAML. */}}
{{- define "wonrail.chain" -}}
{{- $chain := deepCopy .Values.chain -}}
{{- if and .Values.dev.enabled (not $chain.rpcUrls) (not .Values.secrets.rpc.existingSecret) -}}
{{- $_ := set $chain "rpcUrls" (list (printf "http://%s-chain:8545" (include "wonrail.fullname" .))) -}}
{{- $_ := set $chain "chainId" 31337 -}}
{{- $_ := set $chain "tokenAddress" "0x5FbDB2315678afecb367f032d93F642f64180aa3" -}}
{{- $_ := set $chain "paymentManagerAddress" "0xe7f1725E7734CE288F8367e1Bb143E90bb3F0512" -}}
{{- $_ := set $chain "ownNode" true -}}
{{- end -}}
{{- if not (or $chain.rpcUrls .Values.secrets.rpc.existingSecret) }}{{ fail "chain.rpcUrls is empty (or set secrets.rpc.existingSecret, or dev.enabled for a laptop)" }}{{ end -}}
{{- if and (eq $chain.network "WON_MAINNET") (ne .Values.auth.keyMode "live") }}{{ fail "chain.network is WON_MAINNET, where money is real: set auth.keyMode to live" }}{{ end -}}
{{- if and (eq $chain.network "WON_MAINNET") (eq (int64 $chain.startBlock) 0) }}{{ fail "chain.startBlock is not set: set the block that contracts/bin/deploy.mjs wrote, because reading the chain from block 0 takes weeks" }}{{ end -}}
{{- range list "chainId" "tokenAddress" "paymentManagerAddress" }}{{ if not (index $chain .) }}{{ fail (printf "chain.%s is not set" .) }}{{ end }}{{ end -}}
{{ toYaml $chain }}
{{- end }}

{{- define "wonrail.brokers" -}}
{{- if .Values.bus.brokers }}{{ join "," .Values.bus.brokers }}
{{- else if .Values.dev.enabled }}{{ include "wonrail.fullname" . }}-kafka:9092
{{- else }}{{ fail "bus.brokers is empty (or bus.kind: feed, or dev.enabled for a laptop)" }}
{{- end -}}
{{- end }}

{{- define "wonrail.ownKafka" -}}
{{- if and .Values.dev.enabled (eq .Values.bus.kind "kafka") (not .Values.bus.brokers) }}true{{ end -}}
{{- end }}

{{- define "wonrail.ownPostgres" -}}
{{- if and .Values.dev.enabled (not .Values.secrets.database.existingSecret) }}true{{ end -}}
{{- end }}
