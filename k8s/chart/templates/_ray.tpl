{{/* Labels by which Kueue queues a workload: all its pods are admitted together. Of {queue, priorityClass}. */}}
{{- define "kernelvault.kueueLabels" -}}
{{- with .queue }}
kueue.x-k8s.io/queue-name: {{ . }}
{{- end }}
{{- with .priorityClass }}
kueue.x-k8s.io/priority-class: {{ . }}
{{- end }}
{{- end }}

{{- define "kernelvault.rayCluster" -}}
{{- $ray := .Values.ray }}
rayVersion: {{ $ray.version | quote }}
headGroupSpec:
  # The head schedules; it runs no training work.
  rayStartParams: {num-cpus: "0", num-gpus: "0", dashboard-host: {{ .Values.ipv6 | ternary "::" "0.0.0.0" | quote }}}
  template: {{- include "kernelvault.rayPod" (dict "root" . "name" "ray-head" "group" (merge (dict "gpu" (dict "count" 0 "supplementalGroups" list)) $ray.head)) | trim | nindent 4 }}
workerGroupSpecs:
  {{- range $name, $group := $ray.workers }}
  - groupName: {{ $name }}
    replicas: {{ $group.replicas }}
    minReplicas: {{ $group.replicas }}
    maxReplicas: {{ $group.replicas }}
    rayStartParams: {num-gpus: {{ $group.gpu.count | toString | quote }}}
    template: {{- include "kernelvault.rayPod" (dict "root" $ "name" "ray-worker" "group" $group) | trim | nindent 6 }}
  {{- end }}
{{- end }}

{{/* A pod of the Ray cluster. Ray writes below /tmp, and RCCL shares memory in /dev/shm. Of {root, name, group}. */}}
{{- define "kernelvault.rayPod" -}}
{{- $of := dict "root" .root "component" "ray" "service" (dict "cache" true "cacheSize" .root.Values.ray.cacheSize "tmpSize" .root.Values.ray.tmpSize) }}
{{- $files := include "kernelvault.files" $of | fromYamlArray }}
{{- $map := mustMergeOverwrite (include "kernelvault.env.caller" .root | fromYaml) (include "kernelvault.env.addresses" $of | fromYaml) }}
metadata:
  labels: {{- include "kernelvault.labels" $of | nindent 4 }}
spec:
  {{- include "kernelvault.podBasics" (merge (dict "groups" .group.gpu.supplementalGroups) $of) | nindent 2 }}
  {{- with include "kernelvault.scheduling" .group | trim }}{{ . | nindent 2 }}{{ end }}
  containers:
    - name: {{ .name }}
      image: {{ include "kernelvault.image" (dict "root" .root "component" "trainer" "image" .root.Values.ray.image) }}
      imagePullPolicy: {{ .root.Values.image.pullPolicy }}
      {{- if eq .name "ray-head" }}
      ports:
        - {name: gcs-server, containerPort: 6379}
        - {name: dashboard, containerPort: 8265}
        - {name: client, containerPort: 10001}
        - {name: metrics, containerPort: 8080}
      {{- end }}
      env: {{- include "kernelvault.env" (dict "map" $map "extra" .root.Values.ray.extraEnv) | nindent 8 }}
      securityContext: {{- include "kernelvault.containerSecurity" . | nindent 8 }}
      resources: {{- include "kernelvault.resources" .group | nindent 8 }}
      volumeMounts:
        {{- include "kernelvault.mounts" (dict "files" $files) | trim | nindent 8 }}
        - {name: shm, mountPath: /dev/shm}
  volumes:
    {{- include "kernelvault.volumes" (dict "files" $files) | trim | nindent 4 }}
    - name: shm
      emptyDir: {medium: Memory, sizeLimit: {{ .root.Values.ray.shmSize }}}
{{- end }}
