{{/*
The files of a pod: `volumes` and `volumeMounts`, both from one list of {name, path, source, readOnly}. Of {root, component, service}.
Secrets are mounted as files: they are renewed in place, and do not show in the environment of child processes.
*/}}
{{- define "kernelvault.files" -}}
{{- $values := .root.Values }}
- {name: tmp, path: /tmp, source: {emptyDir: {sizeLimit: {{ .service.tmpSize }}}}}
{{- if .service.cache }}
- name: cache
  path: /var/cache/kernelvault
  source:
    {{- if .service.cacheClaim }}
    persistentVolumeClaim: {claimName: {{ .service.cacheClaim }}}
    {{- else }}
    emptyDir: {sizeLimit: {{ .service.cacheSize }}}
    {{- end }}
{{- end }}
{{- if and $values.access.tls.enabled (ne .component "backup") }}
- {name: tls, path: /etc/kernelvault/tls, readOnly: true, source: {secret: {secretName: {{ include "kernelvault.tlsSecret" . }}}}}
{{- end }}
{{- with $values.access.clientToken }}
{{- if and .existingSecret (ne $.component "backup") }}
- {name: token, path: /etc/kernelvault/token, readOnly: true, source: {secret: {secretName: {{ .existingSecret }}}}}
{{- end }}
{{- end }}
{{- if and $values.access.tokens.existingSecret (hasKey .service "port") }}
- {name: tokens, path: /etc/kernelvault/tokens, readOnly: true, source: {secret: {secretName: {{ $values.access.tokens.existingSecret }}}}}
{{- end }}
{{- if has .component (list "corpus" "backup") }}
- name: s3
  path: /etc/kernelvault/s3
  readOnly: true
  source:
    secret:
      secretName: {{ $values.s3.existingSecret }}
      items: [{key: {{ $values.s3.accessKeyKey }}, path: access-key}, {key: {{ $values.s3.secretKeyKey }}, path: secret-key}]
{{- end }}
{{- if and (eq .component "backup") $values.backup.existingSecret }}
- name: backup
  path: /etc/kernelvault/backup
  readOnly: true
  source:
    secret:
      secretName: {{ $values.backup.existingSecret }}
      items: [{key: {{ $values.backup.accessKeyKey }}, path: access-key}, {key: {{ $values.backup.secretKeyKey }}, path: secret-key}]
{{- end }}
{{- if eq .component "compiler" }}
- {name: case-secret, path: /etc/kernelvault/case-secret, readOnly: true, source: {secret: {secretName: {{ $values.caseSecret.existingSecret }}}}}
{{- end }}
{{- if and (eq .component "generator") $values.openai.existingSecret }}
- {name: openai, path: /etc/kernelvault/openai, readOnly: true, source: {secret: {secretName: {{ $values.openai.existingSecret }}}}}
{{- end }}
{{- end }}

{{/* Of {files, extra}. */}}
{{- define "kernelvault.volumes" -}}
{{- range .files }}
- name: {{ .name }}
  {{- toYaml .source | nindent 2 }}
{{- end }}
{{- with .extra }}
{{ toYaml . }}
{{- end }}
{{- end }}
{{- define "kernelvault.mounts" -}}
{{- range .files }}
- name: {{ .name }}
  mountPath: {{ .path }}
  {{- if .readOnly }}
  readOnly: true
  {{- end }}
{{- end }}
{{- with .extra }}
{{ toYaml . }}
{{- end }}
{{- end }}

{{- define "kernelvault.tlsSecret" -}}
{{- if .root.Values.access.tls.certManager.enabled -}}
{{ include "kernelvault.fullname" .root }}-{{ .component }}-tls
{{- else -}}
{{ .root.Values.access.tls.existingSecret }}
{{- end -}}
{{- end }}
