{{/* The container that brings a service's schema to this release's version. Only it sees the owner's and the admin's URL. */}}
{{- define "wonrail.migrationContainer" -}}
{{- $facts := index (include "wonrail.facts" .root | fromYaml) .name -}}
- name: migrate
  image: {{ include "wonrail.image" (dict "root" .root "name" .name) }}
  imagePullPolicy: {{ .root.Values.image.pullPolicy }}
  command: [node, /app/kit/bin/migrate.mjs]
  env:
    {{- if .root.Values.migrations.provision }}
    - { name: ADMIN_DATABASE_URL_FILE, value: /run/secrets/migrate/admin-url }
    {{- end }}
    - { name: DATABASE_URL_FILE, value: /run/secrets/migrate/database-url }
    - { name: LOG_LEVEL, value: {{ .root.Values.logLevel }} }
    - { name: MIGRATIONS, value: /app/service/migrations }
    - { name: OWNER_DATABASE_URL_FILE, value: /run/secrets/migrate/owner-url }
    - { name: SCHEMA, value: {{ $facts.schema }} }
  resources:
    requests: { cpu: 50m, memory: 128Mi }
    limits: { memory: 128Mi }
  securityContext:
    {{- include "wonrail.containerSecurity" . | nindent 4 }}
  volumeMounts:
    - { name: migration-secrets, mountPath: /run/secrets/migrate, readOnly: true }
    {{- include "wonrail.postgresAuthorityMount" . | nindent 4 }}
    - { name: tmp, mountPath: /tmp }
{{- end }}

{{- define "wonrail.migrationVolume" -}}
- name: migration-secrets
  secret:
    secretName: {{ include "wonrail.secretName" (dict "root" .root "secret" "database") }}
    defaultMode: 0440
    items:
      - { key: {{ .name }}-url, path: database-url }
      - { key: {{ .name }}-owner-url, path: owner-url }
      {{- if .root.Values.migrations.provision }}
      - { key: admin-url, path: admin-url }
      {{- end }}
{{- end }}
