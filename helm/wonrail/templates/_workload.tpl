{{/* Everything one process is in a cluster, the same for all of them: call it with the root and the process's name. */}}
{{- define "wonrail.workload" -}}
{{- $facts := index (include "wonrail.facts" .root | fromYaml) .name -}}
{{- $context := dict "root" .root "name" .name "facts" $facts "settings" (include "wonrail.settings" . | fromYaml) "full" (printf "%s-%s" (include "wonrail.fullname" .root) .name) -}}
{{ include "wonrail.serviceAccount" $context }}
---
{{ include "wonrail.service" $context }}
{{- if $facts.edge }}
---
{{ include "wonrail.opsService" $context }}
{{- end }}
---
{{ include "wonrail.deployment" $context }}
{{- if or $context.settings.autoscaling.enabled (gt ($context.settings.replicas | int) 1) }}
---
{{ include "wonrail.disruptionBudget" $context }}
{{- end }}
{{- if $context.settings.autoscaling.enabled }}
---
{{ include "wonrail.autoscaler" $context }}
{{- end }}
{{- if .root.Values.networkPolicy.enabled }}
---
{{ include "wonrail.networkPolicy" $context }}
{{- end }}
{{- if and .root.Values.metrics.serviceMonitor.enabled (.root.Capabilities.APIVersions.Has "monitoring.coreos.com/v1") }}
---
{{ include "wonrail.serviceMonitor" $context }}
{{- end }}
{{- end }}

{{- define "wonrail.serviceAccount" -}}
apiVersion: v1
kind: ServiceAccount
metadata:
  name: {{ .full }}
  labels: {{- include "wonrail.labels" . | nindent 4 }}
automountServiceAccountToken: false
{{- end }}

{{/* Headless for gRPC: clients resolve all pods and spread their calls. A virtual address would bind each connection to one pod. */}}
{{- define "wonrail.service" -}}
{{- $edge := dict "type" "ClusterIP" "port" 80 "annotations" dict -}}
{{- if eq .name "gateway" }}{{ $edge = .root.Values.gatewayService }}{{ end -}}
apiVersion: v1
kind: Service
metadata:
  name: {{ .full }}
  labels: {{- include "wonrail.labels" . | nindent 4 }}
  {{- if .facts.edge }}
  {{- with $edge.annotations }}
  annotations: {{- toYaml . | nindent 4 }}
  {{- end }}
  {{- end }}
spec:
  {{- if .facts.edge }}
  type: {{ $edge.type }}
  {{- else }}
  clusterIP: None
  {{- end }}
  selector: {{- include "wonrail.selector" . | nindent 4 }}
  ports:
    {{- if .facts.edge }}
    - { name: http, port: {{ $edge.port }}, targetPort: http, appProtocol: http }
    {{- else }}
    - { name: grpc, port: 7000, targetPort: grpc, appProtocol: grpc }
    - { name: ops, port: 7200, targetPort: ops }
    {{- end }}
{{- end }}

{{/* A Service of its own for /metrics, because an edge's Service may be a public load balancer. */}}
{{- define "wonrail.opsService" -}}
apiVersion: v1
kind: Service
metadata:
  name: {{ .full }}-ops
  labels: {{- include "wonrail.labels" . | nindent 4 }}
spec:
  clusterIP: None
  selector: {{- include "wonrail.selector" . | nindent 4 }}
  ports:
    - { name: ops, port: 7200, targetPort: ops }
{{- end }}

{{- define "wonrail.deployment" -}}
apiVersion: apps/v1
kind: Deployment
metadata:
  name: {{ .full }}
  labels: {{- include "wonrail.labels" . | nindent 4 }}
spec:
  {{- if not .settings.autoscaling.enabled }}
  replicas: {{ .settings.replicas }}
  {{- end }}
  revisionHistoryLimit: 5
  selector:
    matchLabels: {{- include "wonrail.selector" . | nindent 6 }}
  strategy:
    rollingUpdate: { maxUnavailable: 0, maxSurge: 1 }
  template:
    metadata:
      labels:
        {{- include "wonrail.labels" . | nindent 8 }}
        {{- with .settings.podLabels }}{{ toYaml . | nindent 8 }}{{ end }}
      annotations:
        wonrail.io/secrets-revision: {{ .root.Values.secrets.revision | quote }}
        {{- with .settings.podAnnotations }}{{ toYaml . | nindent 8 }}{{ end }}
    spec:
      {{- include "wonrail.pod" . | nindent 6 }}
{{- end }}

{{- define "wonrail.pod" -}}
{{- $schema := .facts.schema -}}
{{- $service := not .facts.edge -}}
serviceAccountName: {{ .full }}
automountServiceAccountToken: false
enableServiceLinks: false
{{- include "wonrail.pullSecrets" . }}
# preStop, then SIGTERM with the process's settle time and grace, then some seconds more, so that the
# process ends by itself before the kubelet kills it.
terminationGracePeriodSeconds: {{ add .settings.preStopSeconds (div (add (get .settings.env "SHUTDOWN_SETTLE_MS" | int) (get .settings.env "SHUTDOWN_GRACE_MS" | default .settings.shutdownGraceMs | int)) 1000) 10 }}
{{- with .settings.priorityClassName }}
priorityClassName: {{ . }}
{{- end }}
# A lost query to the name server, such as a new pod's first one, is repeated after one second instead
# of five, which is the deadline of a call.
dnsConfig: { options: [{ name: timeout, value: "1" }, { name: attempts, value: "5" }] }
securityContext:
  {{- include "wonrail.podSecurity" . | nindent 2 }}
{{- if and $schema (eq .root.Values.migrations.mode "initContainer") }}
initContainers:
  {{- include "wonrail.migrationContainer" . | nindent 2 }}
{{- end }}
containers:
  - name: {{ .name }}
    image: {{ include "wonrail.image" (dict "root" .root "name" .name) }}
    imagePullPolicy: {{ .root.Values.image.pullPolicy }}
    env:
      {{- include "wonrail.environment" . | trim | nindent 6 }}
    ports:
      - { name: {{ if $service }}grpc, containerPort: 7000{{ else }}http, containerPort: 8080{{ end }} }
      - { name: ops, containerPort: 7200 }
    # Startup: a gRPC call, or /livez under mutual TLS, because the kubelet has no client certificate.
    # Liveness: without dependencies, because a restart would not repair them. Readiness: dependencies
    # and draining.
    startupProbe:
      {{- if and $service .root.Values.mtls.allowPlainText }}
      grpc: { port: 7000 }
      {{- else }}
      httpGet: { path: /livez, port: ops }
      {{- end }}
      periodSeconds: 2
      timeoutSeconds: 3
      failureThreshold: 60
    livenessProbe:
      httpGet: { path: /livez, port: ops }
      periodSeconds: 10
      timeoutSeconds: 3
      failureThreshold: 6
    readinessProbe:
      httpGet: { path: /readyz, port: ops }
      periodSeconds: 5
      timeoutSeconds: 3
      failureThreshold: 2
    {{- with .settings.preStopSeconds | int }}
    lifecycle:
      preStop:
        sleep: { seconds: {{ . }} }
    {{- end }}
    resources: {{- toYaml .settings.resources | nindent 6 }}
    securityContext:
      {{- include "wonrail.containerSecurity" . | nindent 6 }}
    volumeMounts:
      - { name: tmp, mountPath: /tmp }
      {{- if $schema }}
      - { name: secrets, mountPath: /run/secrets/wonrail, readOnly: true }
      {{- include "wonrail.postgresAuthorityMount" . | nindent 6 }}
      {{- include "wonrail.seedEscrowMount" . | nindent 6 }}
      {{- end }}
      {{- if not .root.Values.mtls.allowPlainText }}
      - { name: tls, mountPath: /run/secrets/tls, readOnly: true }
      {{- end }}
volumes:
  - name: tmp
    emptyDir: { sizeLimit: 64Mi }
  {{- if not .root.Values.mtls.allowPlainText }}
  {{- include "wonrail.mtlsVolume" . | nindent 2 }}
  {{- end }}
  {{- if $schema }}
  {{- include "wonrail.secretVolume" . | nindent 2 }}
  {{- include "wonrail.postgresAuthorityVolume" . | nindent 2 }}
  {{- include "wonrail.seedEscrowVolume" . | nindent 2 }}
  {{- if eq .root.Values.migrations.mode "initContainer" }}
  {{- include "wonrail.migrationVolume" . | nindent 2 }}
  {{- end }}
  {{- end }}
topologySpreadConstraints:
  {{- range list "topology.kubernetes.io/zone" "kubernetes.io/hostname" }}
  - topologyKey: {{ . }}
    maxSkew: 1
    whenUnsatisfiable: ScheduleAnyway
    labelSelector:
      matchLabels: {{- include "wonrail.selector" $ | nindent 8 }}
    matchLabelKeys: [pod-template-hash]
  {{- end }}
{{- with .settings.nodeSelector }}
nodeSelector: {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .settings.tolerations }}
tolerations: {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .settings.affinity }}
affinity: {{- toYaml . | nindent 2 }}
{{- end }}
{{- end }}

{{- define "wonrail.disruptionBudget" -}}
apiVersion: policy/v1
kind: PodDisruptionBudget
metadata:
  name: {{ .full }}
  labels: {{- include "wonrail.labels" . | nindent 4 }}
spec:
  maxUnavailable: 1
  unhealthyPodEvictionPolicy: AlwaysAllow
  selector:
    matchLabels: {{- include "wonrail.selector" . | nindent 6 }}
{{- end }}

{{- define "wonrail.autoscaler" -}}
{{- with .settings.autoscaling }}{{ if gt (int .minReplicas) (int .maxReplicas) }}{{ fail (printf "autoscaling of %s: minReplicas of %d is more than maxReplicas of %d, which Kubernetes refuses" $.name (int .minReplicas) (int .maxReplicas)) }}{{ end }}{{ end -}}
apiVersion: autoscaling/v2
kind: HorizontalPodAutoscaler
metadata:
  name: {{ .full }}
  labels: {{- include "wonrail.labels" . | nindent 4 }}
spec:
  scaleTargetRef: { apiVersion: apps/v1, kind: Deployment, name: {{ .full }} }
  minReplicas: {{ .settings.autoscaling.minReplicas }}
  maxReplicas: {{ .settings.autoscaling.maxReplicas }}
  metrics:
    - type: Resource
      resource:
        name: cpu
        target: { type: Utilization, averageUtilization: {{ .settings.autoscaling.targetCpuPercent }} }
  behavior:
    scaleDown: { stabilizationWindowSeconds: 300 }
{{- end }}

{{- define "wonrail.serviceMonitor" -}}
apiVersion: monitoring.coreos.com/v1
kind: ServiceMonitor
metadata:
  name: {{ .full }}
  labels:
    {{- include "wonrail.labels" . | nindent 4 }}
    {{- with .root.Values.metrics.serviceMonitor.labels }}{{ toYaml . | nindent 4 }}{{ end }}
spec:
  selector:
    matchLabels: {{- include "wonrail.selector" . | nindent 6 }}
  endpoints:
    - port: ops
      path: /metrics
      interval: {{ .root.Values.metrics.serviceMonitor.interval }}
      # The rules and dashboards tell processes apart by job, as the local Prometheus does.
      relabelings: [{ targetLabel: job, replacement: {{ .name }} }]
{{- end }}
