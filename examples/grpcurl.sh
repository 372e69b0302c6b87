#!/usr/bin/env bash
# Verifies examples/add.hip from the shell: what a caller in any language sends. usage: examples/grpcurl.sh
#   COMPILER, CORPUS                    addresses; those of `kernelvault up` unless given
#   KERNELVAULT_TLS_CA_FILE             who vouches for the servers; unset: plain text
#   KERNELVAULT_TOKEN                   a bearer token
set -euo pipefail
cd "$(dirname "$0")"
compiler=${COMPILER:-127.0.0.1:50052} corpus=${CORPUS:-127.0.0.1:50054}

call() { # ADDRESS METHOD < request: the response, as JSON
    local options=(-plaintext)
    [ -z "${KERNELVAULT_TLS_CA_FILE:-}" ] || options=(-cacert "$KERNELVAULT_TLS_CA_FILE")
    # grpcurl puts the variable's value in itself, so that no list of processes shows it.
    [ -z "${KERNELVAULT_TOKEN:-}" ] || options+=(-expand-headers -H 'authorization: Bearer ${KERNELVAULT_TOKEN}')
    grpcurl "${options[@]}" -max-time 300 -allow-unknown-fields -d @ "$1" "kernelvault.v1.$2"
}

artifact() { # PATH: a file as kernelvault.v1.Artifact
    printf '{"path": "%s", "contents": "%s"}' "$1" "$(base64 -w0 "$1")"
}

# The response's `task` is the next request's; -allow-unknown-fields passes over its `notes`.
prepared=$(call "$compiler" Compiler/PrepareTask <<<'{"task": {"title": "add", "reference": '"$(artifact add.py)"'}}')
stored=$(call "$corpus" Corpus/CreateTask <<<"$prepared")
task=$(sed -nE 's/^ *"name": "(tasks\/[^"]+)".*/\1/p' <<<"$stored" | head -n 1)

call "$compiler" Compiler/VerifyCandidate <<EOF2
{"action": {"language": "HIP", "format": "HIP_ABI", "task": "$task", "targets": ["gfx942"],
            "sources": [$(artifact add.hip)]}}
EOF2
