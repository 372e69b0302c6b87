{{/* All objects of one service. Of {root, component, service}. */}}
{{- define "kernelvault.service" -}}
{{- $fullname := include "kernelvault.fullname" .root }}
{{- $selector := include "kernelvault.selector" . }}
{{- $meta := include "kernelvault.metadata" (merge (dict "suffix" .component) .) }}
{{- $files := include "kernelvault.files" . | fromYamlArray }}
{{- $port := include "kernelvault.portName" . }}
{{- $gpus := gt (int .service.gpu.count) 0 }}
apiVersion: v1
kind: ServiceAccount
metadata: {{- $meta | nindent 2 }}
automountServiceAccountToken: false
---
{{- if eq $port "grpc" }}
# Headless: the name resolves to every ready pod, and clients spread their calls over all of them.
{{- end }}
apiVersion: v1
kind: Service
metadata: {{- $meta | nindent 2 }}
spec:
  {{- if eq $port "grpc" }}
  clusterIP: None
  {{- end }}
  selector: {{- $selector | nindent 4 }}
  ports:
    - {name: {{ $port }}, port: {{ .service.port }}, targetPort: {{ $port }}, appProtocol: {{ $port }}}
    - {name: metrics, port: {{ include "kernelvault.metricsPort" . }}, targetPort: metrics, appProtocol: http}
---
apiVersion: apps/v1
kind: Deployment
metadata: {{- $meta | nindent 2 }}
spec:
  {{- if not .service.autoscaling.enabled }}
  replicas: {{ .service.replicas }}
  {{- end }}
  revisionHistoryLimit: 3
  minReadySeconds: 5
  strategy:
    # Where every GPU is taken a new pod can only start when an old one is gone.
    rollingUpdate: {{ $gpus | ternary "{maxSurge: 0, maxUnavailable: 1}" "{maxSurge: 1, maxUnavailable: 0}" }}
  selector:
    matchLabels: {{- $selector | nindent 6 }}
  template:
    metadata:
      labels:
        {{- include "kernelvault.labels" . | nindent 8 }}
        {{- with .service.podLabels }}
        {{- toYaml . | nindent 8 }}
        {{- end }}
      {{- with .service.podAnnotations }}
      annotations: {{- toYaml . | nindent 8 }}
      {{- end }}
    spec:
      {{- include "kernelvault.podBasics" (dict "root" .root "component" .component "groups" .service.gpu.supplementalGroups) | nindent 6 }}
      # The time in which DNS forgets the pod, then that in which its calls end, then some to stop in.
      terminationGracePeriodSeconds: {{ add .service.preStopSeconds .service.drainSeconds 15 }}
      {{- include "kernelvault.spread" . | trim | nindent 6 }}
      {{- with include "kernelvault.scheduling" (include "kernelvault.placement" . | fromYaml) | trim }}{{ . | nindent 6 }}{{ end }}
      containers:
        - name: server
          image: {{ include "kernelvault.image" (dict "root" .root "component" .component "image" .service.image) }}
          imagePullPolicy: {{ .root.Values.image.pullPolicy }}
          ports:
            - {name: {{ $port }}, containerPort: {{ .service.port }}}
            - {name: metrics, containerPort: {{ include "kernelvault.metricsPort" . }}}
          env: {{- include "kernelvault.env.of" . | nindent 12 }}
          securityContext: {{- include "kernelvault.containerSecurity" . | nindent 12 }}
          {{- include "kernelvault.probes" . | trim | nindent 10 }}
          lifecycle:
            preStop: {sleep: {seconds: {{ .service.preStopSeconds }}}}
          resources: {{- include "kernelvault.resources" .service | nindent 12 }}
          volumeMounts: {{- include "kernelvault.mounts" (dict "files" $files "extra" .service.extraVolumeMounts) | trim | nindent 12 }}
        {{- if and (eq .component "generator") (eq .root.Values.vllm.mode "sidecar") }}
        {{- include "kernelvault.vllmContainer" .root | trim | nindent 8 }}
        {{- end }}
      volumes:
        {{- include "kernelvault.volumes" (dict "files" $files "extra" .service.extraVolumes) | trim | nindent 8 }}
        {{- if and (eq .component "generator") (eq .root.Values.vllm.mode "sidecar") }}
        {{- include "kernelvault.vllmVolumes" .root | trim | nindent 8 }}
        {{- end }}
---
apiVersion: policy/v1
kind: PodDisruptionBudget
metadata: {{- $meta | nindent 2 }}
spec:
  maxUnavailable: {{ .service.maxUnavailable }}
  unhealthyPodEvictionPolicy: AlwaysAllow
  selector:
    matchLabels: {{- $selector | nindent 6 }}
{{- if .service.autoscaling.enabled }}
---
{{- include "kernelvault.autoscaler" (merge (dict "meta" $meta "target" (printf "%s-%s" $fullname .component)) .) }}
{{- end }}
{{- end }}

{{/* A service's placement; vLLM in the generator's pod brings its own needs. */}}
{{- define "kernelvault.placement" -}}
{{- if and (eq .component "generator") (eq .root.Values.vllm.mode "sidecar") }}
{{- toYaml (mustMergeOverwrite (deepCopy .service) (dict "gpu" .root.Values.vllm.gpu)) }}
{{- else }}
{{- toYaml .service }}
{{- end }}
{{- end }}
