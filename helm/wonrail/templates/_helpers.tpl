{{- define "wonrail.fullname" -}}
{{- if .Values.fullnameOverride -}}
{{ .Values.fullnameOverride | trunc 40 | trimSuffix "-" }}
{{- else if contains .Chart.Name .Release.Name -}}
{{ .Release.Name | trunc 40 | trimSuffix "-" }}
{{- else -}}
{{ printf "%s-%s" .Release.Name .Chart.Name | trunc 40 | trimSuffix "-" }}
{{- end -}}
{{- end }}

{{/* What never changes after the first install; Deployments cannot change their selectors. */}}
{{- define "wonrail.selector" -}}
app.kubernetes.io/name: wonrail
app.kubernetes.io/instance: {{ .root.Release.Name }}
app.kubernetes.io/component: {{ .name }}
{{- end }}

{{- define "wonrail.labels" -}}
{{ include "wonrail.selector" . }}
app.kubernetes.io/version: {{ .root.Chart.AppVersion | quote }}
app.kubernetes.io/part-of: wonrail
app.kubernetes.io/managed-by: {{ .root.Release.Service }}
helm.sh/chart: {{ printf "%s-%s" .root.Chart.Name .root.Chart.Version | replace "+" "_" }}
{{- end }}

{{/* A service's values: the defaults, overridden key by key. As YAML. */}}
{{- define "wonrail.settings" -}}
{{ mergeOverwrite (deepCopy .root.Values.defaults) (deepCopy (index .root.Values.services .name | default dict)) | toYaml }}
{{- end }}

{{- define "wonrail.image" -}}
{{- $image := .root.Values.image -}}
{{- $settings := include "wonrail.settings" . | fromYaml -}}
{{- $repository := printf "%s-%s" $image.repository .name -}}
{{- if $image.registry }}{{ $repository = printf "%s/%s" $image.registry $repository }}{{ end -}}
{{- if $settings.image }}{{ $settings.image }}
{{- else if $settings.digest }}{{ printf "%s@%s" $repository $settings.digest }}
{{- else }}{{ printf "%s:%s" $repository ($image.tag | default .root.Chart.AppVersion) }}
{{- end -}}
{{- end }}

{{- define "wonrail.pullSecrets" -}}
{{- with .root.Values.image.pullSecrets }}
imagePullSecrets:
  {{- range . }}
  - name: {{ . }}
  {{- end }}
{{- end }}
{{- end }}

{{/* The Secret's name, by which of the three it is: the operator's own, or the one that dev generates. */}}
{{- define "wonrail.secretName" -}}
{{- $given := (index .root.Values.secrets .secret).existingSecret -}}
{{- if $given }}{{ $given }}
{{- else if .root.Values.dev.enabled }}{{ include "wonrail.fullname" .root }}-dev
{{- else }}{{ fail (printf "secrets.%s.existingSecret is not set (or dev.enabled for a laptop)" .secret) }}
{{- end -}}
{{- end }}

{{/* Pod Security "restricted", for pods and for containers. */}}
{{- define "wonrail.podSecurity" -}}
runAsNonRoot: true
runAsUser: 65532
runAsGroup: 65532
fsGroup: 65532
seccompProfile: { type: RuntimeDefault }
{{- end }}

{{- define "wonrail.containerSecurity" -}}
allowPrivilegeEscalation: false
readOnlyRootFilesystem: true
capabilities: { drop: [ALL] }
{{- end }}

{{/*
Size of V8's old space in MiB: three quarters of the memory limit after the young space, which is up
to three times `semiSpaceMib`. The rest is for buffers and code.
*/}}
{{- define "wonrail.oldSpaceMib" -}}
{{- $limit := 0 -}}
{{- if hasSuffix "Gi" .limit -}}
{{- $limit = mul (trimSuffix "Gi" .limit | int) 1024 -}}
{{- else if hasSuffix "Mi" .limit -}}
{{- $limit = trimSuffix "Mi" .limit | int -}}
{{- else -}}
{{- fail (printf "limits.memory has to be in Mi or Gi, not %s" .limit) -}}
{{- end -}}
{{- $old := div (mul (sub $limit (mul 3 .young)) 3) 4 -}}
{{- if lt $old 96 }}{{ fail (printf "limits.memory of %s is too little: a process needs 256Mi" .limit) }}{{ end -}}
{{ $old }}
{{- end }}
