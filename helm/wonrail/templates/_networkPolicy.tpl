{{/* Only its callers may reach a process. It may reach only the services it calls, the name server and its own store. */}}
{{- define "wonrail.networkPolicy" -}}
{{- $root := .root -}}
apiVersion: networking.k8s.io/v1
kind: NetworkPolicy
metadata:
  name: {{ .full }}
  labels: {{- include "wonrail.labels" . | nindent 4 }}
spec:
  podSelector:
    matchLabels: {{- include "wonrail.selector" . | nindent 6 }}
  policyTypes: [Ingress, Egress]
  {{- with include "wonrail.ingressRules" . | trim }}
  ingress: {{- . | nindent 4 }}
  {{- else }}
  ingress: []
  {{- end }}
  egress:
    {{- include "wonrail.dnsEgress" . | nindent 4 }}
    {{- range .facts.calls }}
    - ports: [{ port: 7000 }]
      to:
        - podSelector:
            matchLabels: {{- include "wonrail.selector" (dict "root" $root "name" .) | nindent 14 }}
    {{- end }}
    {{- if .facts.schema }}
    {{- include "wonrail.postgresEgress" . | nindent 4 }}
    {{- if and (eq $root.Values.bus.kind "kafka") (not .facts.edge) }}
    {{- include "wonrail.egress" (dict "root" $root "to" "kafka" "own" (include "wonrail.ownKafka" $root) "component" "kafka" "port" 9092) | nindent 4 }}
    {{- end }}
    {{- end }}
    {{- if $root.Values.tracing.endpoint }}
    {{- include "wonrail.egress" (dict "root" $root "to" "tracing") | nindent 4 }}
    {{- end }}
    {{- if .facts.identity }}
    {{- include "wonrail.egress" (dict "root" $root "to" "identity") | nindent 4 }}
    {{- end }}
    {{- if .facts.monitoring }}
    {{- include "wonrail.egress" (dict "root" $root "to" "prometheus") | nindent 4 }}
    {{- end }}
    {{- if .facts.webhooks }}
    {{- include "wonrail.egress" (dict "root" $root "to" "webhooks") | nindent 4 }}
    {{- end }}
    {{- if .facts.chain }}
    {{- $chain := include "wonrail.chain" $root | fromYaml }}
    {{- include "wonrail.egress" (dict "root" $root "to" "chain" "own" $chain.ownNode "component" "chain" "port" 8545) | nindent 4 }}
    {{- end }}
{{- end }}

{{/*
The console admits only listed peers, the gateway any caller unless peers are listed, and a service
its callers.
*/}}
{{- define "wonrail.ingressRules" -}}
{{- $root := .root -}}
{{- $name := .name -}}
{{- $callers := list -}}
{{- range $caller, $facts := include "wonrail.facts" .root | fromYaml }}{{ if has $name $facts.calls }}{{ $callers = append $callers $caller }}{{ end }}{{ end -}}
{{- if eq .name "console" }}
{{- with $root.Values.networkPolicy.consoleFrom }}
- ports: [{ port: http }]
  from: {{- toYaml . | nindent 4 }}
{{- end }}
{{- else if .facts.edge }}
- ports: [{ port: http }]
  {{- with $root.Values.networkPolicy.gatewayFrom }}
  from:
    {{- toYaml . | nindent 4 }}
    - podSelector:
        matchLabels: {{- include "wonrail.selector" (dict "root" $root "name" "test") | nindent 10 }}
  {{- end }}
{{- else if $callers }}
- ports: [{ port: grpc }]
  from:
    {{- range $callers }}
    - podSelector:
        matchLabels: {{- include "wonrail.selector" (dict "root" $root "name" .) | nindent 10 }}
    {{- end }}
{{- end }}
{{- with $root.Values.networkPolicy.monitoringFrom }}
- ports: [{ port: ops }]
  from: {{- toYaml . | nindent 4 }}
{{- end }}
{{- end }}

{{- define "wonrail.dnsEgress" -}}
{{- $dns := (.root | default .).Values.networkPolicy.dns -}}
- ports: [{ port: {{ $dns.port }}, protocol: UDP }, { port: {{ $dns.port }}, protocol: TCP }]
  {{- with $dns.to }}
  to: {{- toYaml . | nindent 4 }}
  {{- end }}
{{- end }}

{{- define "wonrail.postgresEgress" -}}
{{ include "wonrail.egress" (dict "root" .root "to" "postgres" "own" (include "wonrail.ownPostgres" .root) "component" "postgres" "port" 5432) }}
{{- end }}

{{/* To dev's own pods, to the peers in networkPolicy.<to>.to, or to every host where its `anywhere` says so; on one port. */}}
{{- define "wonrail.egress" -}}
{{- if .own -}}
- ports: [{ port: {{ .port }} }]
  to:
    - podSelector:
        matchLabels: {{- include "wonrail.selector" (dict "root" .root "name" .component) | nindent 10 }}
{{- else -}}
{{- $peers := index .root.Values.networkPolicy .to -}}
{{- if and (empty $peers.to) (not $peers.anywhere) -}}
{{- fail (printf "networkPolicy.%s.to is empty, which would open port %v of every host: list its peers, or set networkPolicy.%s.anywhere=true" .to $peers.port .to) -}}
{{- end -}}
- ports: [{ port: {{ $peers.port }} }]
  {{- with $peers.to }}
  to: {{- toYaml . | nindent 4 }}
  {{- end }}
{{- end }}
{{- end }}
