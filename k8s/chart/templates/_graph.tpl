{{/*
The call graph of docs/architecture.md: who listens where, who may call whom (network policies), and whose addresses a
process is told (its environment; services refuse variables that they do not know). `cache`: keeps files on disk.
`portName`: grpc unless told.
*/}}
{{- define "kernelvault.graph" -}}
generator:    {port: 50051, calls: [corpus], told: [corpus], cache: true}
compiler:     {port: 50052, calls: [corpus], told: [corpus], cache: true}
profiler:     {port: 50053, calls: [corpus], told: [corpus], cache: true}
corpus:       {port: 50054, calls: [], told: [], cache: false}
trainer:      {port: 50055, calls: [corpus, compiler, profiler, generator], told: [corpus], cache: false}
gateway:      {port: 8080, portName: http, calls: [compiler, profiler, corpus], told: [compiler, profiler, corpus], cache: false}
orchestrator: {calls: [generator, compiler, profiler, corpus, trainer], told: [generator, compiler, profiler, corpus, trainer]}
ray:          {calls: [corpus, compiler, profiler, generator], told: [corpus, compiler, profiler, generator]}
{{- end }}

{{- define "kernelvault.metricsPort" -}}9464{{- end }}

{{/* Of {service}. */}}
{{- define "kernelvault.portName" -}}
{{ .service.portName | default "grpc" }}
{{- end }}

{{/* The services that are on, each as its values over the defaults: a map by name. */}}
{{- define "kernelvault.services" -}}
{{- $graph := include "kernelvault.graph" . | fromYaml }}
{{- range $name, $own := .Values.services }}
{{- $service := mustMergeOverwrite (deepCopy $.Values.defaults) (deepCopy $own) }}
{{- if $service.enabled }}
{{ $name }}:
  {{- mustMergeOverwrite $service (get $graph $name) | toYaml | nindent 2 }}
{{- end }}
{{- end }}
{{- end }}

{{/* Whether the generator has vLLM in its pod, and where its model endpoint is. */}}
{{- define "kernelvault.llmEndpoint" -}}
{{- if eq .Values.vllm.mode "sidecar" -}}
http://127.0.0.1:8000/v1
{{- else if eq .Values.vllm.mode "deployment" -}}
http://{{ include "kernelvault.host" (dict "root" . "component" "vllm") }}:8000/v1
{{- else -}}
{{ .Values.openai.endpoint }}
{{- end -}}
{{- end }}

{{/* Host and port of S3. */}}
{{- define "kernelvault.s3Endpoint" -}}
{{- if .Values.seaweedfs.enabled -}}
{{ include "kernelvault.host" (dict "root" . "component" "seaweedfs") }}:8333
{{- else -}}
{{ .Values.s3.endpoint }}
{{- end -}}
{{- end }}
