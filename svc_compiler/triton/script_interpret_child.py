"""Runs a script with its kernels interpreted on the tensors' own memory. In a sandboxed child, forked warm."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, cast

from kernelvault.replay.triton.interpreter import faults
from kernelvault.v1 import compiler_pb2
from svc_compiler.triton import fake_driver, launches, script_device, script_host, script_memory
from svc_compiler.triton.functions import Functions
from svc_compiler.triton.recording import NotCompilable, Unplannable
from svc_compiler.triton.script_reply import FINDINGS, LAUNCHES

# What the interpreter lacks ends the script: it is nobody's fault that a test could catch.
_LACKS = (NotImplementedError, faults.TooMuchWork)


class NeedsDevice(BaseException):
    """The interpreter cannot run a kernel; the message says why."""


class Interpretation(fake_driver.Runtime):
    """Runs each launch as it comes."""

    def __init__(self, notes: script_device.Notes, functions: Functions, memory: script_memory.ScriptMemory) -> None:
        super().__init__(cast(Any, notes), functions)
        self._notes = notes
        self._memory = memory
        self.count = 0

    def launch(self, kernel: fake_driver.Kernel, grid: Sequence[Any], values: Mapping[str, Any]) -> None:
        """See Runtime. Raises NeedsDevice, and what a kernel's own assertion raises."""
        size = launches.extent(grid)
        if size is None or self._notes.apart:
            return
        self.count += 1
        Path(LAUNCHES).write_text(str(self.count))
        variant = self.functions.program.variants[kernel.variant]
        known = len(self._memory.findings)
        try:
            self._memory.launch(kernel.function, variant, values, (size.x, size.y, size.z))
        except faults.AssertionFailed:
            raise
        except Exception as error:
            file, line = faults.line_of_error(error.__traceback__)
            where = f"{Path(file).name}:{line}: " if file else ""
            why = str(error) if isinstance(error, _LACKS) else f"{type(error).__name__}: {error}"
            raise NeedsDevice(f"{where}the interpreter cannot run `{kernel.function.fn.__name__}`: {why}") from error
        if len(self._memory.findings) > known:
            report = compiler_pb2.ScriptReport(findings=self._memory.findings)
            Path(FINDINGS).write_bytes(report.SerializeToString())

    def bench(self, call: Callable[[], Any], quantiles: Sequence[float] | None = None, **_: Any) -> Any:
        """See Runtime: the first configuration is chosen, and none is tried."""
        self._tried += 1
        if self._trials is None:
            with self._notes.aside():
                call()
        time = float(self._tried)
        return [time] * len(quantiles) if quantiles else time


def main(payload: bytes, _descriptors: dict[str, int]) -> None:
    """`payload`: JSON with `sources` and `main`."""
    request = json.loads(payload)
    sources = Path(request["sources"])
    notes, functions = script_device.Notes(), Functions(sources)
    memory = script_memory.ScriptMemory(sources)
    runtime = Interpretation(notes, functions, memory)
    fake_driver.install(runtime)
    with script_device.told(notes, memory.address_of):
        try:
            ended = script_host.run(sources, request["main"])
        except (Unplannable, NotCompilable, NeedsDevice) as error:
            file, line = script_host.place(error, sources)
            kind = "kernel" if isinstance(error, NotCompilable) else "device"
            ended = {"kind": kind, "message": str(error), "file": file, "line": line}
    script_host.reply({"ended": ended, "launches": runtime.count, "notes": notes.notes})
