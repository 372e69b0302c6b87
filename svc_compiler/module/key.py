"""What tells extensions apart."""

from __future__ import annotations

import hashlib
import json

from svc_compiler.triton.capture_trace import Extension


def key_of(extension: Extension) -> str:
    """A digest of all that an extension is built of."""
    parts = [extension.sources, extension.functions, extension.defines]
    return hashlib.sha256(json.dumps(parts).encode()).hexdigest()
