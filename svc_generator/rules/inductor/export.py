"""Has a graph lowered to Triton in the sandbox and reads the module's text, trusting none of it."""

from __future__ import annotations

import asyncio
import json
import tempfile
from collections.abc import Sequence
from pathlib import Path

from kernelvault.replay import reference_job
from kernelvault.sandbox import Job, Limits, Sandbox
from kernelvault.v1 import kernel_pb2
from svc_generator.rules.graph import Graph, NotLowerable
from svc_generator.rules.inductor import request
from svc_generator.rules.inductor.variants import Variant

PRELOAD = ("torch", "svc_generator.rules.inductor.warm")
_ENTRY = "svc_generator.rules.inductor.child:main"
_RESULT = "module.json"
_MAX_BYTES = 4 << 20
_LIMITS = Limits(wall_seconds=400, cpu_seconds=200)
_ENVIRONMENT = {
    "TORCHINDUCTOR_CACHE_DIR": "inductor",
    "TRITON_CACHE_DIR": "triton",
    "OMP_NUM_THREADS": "1",
    "PYTHONDONTWRITEBYTECODE": "1",
}


class Exporter:
    """Has a sandbox of its own, for Inductor is told of a device that is not there; it starts with the first export."""

    def __init__(self, scratch: Path) -> None:
        """`scratch` holds a folder for each export while it runs."""
        self._scratch = scratch
        self._sandbox: asyncio.Task[Sandbox] | None = None

    async def export(self, graph: Graph, task: kernel_pb2.Task, variant: Variant) -> str:
        """The text of a Triton module for the task's cases; raises NotLowerable."""
        payload = {
            "graph": request.encode(graph),
            "groups": request.groups(graph),
            "variant": variant.name,
            "title": task.title,
            "sequence": task.cases[0].returns_sequence,
            **_parameters(graph, task.cases[0].parameters),
        }
        if self._sandbox is None:
            self._sandbox = asyncio.create_task(Sandbox.start(preload=PRELOAD))
        sandbox = await asyncio.shield(self._sandbox)
        with tempfile.TemporaryDirectory(dir=self._scratch, prefix="export-") as name:
            folder = Path(name)
            job = Job(
                folder=folder,
                entry=_ENTRY,
                payload=json.dumps(payload).encode(),
                environment=_ENVIRONMENT,
                limits=_LIMITS,
            )
            outcome = await sandbox.run(job)
            data = reference_job.read_child_file(folder / _RESULT, _MAX_BYTES)
        if data is None:
            raise NotLowerable("the graph", f"TorchInductor left no code: {outcome.describe()}")
        return _source(data)

    async def close(self) -> None:
        """Ends the sandbox where one was started."""
        if self._sandbox is not None:
            await (await self._sandbox).close()


def _parameters(graph: Graph, parameters: Sequence[kernel_pb2.Parameter]) -> dict[str, list[str]]:
    """The names of the call's tensors and scalars; made-up ones for a task whose cases do not list them."""
    if not parameters:
        tensors = [f"input{i}" for i in range(len(graph.inputs))]
        return {"tensors": tensors, "scalars": [f"scalar{i}" for i in range(len(graph.scalars))]}
    return {
        "tensors": [p.name for p in parameters if p.HasField("tensor")],
        "scalars": [p.name for p in parameters if not p.HasField("tensor")],
    }


def _source(data: bytes) -> str:
    try:
        result = json.loads(data)
        if "source" in result:
            return str(result["source"])
        operator, message = str(result["operator"])[:200], str(result["message"])[:2000]
    except (ValueError, KeyError, TypeError, RecursionError):
        raise NotLowerable("the graph", "TorchInductor left something that cannot be read") from None
    raise NotLowerable(operator, message.removeprefix(f"{operator}: "))
