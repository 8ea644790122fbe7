{{/* One map, merged before it is rendered: a name that is there twice is an error for server-side apply. */}}
{{- define "wonrail.environment" -}}
{{- $facts := index (include "wonrail.facts" .root | fromYaml) .name -}}
{{- $settings := include "wonrail.settings" . | fromYaml -}}
{{- $young := int $facts.semiSpaceMib -}}
{{- $env := dict
  "NODE_ENV" "production"
  "NODE_OPTIONS" (printf "--max-old-space-size=%d --max-semi-space-size=%d" (include "wonrail.oldSpaceMib" (dict "limit" $settings.resources.limits.memory "young" $young) | int) $young)
  "LOG_LEVEL" .root.Values.logLevel
  "OPS_PORT" "7200"
  "SHUTDOWN_GRACE_MS" ($settings.shutdownGraceMs | int64 | toString)
-}}
{{- if $facts.schema -}}
{{- $_ := mergeOverwrite $env (dict
  "DATABASE_URL_FILE" "/run/secrets/wonrail/database-url"
  "DATABASE_POOL_MAX" (.root.Values.postgres.poolMax | int64 | toString)
) -}}
{{- end -}}
{{- if $facts.edge -}}
{{- $_ := mergeOverwrite $env (dict "HTTP_PORT" "8080" "TRUSTED_PROXY_HOPS" ($settings.trustedProxyHops | default 0 | int64 | toString)) -}}
{{- else -}}
{{- $_ := mergeOverwrite $env (dict
  "GRPC_PORT" "7000"
  "BUS" .root.Values.bus.kind
  "DATABASE_STANDBY" (.root.Values.postgres.synchronousStandby | toString)
) -}}
{{- if eq .root.Values.bus.kind "kafka" }}{{ $_ := mergeOverwrite $env (include "wonrail.kafkaEnvironment" .root | fromYaml) }}{{ end -}}
{{- end -}}
{{- if and (eq .name "wallet") .root.Values.secrets.seedEscrow.existingClaim -}}
{{- $_ := set $env "SEED_ESCROW_FOLDER" "/var/lib/wonrail/seeds" -}}
{{- end -}}
{{- if eq .name "console" }}{{ $_ := mergeOverwrite $env (include "wonrail.consoleEnvironment" .root | fromYaml) }}{{ end -}}
{{- if not .root.Values.mtls.allowPlainText }}{{ $_ := mergeOverwrite $env (include "wonrail.mtlsEnvironment" . | fromYaml) }}
{{- else if not $facts.edge }}{{ $_ := set $env "ALLOW_UNIDENTIFIED_CALLERS" "true" }}{{ end -}}
{{- with .root.Values.tracing }}{{ if .endpoint }}
{{- $_ := mergeOverwrite $env (dict "OTEL_EXPORTER_OTLP_ENDPOINT" .endpoint "OTEL_TRACES_SAMPLER_ARG" (toString .share)) -}}
{{- end }}{{ end -}}
{{- $full := include "wonrail.fullname" .root -}}
{{- range $facts.calls }}{{ $_ := set $env (include "wonrail.addressVariable" .) (printf "%s-%s:7000" $full .) }}{{ end -}}
{{- $known := include "wonrail.chainSettings" .root | fromYaml -}}
{{- range $facts.settings -}}
{{- $name := . -}}
{{- if not (hasKey $known $name) }}{{ $name = printf "%s_FILE" $name }}{{ end -}}
{{- $_ := set $env $name (index $known $name) -}}
{{- end -}}
{{- range $name, $value := mergeOverwrite $env $settings.env }}
- name: {{ $name }}
  value: {{ $value | toString | quote }}
{{- end }}
{{- end }}

{{/* The console's own address, its Prometheus, and the identity provider of its operators. As YAML. */}}
{{- define "wonrail.consoleEnvironment" -}}
{{- $console := .Values.console -}}
{{- $local := ternary "http://127.0.0.1:8090" "" .Values.dev.enabled -}}
{{- $missing := "console.publicUrl is not set (or console.enabled=false)" -}}
PUBLIC_URL: {{ $console.publicUrl | default $local | required $missing | quote }}
{{- with $console.prometheusUrl }}
PROMETHEUS_URL: {{ . | quote }}
{{- end }}
{{- with $console.oidc }}
{{- if .issuer }}
OIDC_ISSUER: {{ .issuer | quote }}
OIDC_CLIENT_ID: {{ .clientId | required "console.oidc.clientId is not set, but console.oidc.issuer is" | quote }}
OIDC_NAME_CLAIM: {{ .nameClaim | quote }}
OIDC_ROLES_CLAIM: {{ .rolesClaim | quote }}
{{- if .existingSecret }}
OIDC_CLIENT_SECRET_FILE: /run/secrets/wonrail/oidc-client-secret
{{- end }}
{{- end }}
{{- end }}
{{- end }}

{{/* The brokers and how to get in there. As YAML. */}}
{{- define "wonrail.kafkaEnvironment" -}}
{{- if and (eq .Values.bus.sasl "plain") (not .Values.bus.tls) }}{{ fail "bus.sasl is plain: without bus.tls the password would be readable on the network; set bus.tls, or a scram of bus.sasl" }}{{ end -}}
KAFKA_BROKERS: {{ include "wonrail.brokers" . | quote }}
KAFKA_REPLICATION: {{ ternary "1" (.Values.bus.replication | int64 | toString) (eq (include "wonrail.ownKafka" .) "true") | quote }}
{{- if .Values.bus.tls }}
KAFKA_TLS: "true"
{{- end }}
{{- if .Values.bus.ownAuthority }}
KAFKA_CA_FILE: /run/secrets/wonrail/kafka/ca.crt
{{- end }}
{{- with .Values.bus.sasl }}
KAFKA_SASL: {{ . }}
KAFKA_USERNAME_FILE: /run/secrets/wonrail/kafka/username
KAFKA_PASSWORD_FILE: /run/secrets/wonrail/kafka/password
{{- end }}
{{- end }}

{{/* A service's own, so that the brokers can tell who writes; or one for all. */}}
{{- define "wonrail.kafkaSecret" -}}
{{- $kafka := .root.Values.secrets.kafka -}}
{{- if $kafka.secretPrefix }}{{ $kafka.secretPrefix }}-{{ .name }}
{{- else }}{{ $kafka.existingSecret | required "secrets.kafka.secretPrefix (or .existingSecret) is not set, but bus.sasl or bus.ownAuthority is" }}
{{- end -}}
{{- end }}

{{/*
The authority of Postgres' certificate. All URLs, also those of migrations, name this one path. A CA
key in the same Secret is not mounted.
*/}}
{{- define "wonrail.postgresAuthorityVolume" -}}
{{- with .root.Values.postgres.caSecret -}}
- name: postgres-authority
  secret:
    secretName: {{ . }}
    defaultMode: 0440
    items: [{ key: ca.crt, path: ca.crt }]
{{- end }}
{{- end }}

{{- define "wonrail.postgresAuthorityMount" -}}
{{- if .root.Values.postgres.caSecret -}}
- { name: postgres-authority, mountPath: /run/secrets/postgres, readOnly: true }
{{- end }}
{{- end }}

{{/* Copies of custody's sealed seeds, which all replicas of wallet write. */}}
{{- define "wonrail.seedEscrowVolume" -}}
{{- $claim := .root.Values.secrets.seedEscrow.existingClaim -}}
{{- if and (eq .name "wallet") $claim -}}
- name: seed-escrow
  persistentVolumeClaim: { claimName: {{ $claim }} }
{{- end }}
{{- end }}

{{- define "wonrail.seedEscrowMount" -}}
{{- if and (eq .name "wallet") .root.Values.secrets.seedEscrow.existingClaim -}}
- { name: seed-escrow, mountPath: /var/lib/wonrail/seeds }
{{- end }}
{{- end }}

{{/* What a service reads from files: its own database URL, and the keys that are its business. */}}
{{- define "wonrail.secretVolume" -}}
{{- $facts := index (include "wonrail.facts" .root | fromYaml) .name -}}
- name: secrets
  projected:
    defaultMode: 0440
    sources:
      - secret:
          name: {{ include "wonrail.secretName" (dict "root" .root "secret" "database") }}
          items: [{ key: {{ .name }}-url, path: database-url }]
      {{- $bus := .root.Values.bus }}
      {{- if and (eq $bus.kind "kafka") (or $bus.sasl $bus.ownAuthority) (not $facts.edge) }}
      - secret:
          name: {{ include "wonrail.kafkaSecret" . }}
          items:
            {{- if $bus.sasl }}
            - { key: username, path: kafka/username }
            - { key: password, path: kafka/password }
            {{- end }}
            {{- if $bus.ownAuthority }}
            - { key: ca.crt, path: kafka/ca.crt }
            {{- end }}
      {{- end }}
      {{- $oidc := .root.Values.console.oidc }}
      {{- if and (eq .name "console") $oidc.issuer $oidc.existingSecret }}
      - secret:
          name: {{ $oidc.existingSecret }}
          items: [{ key: client-secret, path: oidc-client-secret }]
      {{- end }}
      {{- if has "KEK_PATH" $facts.settings }}
      - secret:
          name: {{ include "wonrail.secretName" (dict "root" .root "secret" "kek") }}
          items: [{ key: kek.json, path: kek.json }]
      {{- end }}
      {{- if has "WEBHOOK_KEK_PATH" $facts.settings }}
      - secret:
          name: {{ include "wonrail.secretName" (dict "root" .root "secret" "webhookKek") }}
          items: [{ key: webhook-kek.json, path: webhook-kek.json }]
      {{- end }}
      {{- if has "OPERATOR_KEY_FILE" $facts.settings }}
      - secret:
          name: {{ include "wonrail.secretName" (dict "root" .root "secret" "operator") }}
          items: [{ key: operator-key, path: operator-key }]
      {{- with .root.Values.secrets.rpc.existingSecret }}
      - secret:
          name: {{ . }}
          items: [{ key: rpc-urls, path: rpc-urls }]
      {{- end }}
      {{- end }}
{{- end }}
