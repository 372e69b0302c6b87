{{/* A container that runs the `kernelvault` command, but for `command`, `env` and `volumeMounts`. Of {root, name, resources}. */}}
{{- define "kernelvault.commandContainer" -}}
name: {{ .name }}
image: {{ include "kernelvault.image" (dict "root" .root "component" "orchestrator" "image" .root.Values.campaign.image) }}
imagePullPolicy: {{ .root.Values.image.pullPolicy }}
securityContext: {{- include "kernelvault.containerSecurity" . | nindent 2 }}
resources: {{- toYaml .resources | nindent 2 }}
{{- end }}

{{/* Of {root, extra}. */}}
{{- define "kernelvault.commandEnv" -}}
{{- $map := mustMergeOverwrite (dict "STATE" "/var/lib/kernelvault") (include "kernelvault.env.caller" .root | fromYaml) (include "kernelvault.env.addresses" (dict "root" .root "component" "orchestrator") | fromYaml) }}
{{- include "kernelvault.env" (dict "map" $map "extra" .extra) }}
{{- end }}

{{- define "kernelvault.commandFiles" -}}
{{- include "kernelvault.files" (dict "root" . "component" "orchestrator" "service" (dict "tmpSize" "1Gi")) }}
{{- end }}
