{{/* The pods of a component as a peer. Of {root, component}. */}}
{{- define "kernelvault.peer" -}}
- podSelector:
    matchLabels: {{- include "kernelvault.selector" . | nindent 6 }}
{{- end }}

{{/* Egress rules to what a component calls. Of {root, component}. */}}
{{- define "kernelvault.callees" -}}
{{- $graph := include "kernelvault.graph" .root | fromYaml }}
{{- $services := include "kernelvault.services" .root | fromYaml }}
{{- range $callee := (get $graph .component).calls }}
{{- if hasKey $services $callee }}
- to:
    {{- include "kernelvault.peer" (dict "root" $.root "component" $callee) | nindent 4 }}
  ports: [{port: {{ include "kernelvault.portName" (dict "service" (get $services $callee)) }}}]
{{- end }}
{{- end }}
{{- end }}

{{/* Who may call a service: a list of peers. Of {root, component}. */}}
{{- define "kernelvault.callers" -}}
{{- $services := include "kernelvault.services" .root | fromYaml }}
{{- range $caller, $node := include "kernelvault.graph" .root | fromYaml }}
{{- if and (has $.component $node.calls) (or (hasKey $services $caller) (eq $caller "orchestrator") (and (eq $caller "ray") $.root.Values.ray.enabled)) }}
{{ include "kernelvault.peer" (dict "root" $.root "component" $caller) }}
{{- end }}
{{- end }}
{{- with .root.Values.networkPolicy.clients }}
{{ toYaml . }}
{{- end }}
{{- end }}

{{/* The port of an address such as https://host:port. */}}
{{- define "kernelvault.portOf" -}}
{{- $url := contains "://" . | ternary . (printf "http://%s" .) | urlParse }}
{{- $port := regexFind ":[0-9]+$" $url.host | trimPrefix ":" }}
{{- $port | default (eq $url.scheme "https" | ternary "443" "80") }}
{{- end }}

{{/* The way to S3. */}}
{{- define "kernelvault.s3Egress" }}
{{- if .Values.seaweedfs.enabled }}
- to:
    {{- include "kernelvault.peer" (dict "root" . "component" "seaweedfs") | nindent 4 }}
  ports: [{port: s3}]
{{- else }}
- to: {{- toYaml .Values.networkPolicy.s3 | nindent 4 }}
  ports: [{port: {{ include "kernelvault.portOf" (printf "https://%s" .Values.s3.endpoint) }}}]
{{- end }}
{{- end }}
