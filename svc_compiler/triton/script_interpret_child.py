"""Runs a script with its kernels interpreted on the tensors' own memory. In a sandboxed child, forked warm."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, cast

from kernelvault.replay.triton import hooks
from kernelvault.v1 import compiler_pb2
from svc_compiler.triton import fake_driver, script_device, script_host
from svc_compiler.triton.functions import Functions
from svc_compiler.triton.script_reply import FINDINGS, LAUNCHES


class Told(hooks.Checked):
    """Leaves what is known so far for the parent: a script may never come to its end."""

    def __setattr__(self, name: str, value: Any) -> None:
        super().__setattr__(name, value)
        if name == "launches":
            Path(LAUNCHES).write_text(str(value))
        elif name == "findings" and value:
            Path(FINDINGS).write_bytes(compiler_pb2.ScriptReport(findings=value).SerializeToString())


def main(payload: bytes, _descriptors: dict[str, int]) -> None:
    """`payload`: JSON with `sources`, `main` and `budget_s`, which bounds the interpreter's work."""
    request = json.loads(payload)
    sources = Path(request["sources"])
    notes, report = script_device.Notes(), Told()
    fake_driver.install(fake_driver.Runtime(cast(Any, notes), Functions(sources)))
    with script_device.told(notes), hooks.checked(report, budget_s=request["budget_s"]):
        ended = script_host.run(sources, request["main"])
    if report.obstacles:
        ended = {"file": "", "line": 0, **ended, "kind": "device", "message": report.obstacles[0]}
    script_host.reply({"ended": ended, "launches": report.launches, "notes": notes.notes})
