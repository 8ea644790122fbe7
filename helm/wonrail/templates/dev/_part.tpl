{{/* A part of dev's own: one pod, one Service. Give it name, port, image, container (YAML text), user. Not for production. */}}
{{- define "wonrail.devPart" -}}
{{- $full := printf "%s-%s" (include "wonrail.fullname" .root) .name -}}
apiVersion: v1
kind: Service
metadata:
  name: {{ $full }}
  labels: {{- include "wonrail.labels" . | nindent 4 }}
spec:
  clusterIP: None
  # The parts find themselves by this name while they start.
  publishNotReadyAddresses: true
  selector: {{- include "wonrail.selector" . | nindent 4 }}
  ports: [{ name: main, port: {{ .port }} }]
---
apiVersion: apps/v1
kind: StatefulSet
metadata:
  name: {{ $full }}
  labels: {{- include "wonrail.labels" . | nindent 4 }}
spec:
  serviceName: {{ $full }}
  replicas: 1
  selector:
    matchLabels: {{- include "wonrail.selector" . | nindent 6 }}
  template:
    metadata:
      labels: {{- include "wonrail.labels" . | nindent 8 }}
    spec:
      automountServiceAccountToken: false
      enableServiceLinks: false
      securityContext:
        runAsNonRoot: true
        runAsUser: {{ .user }}
        runAsGroup: {{ .user }}
        fsGroup: {{ .user }}
        seccompProfile: { type: RuntimeDefault }
      containers:
        - name: {{ .name }}
          image: {{ .image }}
          imagePullPolicy: {{ .root.Values.image.pullPolicy }}
          securityContext:
            allowPrivilegeEscalation: false
            readOnlyRootFilesystem: {{ .readOnly }}
            capabilities: { drop: [ALL] }
          ports: [{ name: main, containerPort: {{ .port }} }]
          readinessProbe:
            tcpSocket: { port: main }
            periodSeconds: 2
          {{- .container | nindent 10 }}
        {{- with .beside }}
        {{- . | nindent 8 }}
        {{- end }}
      volumes:
        - { name: tmp, emptyDir: {} }
        - { name: run, emptyDir: {} }
        {{- with .secret }}
        - name: secret
          secret:
            secretName: {{ include "wonrail.secretName" (dict "root" $.root "secret" .secret) }}
            defaultMode: 0440
            items: [{ key: {{ .key }}, path: {{ .key }} }]
        {{- end }}
        {{- with .files }}
        - name: files
          configMap: { name: {{ . }} }
        {{- end }}
        {{- if not .root.Values.dev.storage }}
        - { name: data, emptyDir: {} }
        {{- end }}
  {{- with .root.Values.dev.storage }}
  volumeClaimTemplates:
    - metadata: { name: data }
      spec:
        accessModes: [ReadWriteOnce]
        resources: { requests: { storage: {{ . }} } }
  {{- end }}
{{- if .root.Values.networkPolicy.enabled }}
---
apiVersion: networking.k8s.io/v1
kind: NetworkPolicy
metadata:
  name: {{ $full }}
  labels: {{- include "wonrail.labels" . | nindent 4 }}
spec:
  podSelector:
    matchLabels: {{- include "wonrail.selector" . | nindent 6 }}
  policyTypes: [Ingress, Egress]
  ingress:
    - ports: [{ port: main }]
      from:
        {{- range .callers }}
        - podSelector:
            matchLabels: {{- include "wonrail.selector" (dict "root" $.root "name" .) | nindent 14 }}
        {{- end }}
  {{- with .alsoTo }}
  egress:
    {{- include "wonrail.dnsEgress" $ | nindent 4 }}
    {{- range . }}
    - ports: [{ port: {{ .port }} }]
      to:
        - podSelector:
            matchLabels: {{- include "wonrail.selector" (dict "root" $.root "name" .name) | nindent 14 }}
    {{- end }}
  {{- end }}
{{- end }}
{{- end }}
