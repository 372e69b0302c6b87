{{/*
The environment, as a map of names and values. `config` of a service adds fields of its configuration class by their
names there; what the chart has to know (addresses, files, secrets) is not among those that values.schema.json allows.
*/}}

{{/* Whom a caller trusts and who it is. */}}
{{- define "kernelvault.env.caller" -}}
{{- with .Values.access }}
{{- if .tls.enabled }}
TLS_CA_FILE: /etc/kernelvault/tls/ca.crt
{{- if .tls.mutual }}
TLS_CLIENT_CERT_FILE: /etc/kernelvault/tls/tls.crt
TLS_CLIENT_KEY_FILE: /etc/kernelvault/tls/tls.key
{{- end }}
{{- else }}
ALLOW_PLAINTEXT: {{ .allowPlaintext }}
{{- end }}
{{- if .clientToken.existingSecret }}
TOKEN_FILE: /etc/kernelvault/token/{{ .clientToken.key }}
{{- end }}
{{- end }}
{{- end }}

{{/* The addresses that a component is told. Of {root, component}. */}}
{{- define "kernelvault.env.addresses" -}}
{{- $graph := include "kernelvault.graph" .root | fromYaml }}
{{- range (get $graph .component).told }}
{{ upper . }}_ADDRESS: {{ include "kernelvault.address" (dict "root" $.root "component" .) }}
{{- end }}
{{- end }}

{{/* What all servers are told. Of {root, component, service}. */}}
{{- define "kernelvault.env.server" -}}
{{- $access := .root.Values.access }}
{{- $host := .root.Values.ipv6 | ternary "[::]" "0.0.0.0" }}
ADDRESS: {{ printf "%s:%v" $host .service.port | quote }}
METRICS_PORT: {{ include "kernelvault.metricsPort" . }}
DRAIN_SECONDS: {{ .service.drainSeconds }}
MAX_CONNECTION_AGE_SECONDS: {{ .root.Values.maxConnectionAgeSeconds }}
{{- with .root.Values.observability.otlpEndpoint }}
OTLP_ENDPOINT: {{ . }}
{{- end }}
{{- if $access.tls.enabled }}
TLS_CERT_FILE: /etc/kernelvault/tls/tls.crt
TLS_KEY_FILE: /etc/kernelvault/tls/tls.key
{{- if $access.tls.mutual }}
TLS_CLIENT_CA_FILE: /etc/kernelvault/tls/ca.crt
{{- end }}
{{- end }}
{{- if $access.tokens.existingSecret }}
TOKENS_FILE: /etc/kernelvault/tokens/{{ $access.tokens.key }}
{{- else if $access.allowAnonymous }}
ALLOW_ANONYMOUS: true
{{- end }}
{{- if .service.cache }}
CACHE_DIR: /var/cache/kernelvault/{{ .component }}
{{- end }}
{{- end }}

{{/* What one service is told beyond that. */}}
{{- define "kernelvault.env.corpus" -}}
{{- with .root.Values.s3 }}
S3_ENDPOINT: {{ include "kernelvault.s3Endpoint" $.root | quote }}
S3_BUCKET: {{ .bucket }}
S3_REGION: {{ .region }}
S3_SECURE: {{ $.root.Values.seaweedfs.enabled | ternary false .secure }}
S3_ACCESS_KEY_FILE: /etc/kernelvault/s3/access-key
S3_SECRET_KEY_FILE: /etc/kernelvault/s3/secret-key
{{- with .prefix }}
PREFIX: {{ . }}
{{- end }}
{{- end }}
{{- end }}
{{- define "kernelvault.env.backup" -}}
{{- with .Values.backup }}
{{- with .endpoint }}
BACKUP_ENDPOINT: {{ . | quote }}
BACKUP_SECURE: {{ $.Values.backup.secure }}
{{- end }}
{{- with .bucket }}
BACKUP_BUCKET: {{ . }}
{{- end }}
{{- with .region }}
BACKUP_REGION: {{ . }}
{{- end }}
{{- with .prefix }}
BACKUP_PREFIX: {{ . }}
{{- end }}
{{- if .existingSecret }}
BACKUP_ACCESS_KEY_FILE: /etc/kernelvault/backup/access-key
BACKUP_SECRET_KEY_FILE: /etc/kernelvault/backup/secret-key
{{- end }}
{{- end }}
{{- end }}
{{- define "kernelvault.env.compiler" -}}
CASE_SECRET_FILE: /etc/kernelvault/case-secret/{{ .root.Values.caseSecret.key }}
{{- end }}
{{- define "kernelvault.env.generator" -}}
{{- $endpoint := include "kernelvault.llmEndpoint" .root }}
{{- if $endpoint }}
OPENAI_ENDPOINT: {{ $endpoint }}
OPENAI_MODELS: {{ eq .root.Values.vllm.mode "none" | ternary .root.Values.openai.models (list .root.Values.vllm.servedModelName) | join "," | quote }}
{{- if .root.Values.openai.existingSecret }}
OPENAI_API_KEY_FILE: /etc/kernelvault/openai/{{ .root.Values.openai.key }}
{{- end }}
{{- end }}
{{- end }}
{{- define "kernelvault.env.profiler" }}{{ end }}
{{- define "kernelvault.env.trainer" }}{{ end }}
{{- define "kernelvault.env.gateway" }}{{ end }}

{{/* `env` of a container. Of {root, map, extra}; a `~` in Python's defaults needs HOME. */}}
{{- define "kernelvault.env" -}}
- name: HOME
  value: /tmp
{{- range $name, $value := .map }}
- name: KERNELVAULT_{{ upper $name }}
  {{- /* Whole numbers come as floating-point ones, and would be written as 1e+06. */}}
  value: {{ include "kernelvault.text" $value | quote }}
{{- end }}
{{- with .extra }}
{{ toYaml . }}
{{- end }}
{{- end }}

{{- define "kernelvault.text" -}}
{{- if kindIs "slice" . }}{{ join "," . }}
{{- else if and (kindIs "float64" .) (eq (float64 (int64 .)) .) }}{{ int64 . }}
{{- else }}{{ . }}
{{- end }}
{{- end }}

{{/* All of it for a service. Of {root, component, service}. */}}
{{- define "kernelvault.env.of" -}}
{{- $map := dict }}
{{- range list "server" .component }}
{{- $map = mustMergeOverwrite $map (include (printf "kernelvault.env.%s" .) $ | fromYaml | default dict) }}
{{- end }}
{{- $map = mustMergeOverwrite $map (include "kernelvault.env.caller" .root | fromYaml) (include "kernelvault.env.addresses" . | fromYaml | default dict) }}
{{- range $name, $value := .service.config }}
{{- $_ := set $map (upper $name) $value }}
{{- end }}
{{- include "kernelvault.env" (dict "map" $map "extra" .service.extraEnv) }}
{{- end }}
