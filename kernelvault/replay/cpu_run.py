"""One sandboxed process of the CPU model: the files that go in and come out."""

from __future__ import annotations

import dataclasses
import functools
import json
import mmap
import os
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from kernelvault.replay import bundle, cpu_report, pattern
from kernelvault.sandbox import Job, Limits, Outcome, Sandbox, memory
from kernelvault.v1 import plan_pb2

# Interpreter, image, fiber stacks, shadow of LDS.
_BASE_BYTES = 1 << 30
# Guards around a buffer, at most; an access is shadowed by four times its size.
_GUARD_BYTES = 8 << 20
_SHADOW_FACTOR = 5


@dataclasses.dataclass(frozen=True, kw_only=True)
class Kind:
    """A model's process: its entry, and how large its report is."""

    entry: str
    report_bytes: int


_KIND = Kind(entry="kernelvault.replay.cpu_child:run", report_bytes=cpu_report.REPORT_BYTES)


class Run:
    """The files of one replay; `runs` are its repetitions as (poison, backwards), see replaying.py.

    `options` are more of what the process is told.
    """

    def __init__(
        self,
        plan: plan_pb2.LaunchPlan,
        image: Path,
        inputs: Path,
        sample_blocks: int,
        runs: Sequence[tuple[int, bool]],
        *,
        kind: Kind = _KIND,
        options: Mapping[str, Any] | None = None,
    ) -> None:
        self.plan, self.image = plan, image
        self.sample_blocks, self._runs = sample_blocks, runs
        self._kind, self._options = kind, options or {}
        self._descriptors: dict[str, int] = {}
        self._patterns: dict[str, int] = {}
        try:
            self._open(inputs)
        except BaseException:
            self.close()
            raise

    def _open(self, inputs: Path) -> None:
        self._descriptors["inputs"] = os.open(inputs, os.O_RDONLY | os.O_CLOEXEC)
        self._descriptors["report"] = memory.output(self._kind.report_bytes)
        size = os.fstat(self._descriptors["inputs"]).st_size
        with mmap.mmap(self._descriptors["inputs"], size, prot=mmap.PROT_READ) as data:
            items = bundle.read(memoryview(data))
            after = bundle.size_bytes(items)
            left_out = pattern.stand_ins(items)
            items.clear()
        self._memory = _memory_bytes(self.plan, size, len(self._runs))
        if self.sample_blocks:
            self._patterns = {dtype: _pattern(dtype) for dtype in left_out}
            return
        results = _size_of_results(self.plan)
        for number in range(len(self._runs)):
            self._descriptors[f"outputs{number}"] = memory.output(results)
        self._descriptors["inputs_after"] = memory.output(after)

    async def start(self, sandbox: Sandbox, timeout_s: float) -> Outcome:
        """Runs the process to its end."""
        options = {
            "image": str(self.image.absolute()),
            "sample_blocks": self.sample_blocks,
            "runs": self._runs,
            **self._options,
        }
        with tempfile.TemporaryDirectory(prefix="replay-") as folder:
            job = Job(
                folder=Path(folder),
                entry=self._kind.entry,
                payload=json.dumps(options).encode() + b"\0" + self.plan.SerializeToString(),
                readable=(self.image.absolute(),),
                descriptors={**self._descriptors, **self._patterns},
                limits=Limits(wall_seconds=2 * timeout_s, cpu_seconds=timeout_s, memory_bytes=self._memory),
            )
            return await sandbox.run(job)

    def report(self) -> memoryview:
        """What the process wrote of itself; it must be gone."""
        return memory.collect(self._descriptors["report"])

    def outputs(self) -> list[memoryview]:
        """The outputs' bundles; no process may write them any more."""
        return [memory.collect(self._descriptors[f"outputs{number}"]) for number in range(len(self._runs))]

    def take_outputs(self) -> tuple[list[int], int]:
        """The descriptors of the outputs and of the inputs afterwards, which are then the caller's."""
        outputs = [self._descriptors.pop(f"outputs{number}") for number in range(len(self._runs))]
        return outputs, self._descriptors.pop("inputs_after")

    def close(self) -> None:
        """Closes what was not taken."""
        for descriptor in self._descriptors.values():
            os.close(descriptor)
        self._descriptors.clear()


@functools.cache
def _pattern(dtype: str) -> int:
    """A memory file of the pattern, open until the process ends."""
    return memory.sealed(pattern.data(dtype))


def _memory_bytes(plan: plan_pb2.LaunchPlan, inputs: int, repetitions: int) -> int:
    buffers = sum(buffer.size_bytes + _GUARD_BYTES for buffer in plan.buffers)
    return _BASE_BYTES + _SHADOW_FACTOR * buffers + 2 * inputs + (1 + repetitions) * _size_of_results(plan)


def _size_of_results(plan: plan_pb2.LaunchPlan) -> int:
    """The size of the bundle that the child will write."""
    items = []
    for i, result in enumerate(plan.results):
        view = bundle.contiguous_view(result.view.dtype, result.view.dims)
        size = bundle.element_count(view.dims) * bundle.element_bytes(view.dtype)
        # Never touched: only its size counts.
        storage = memoryview(mmap.mmap(-1, size)) if size else memoryview(b"")
        items.append(bundle.Item(f"output{i}", view, storage))
    return bundle.size_bytes(items)
