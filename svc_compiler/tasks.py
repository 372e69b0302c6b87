"""References become tasks: described, or standardised into their functional form."""

from __future__ import annotations

from kernelvault import digest, errors
from kernelvault.admission import Admission
from kernelvault.replay import standardize
from kernelvault.replay.reference import References
from kernelvault.sandbox import Sandbox
from kernelvault.v1 import compiler_pb2, kernel_pb2

DEFAULT_CORRECTNESS_CASES = 10
MOST_CORRECTNESS_CASES = 64


class TaskPreparer:
    """Runs references in the sandbox, a few at once."""

    def __init__(self, references: References, sandbox: Sandbox, *, workers: int, queue_size: int) -> None:
        self._references = references
        self._sandbox = sandbox
        self._admission = Admission("references", workers=workers, queue_size=queue_size, seconds_each=1.0)

    async def prepare(self, task: kernel_pb2.Task, max_cases: int) -> compiler_pb2.PrepareTaskResponse:
        """The task with its cases; raises InvalidArgument or FailedPrecondition for an unfit reference."""
        if not 0 <= max_cases <= MOST_CORRECTNESS_CASES:
            raise errors.InvalidArgument(
                "max_correctness_cases", f"{max_cases} is outside 0 to {MOST_CORRECTNESS_CASES}"
            )
        async with self._admission.turn():
            cases, notes = await self._references.describe(task, max_cases=max_cases or DEFAULT_CORRECTNESS_CASES)
        prepared = kernel_pb2.Task()
        prepared.CopyFrom(task)
        del prepared.cases[:]
        prepared.cases.extend(cases)
        prepared.name = digest.task_name(prepared)
        return compiler_pb2.PrepareTaskResponse(task=prepared, notes=notes)

    async def standardize(self, task: kernel_pb2.Task) -> compiler_pb2.StandardizeTaskResponse:
        """A checked functional form; raises FailedPrecondition where there is none."""
        async with self._admission.turn():
            functional = await standardize.standardize(self._references, self._sandbox, task)
        return compiler_pb2.StandardizeTaskResponse(functional=functional)
