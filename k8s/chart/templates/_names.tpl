{{/* The release's name, by which all objects begin: short, for a Job's pods and a Ray cluster's services add to it. */}}
{{- define "kernelvault.fullname" -}}
{{- $name := default .Chart.Name .Values.nameOverride }}
{{- $full := contains $name .Release.Name | ternary .Release.Name (printf "%s-%s" .Release.Name $name) }}
{{- default $full .Values.fullnameOverride | trunc 30 | trimSuffix "-" }}
{{- end }}

{{/* What pods are selected by: never changes in an upgrade. Of {root, component}. */}}
{{- define "kernelvault.selector" -}}
app.kubernetes.io/name: {{ .root.Chart.Name }}
app.kubernetes.io/instance: {{ .root.Release.Name }}
{{- with .component }}
app.kubernetes.io/component: {{ . }}
{{- end }}
{{- end }}

{{/* The labels of all objects. Of {root, component}. */}}
{{- define "kernelvault.labels" -}}
{{ include "kernelvault.selector" . }}
app.kubernetes.io/version: {{ .root.Chart.AppVersion | quote }}
app.kubernetes.io/part-of: {{ .root.Chart.Name }}
app.kubernetes.io/managed-by: {{ .root.Release.Service }}
helm.sh/chart: {{ printf "%s-%s" .root.Chart.Name .root.Chart.Version | replace "+" "_" }}
{{- with .root.Values.commonLabels }}
{{ toYaml . }}
{{- end }}
{{- end }}

{{/* `metadata` of an object. Of {root, component, suffix}. */}}
{{- define "kernelvault.metadata" -}}
name: {{ include "kernelvault.fullname" .root }}{{ with .suffix }}-{{ . }}{{ end }}
namespace: {{ .root.Release.Namespace }}
labels:
  {{- include "kernelvault.labels" . | nindent 2 }}
{{- end }}

{{/* The image of a component: its own repository and digest, else the common registry, prefix and tag. Of {root, component, image}. */}}
{{- define "kernelvault.image" -}}
{{- $common := .root.Values.image }}
{{- $own := .image | default dict }}
{{- $repository := $own.repository | default (printf "%s/%s%s" $common.registry $common.prefix .component) }}
{{- if $own.digest }}
{{- printf "%s@%s" $repository $own.digest }}
{{- else }}
{{- printf "%s:%s" $repository ($own.tag | default $common.tag | default .root.Chart.AppVersion) }}
{{- end }}
{{- end }}

{{/* A service's host name and its address for gRPC: every pod's address, balanced by the client. Of {root, component}. */}}
{{- define "kernelvault.host" -}}
{{ include "kernelvault.fullname" .root }}-{{ .component }}.{{ .root.Release.Namespace }}.svc.{{ .root.Values.clusterDomain }}
{{- end }}
{{- define "kernelvault.address" -}}
{{- $graph := include "kernelvault.graph" .root | fromYaml }}
{{- printf "dns:///%s:%v" (include "kernelvault.host" .) (get $graph .component).port }}
{{- end }}
