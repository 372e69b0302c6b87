{{/* Replicas by the depth of the queue: what runs and what waits. Of {root, component, service, meta, target}. */}}
{{- define "kernelvault.autoscaler" }}
{{- $scaling := .service.autoscaling }}
{{- $behavior := dict "scaleDown" (dict "stabilizationWindowSeconds" (int $scaling.scaleDownSeconds) "policies" (list (dict "type" "Pods" "value" 1 "periodSeconds" 60))) }}
{{- if eq $scaling.kind "keda" }}
apiVersion: keda.sh/v1alpha1
kind: ScaledObject
metadata: {{- .meta | nindent 2 }}
spec:
  scaleTargetRef: {name: {{ .target }}}
  minReplicaCount: {{ $scaling.minReplicas }}
  maxReplicaCount: {{ $scaling.maxReplicas }}
  advanced:
    horizontalPodAutoscalerConfig:
      behavior: {{- toYaml $behavior | nindent 8 }}
  triggers:
    - type: prometheus
      metricType: AverageValue
      metadata:
        serverAddress: {{ required "services.*.autoscaling.prometheus: KEDA needs the address of Prometheus, as http://host:port" $scaling.prometheus }}
        query: sum(kernelvault_queue_depth{namespace="{{ .root.Release.Namespace }}",pod=~"{{ .target }}-.*",kind="{{ $scaling.queue }}"})
        threshold: {{ $scaling.depthPerReplica | quote }}
{{- else }}
apiVersion: autoscaling/v2
kind: HorizontalPodAutoscaler
metadata: {{- .meta | nindent 2 }}
spec:
  scaleTargetRef: {apiVersion: apps/v1, kind: Deployment, name: {{ .target }}}
  minReplicas: {{ $scaling.minReplicas }}
  maxReplicas: {{ $scaling.maxReplicas }}
  behavior: {{- toYaml $behavior | nindent 4 }}
  metrics:
    {{- $metric := dict "name" $scaling.metric "selector" (dict "matchLabels" (dict "kind" $scaling.queue)) }}
    {{- $target := dict "type" "AverageValue" "averageValue" ($scaling.depthPerReplica | toString) }}
    {{- if eq $scaling.kind "external" }}
    {{- $_ := set $metric.selector.matchLabels "component" .component }}
    - type: External
      external: {{- dict "metric" $metric "target" $target | toYaml | nindent 8 }}
    {{- else }}
    - type: Pods
      pods: {{- dict "metric" $metric "target" $target | toYaml | nindent 8 }}
    {{- end }}
{{- end }}
{{- end }}
