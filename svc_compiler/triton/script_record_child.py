"""Runs a script and records what it launches: kernels do not run. In a sandboxed child, forked warm."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, cast

from svc_compiler.triton import fake_driver, launches, script_device, script_host
from svc_compiler.triton.script_functions import ScriptFunctions
from svc_compiler.triton.script_reply import PROGRAM


class Launches(fake_driver.Runtime):
    """Notes which variants are launched, and which of them are alternatives of each other."""

    def __init__(self, notes: script_device.Notes, functions: ScriptFunctions) -> None:
        super().__init__(cast(Any, notes), functions)
        self._notes = notes
        self.count = 0
        # Variants of which one is enough; in the order of the first launch.
        self.groups: dict[tuple[int, ...], None] = {}
        self._tried_variants: list[int] = []

    def launch(self, kernel: fake_driver.Kernel, grid: Sequence[Any], values: Mapping[str, Any]) -> None:
        """See Runtime."""
        if launches.extent(grid) is None:
            return
        if self._notes.apart:
            self._tried_variants.append(kernel.variant)
            return
        self.count += 1
        others = self._tried_variants if self._trials is not None else []
        self.groups[tuple(dict.fromkeys([kernel.variant, *others]))] = None
        if self._trials is not None:
            self._tried_variants = []

    def bench(self, call: Callable[[], Any], quantiles: Sequence[float] | None = None, **_: Any) -> Any:
        """See Runtime; only the first configurations are tried."""
        self._tried += 1
        time = 1.0
        if self._trials is not None and self._tried > fake_driver.MAX_CONFIGURATIONS:
            time = float("inf")
        else:
            with self._notes.aside():
                call()
        return [time] * len(quantiles) if quantiles else time


def main(payload: bytes, _descriptors: dict[str, int]) -> None:
    """`payload`: JSON with `sources`, `main` and `targets`."""
    request = json.loads(payload)
    sources = Path(request["sources"])
    notes, functions = script_device.Notes(), ScriptFunctions(sources, request["targets"])
    runtime = Launches(notes, functions)
    fake_driver.install(runtime)
    with script_device.told(notes):
        ended = script_host.run(sources, request["main"])
    Path(PROGRAM).write_bytes(functions.program.SerializeToString(deterministic=True))
    groups = [list(group) for group in runtime.groups]
    script_host.reply(
        {"ended": ended, "launches": runtime.count, "groups": groups, "own": functions.own, "notes": notes.notes}
    )
