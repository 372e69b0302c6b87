"""The process that runs a module's Python on tensors without memory, and its C++ on the recorder. Forked warm.

The payload is that of `svc_compiler.triton.capture_child`, with `given` (the candidate's files), `built` (keys of the
extensions that the library holds) and, where there is a library, `native`: what `svc_compiler.hip.record_child` is
told. The traces go to the descriptors `trace` and `native`.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from pathlib import Path
from typing import Any

from svc_compiler.module.extensions import Extensions
from svc_compiler.module.native import ModuleRecording, Native
from svc_compiler.triton import capture_child


def main(payload: bytes, descriptors: dict[str, int]) -> int:
    """Captures two calls of the candidate. How it ended stands in the traces."""
    return capture_child.run(payload, descriptors, _Capture)


class _Capture(capture_child.Capture):
    """A capture that knows extensions."""

    def __init__(self, sources: Path, request: dict[str, Any], answers: list[bytes], descriptors: dict[str, int]):
        super().__init__(sources, request, answers, descriptors)
        self.recording: ModuleRecording = ModuleRecording(sources, answers)
        if request["native"]:
            self.recording.native = Native(request["native"], descriptors["native"], descriptors["answers"])
        self._extensions = Extensions(self.recording, sources, request["given"], request["built"])

    def begin(self, leave: Callable[[], None]) -> None:
        self._extensions.install()
        if self.recording.native:
            self.recording.native.on_farewell(leave)

    def header(self) -> dict[str, Any]:
        native = self.recording.native
        if native and not self.recording.stopped:
            native.end()
        return {
            "addresses": [memory.address for memory in self.recording.buffers],
            "extensions": [dataclasses.asdict(one) for one in self._extensions.loaded.values()],
            "extension_calls": native.calls if native else 0,
        }
