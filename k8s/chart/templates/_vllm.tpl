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
  {{- end }}
  {{- $health := eq $vllm.mode "deployment" | ternary "httpGet: {path: /health, port: http}" (include "kernelvault.vllmLocalHealth" . | trim) }}
  # Loading a large model takes minutes.
  startupProbe:
    {{ $health }}
    periodSeconds: 10
    timeoutSeconds: 10
    failureThreshold: {{ div $vllm.startupSeconds 10 }}
  livenessProbe:
    {{ $health }}
    periodSeconds: 30
    timeoutSeconds: 10
    failureThreshold: 4
  readinessProbe:
    {{ $health }}
    periodSeconds: 10
    timeoutSeconds: 10
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

{{/* It listens on the loopback interface there, which the kubelet does not reach. */}}
{{- define "kernelvault.vllmLocalHealth" -}}
exec: {command: [python3, -c, "import urllib.request as r; r.urlopen('http://127.0.0.1:8000/health', timeout=8)"]}
{{- end }}
