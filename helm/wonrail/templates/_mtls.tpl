{{/*
Mutual TLS between the processes: a Secret for each, with its own tls.crt and tls.key, and ca.crt. See
mtls.yaml for their source.
*/}}
{{- define "wonrail.mtlsSecret" -}}
{{ .root.Values.mtls.secretPrefix | default (printf "%s-tls" (include "wonrail.fullname" .root)) }}-{{ .name }}
{{- end }}

{{- define "wonrail.mtlsEnvironment" -}}
TLS_CERT_FILE: /run/secrets/tls/tls.crt
TLS_KEY_FILE: /run/secrets/tls/tls.key
TLS_CA_FILE: /run/secrets/tls/ca.crt
{{- end }}

{{- define "wonrail.mtlsVolume" -}}
- name: tls
  secret:
    secretName: {{ include "wonrail.mtlsSecret" . }}
    defaultMode: 0440
{{- end }}
