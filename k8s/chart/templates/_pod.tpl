{{/* Pod Security *restricted*, for a pod and for a container. A GPU's device files belong to groups of the host. */}}
{{- define "kernelvault.podSecurity" -}}
runAsNonRoot: true
runAsUser: 10001
runAsGroup: 10001
fsGroup: 10001
fsGroupChangePolicy: OnRootMismatch
seccompProfile: {type: RuntimeDefault}
{{- with .supplementalGroups }}
supplementalGroups: {{ toJson . }}
{{- end }}
{{- end }}
{{- define "kernelvault.containerSecurity" -}}
allowPrivilegeEscalation: false
readOnlyRootFilesystem: true
capabilities: {drop: [ALL]}
{{- end }}

{{/* The resource that a GPU plugin offers, and the label that says which GPU a node has. Of a `gpu` map. */}}
{{- define "kernelvault.gpuResource" -}}
{{ eq .vendor "nvidia" | ternary "nvidia.com/gpu" "amd.com/gpu" }}
{{- end }}
{{- define "kernelvault.gpuLabel" -}}
{{ eq .vendor "nvidia" | ternary "nvidia.com/gpu.product" "amd.com/gpu.product-name" }}
{{- end }}

{{/* `resources` of a container with the GPUs that it gets. Of {resources, gpu}. */}}
{{- define "kernelvault.resources" -}}
{{- $resources := deepCopy .resources }}
{{- if gt (int .gpu.count) 0 }}
{{- $gpus := dict (include "kernelvault.gpuResource" .gpu) (int .gpu.count) }}
{{- $resources = mustMergeOverwrite $resources (dict "limits" $gpus "requests" $gpus) }}
{{- end }}
{{- toYaml $resources }}
{{- end }}

{{/* Where a pod may run: GPUs of the wanted products on nodes that may be tainted for them, and what values say. Of a map of pod settings. */}}
{{- define "kernelvault.scheduling" -}}
{{- $affinity := .affinity | default dict }}
{{- $tolerations := .tolerations | default list }}
{{- if gt (int .gpu.count) 0 }}
{{- $tolerations = append $tolerations (dict "key" (include "kernelvault.gpuResource" .gpu) "operator" "Exists" "effect" "NoSchedule") }}
{{- if .gpu.products }}
{{- $wanted := dict "key" (include "kernelvault.gpuLabel" .gpu) "operator" "In" "values" .gpu.products }}
{{- $terms := list (dict "matchExpressions" (list $wanted)) }}
{{- $affinity = mustMergeOverwrite (dict "nodeAffinity" (dict "requiredDuringSchedulingIgnoredDuringExecution" (dict "nodeSelectorTerms" $terms))) $affinity }}
{{- end }}
{{- end }}
{{- with .nodeSelector }}
nodeSelector: {{- toYaml . | nindent 2 }}
{{- end }}
{{- with $affinity }}
affinity: {{- toYaml . | nindent 2 }}
{{- end }}
{{- with $tolerations }}
tolerations: {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .priorityClassName }}
priorityClassName: {{ . }}
{{- end }}
{{- with .runtimeClassName }}
runtimeClassName: {{ . }}
{{- end }}
{{- end }}

{{/* Replicas apart from each other, over zones and over nodes, where that can be had. Of {root, component}. */}}
{{- define "kernelvault.spread" -}}
topologySpreadConstraints:
  {{- range list "topology.kubernetes.io/zone" "kubernetes.io/hostname" }}
  - maxSkew: 1
    topologyKey: {{ . }}
    whenUnsatisfiable: ScheduleAnyway
    labelSelector: {matchLabels: {{ include "kernelvault.selector" $ | fromYaml | toJson }}}
    matchLabelKeys: [pod-template-hash]
  {{- end }}
{{- end }}

{{/* What all pods begin with. Of {root, component, groups}. */}}
{{- define "kernelvault.podBasics" -}}
serviceAccountName: {{ include "kernelvault.fullname" .root }}-{{ .component }}
automountServiceAccountToken: false
# Variables for each Service would be KERNELVAULT_* ones that no service knows.
enableServiceLinks: false
{{- with .root.Values.image.pullSecrets }}
imagePullSecrets: {{- toYaml . | nindent 2 }}
{{- end }}
securityContext: {{- include "kernelvault.podSecurity" (dict "supplementalGroups" .groups) | nindent 2 }}
{{- end }}

{{/* gRPC probes; those of the kubelet speak no TLS, and with it, and for HTTP, they ask beside the metrics. Of {root, service}. */}}
{{- define "kernelvault.probes" -}}
{{- $beside := or .root.Values.access.tls.enabled (ne (include "kernelvault.portName" .) "grpc") }}
{{- $port := int .service.port }}
{{- $live := $beside | ternary "httpGet: {path: /livez, port: metrics}" (printf "grpc: {port: %d, service: live}" $port) }}
# About the process alone: a store that is away must not restart the corpus.
startupProbe:
  {{ $live }}
  periodSeconds: 2
  failureThreshold: 60
livenessProbe:
  {{ $live }}
  periodSeconds: 15
  timeoutSeconds: 5
  failureThreshold: 4
readinessProbe:
  {{ $beside | ternary "httpGet: {path: /readyz, port: metrics}" (printf "grpc: {port: %d}" $port) }}
  periodSeconds: 5
  timeoutSeconds: 5
  failureThreshold: 2
{{- end }}
