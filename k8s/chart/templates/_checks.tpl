{{/* What the schema cannot say: refused with the remedy. */}}
{{- define "kernelvault.checks" -}}
{{- $tls := .Values.access.tls }}
{{- if not (or $tls.enabled .Values.access.allowPlaintext) }}
{{- fail "access: the services would speak plain text over the network; set access.tls.enabled=true, or access.allowPlaintext=true where a service mesh encrypts" }}
{{- end }}
{{- if not (or .Values.access.tokens.existingSecret .Values.access.allowAnonymous (and $tls.enabled $tls.mutual)) }}
{{- fail "access: anybody could call the services; set access.tokens.existingSecret, access.tls.mutual=true, or access.allowAnonymous=true" }}
{{- end }}
{{- if and $tls.enabled (not $tls.existingSecret) (not $tls.certManager.enabled) }}
{{- fail "access.tls: name a Secret with tls.crt, tls.key and ca.crt in access.tls.existingSecret, or set access.tls.certManager.enabled=true" }}
{{- end }}
{{- if and $tls.certManager.enabled (not $tls.certManager.issuerRef.name) }}
{{- fail "access.tls.certManager.issuerRef.name: name an Issuer of a private CA: mutual TLS trusts whomever it certifies" }}
{{- end }}
{{- if and (dig "enabled" .Values.defaults.enabled .Values.services.corpus) (not (include "kernelvault.s3Endpoint" .)) }}
{{- fail "s3.endpoint: give host:port of an S3 service, or set seaweedfs.enabled=true" }}
{{- end }}
{{- if and .Values.backup.enabled (not .Values.backup.endpoint) (not .Values.backup.bucket) (eq .Values.backup.prefix .Values.s3.prefix) }}
{{- fail "backup: the copy would go to the corpus itself; set backup.bucket, backup.prefix or backup.endpoint" }}
{{- end }}
{{- if and .Values.openai.endpoint (ne .Values.vllm.mode "none") }}
{{- fail "openai.endpoint and vllm.mode: the generator has one model endpoint; set one of them" }}
{{- end }}
{{- if ne (empty .Values.openai.endpoint) (empty .Values.openai.models) }}
{{- fail "openai: set both openai.endpoint and openai.models, or neither" }}
{{- end }}
{{- end }}
