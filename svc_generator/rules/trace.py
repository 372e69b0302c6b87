"""Traces a task in the sandbox and reads what comes back, trusting none of it."""

from __future__ import annotations

import json
import tempfile
from pathlib import Path

from kernelvault import errors
from kernelvault.replay import reference_job
from kernelvault.sandbox import Job, Limits, Sandbox
from kernelvault.v1 import kernel_pb2
from svc_generator.rules import graph
from svc_generator.rules.graph import Graph

ENTRY = "svc_generator.rules.trace_child:main"
_RESULT = "trace.json"
_LIMITS = Limits(wall_seconds=120, cpu_seconds=120)


async def trace(sandbox: Sandbox, scratch: Path, task: kernel_pb2.Task) -> Graph:
    """The graph of all the task's cases in one.

    Raises FailedPrecondition (`NOT_LOWERABLE`) where the module cannot be traced, InvalidArgument for a task without
    cases.
    """
    if not task.cases:
        raise errors.InvalidArgument("task.cases", "is empty; send the task as PrepareTask returned it")
    different = {(case.arguments_json, tuple(sorted(case.shrunk.items()))): case for case in task.cases}
    cases = list(different.values())
    payload = {
        "source": reference_job.source(task.reference, "task.reference"),
        "cases": [{"arguments": case.arguments_json, "shrunk": dict(case.shrunk)} for case in cases],
    }
    with tempfile.TemporaryDirectory(dir=scratch, prefix="trace-") as name:
        folder = Path(name)
        job = Job(
            folder=folder,
            entry=ENTRY,
            payload=json.dumps(payload).encode(),
            environment=reference_job.ENVIRONMENT,
            limits=_LIMITS,
        )
        outcome = await sandbox.run(job)
        data = reference_job.read_child_file(folder / _RESULT, graph.MAX_BYTES)
    if data is None:
        raise not_lowerable("the module", f"failed to trace it: {outcome.describe()}")
    try:
        result = graph.read(data)
        _check(result, cases)
    except graph.NotLowerable as error:
        raise not_lowerable(error.operator, str(error)) from error
    except graph.Malformed as error:
        raise not_lowerable("the module", f"failed to trace it: {error}") from error
    return result


def _check(result: Graph, cases: list[kernel_pb2.Case]) -> None:
    """Raises Malformed where the traced inputs are not those of the cases' call signature."""
    if result.case_count != len(cases):
        raise graph.Malformed(f"{result.case_count} graphs for {len(cases)} cases")
    for position, case in enumerate(cases):
        expected = [tuple(p.tensor.dims) for p in case.parameters if p.HasField("tensor")]
        traced = [tuple(dim[position] for dim in result.nodes[number].dims) for number in result.inputs]
        if expected and expected != traced:
            raise graph.Malformed(f"case {case.id!r} has inputs of the sizes {expected}, the graph {traced}"[:500])


def not_lowerable(operator: str, message: str) -> errors.FailedPrecondition:
    """The error that names what stands in the way."""
    return errors.FailedPrecondition(
        "NOT_LOWERABLE", f"failed to lower the task by rules: {message}", operator=operator[:200]
    )
