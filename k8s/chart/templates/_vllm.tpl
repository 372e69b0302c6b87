{{/* vLLM as a container: beside the generator, or in a Deployment of its own. */}}
{{- define "kernelvault.vllmContainer" -}}
{{- $vllm := .Values.vllm }}
- name: vllm
  image: {{ include "kernelvault.image" (dict "root" . "component" "vllm" "image" $vllm.image) }}
  imagePullPolicy: {{ .Values.image.pullPolicy }}
  args:
    - {{ printf "--model=%s" $vllm.model | quote }}
    - {{ printf "--served-model-name=%s" $vllm.servedModelName | quote }}
    - {{ eq $vllm.mode "sidecar" | ternary "127.0.0.1" (.Values.ipv6 | ternary "::" "0.0.0.0") | printf "--host=%s" | quote }}
    - --port=8000
    - --tensor-parallel-size={{ $vllm.gpu.count }}
    {{- range $vllm.extraArgs }}
    - {{ . | quote }}
    {{- end }}
  env:
    - {name: HOME, value: /tmp}
    - {name: HF_HOME, value: /var/cache/vllm/huggingface}
    - {name: VLLM_CACHE_ROOT, value: /var/cache/vllm/vllm}
    - {name: TRITON_CACHE_DIR, value: /var/cache/vllm/triton}
    - {name: VLLM_NO_USAGE_STATS, value: "1"}
    {{- if not $vllm.download }}
    - {name: HF_HUB_OFFLINE, value: "1"}
    {{- end }}
    {{- with $vllm.tokenSecret }}
    - name: HF_TOKEN
      valueFrom: {secretKeyRef: {name: {{ .name }}, key: {{ .key }}}}
    {{- end }}
    {{- with $vllm.extraEnv }}
    {{- toYaml . | nindent 4 }}
    {{- end }}
  {{- if eq $vllm.mode "deployment" }}
  ports: [{name: http, containerPort: 8000}]
  # Loading a large model takes minutes.
  startupProbe: {httpGet: {path: /health, port: http}, periodSeconds: 10, failureThreshold: {{ div $vllm.startupSeconds 10 }}}
  livenessProbe: {httpGet: {path: /health, port: http}, periodSeconds: 15, timeoutSeconds: 10, failureThreshold: 4}
  readinessProbe: {httpGet: {path: /health, port: http}, periodSeconds: 5, timeoutSeconds: 5}
  {{- end }}
  securityContext: {{- include "kernelvault.containerSecurity" . | nindent 4 }}
  resources: {{- include "kernelvault.resources" $vllm | nindent 4 }}
  volumeMounts:
    - {name: tmp, mountPath: /tmp}
    - {name: vllm-cache, mountPath: /var/cache/vllm}
    # What the processes of tensor parallelism share.
    - {name: shm, mountPath: /dev/shm}
    {{- if $vllm.modelClaim }}
    - {name: model, mountPath: /models, readOnly: true}
    {{- end }}
{{- end }}

{{- define "kernelvault.vllmVolumes" -}}
- name: vllm-cache
  emptyDir: {sizeLimit: {{ .Values.vllm.cacheSize }}}
- name: shm
  emptyDir: {medium: Memory, sizeLimit: {{ .Values.vllm.shmSize }}}
{{- with .Values.vllm.modelClaim }}
- name: model
  persistentVolumeClaim: {claimName: {{ . }}, readOnly: true}
{{- end }}
{{- end }}
