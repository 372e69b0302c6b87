"""A module's functional form: `module_fn` and `Model.forward(..., fn=module_fn)`, made by torch.fx and checked."""

from __future__ import annotations

from kernelvault import digest, errors
from kernelvault.replay import reference_job
from kernelvault.replay.reference import References
from kernelvault.replay.reference_job import Runner
from kernelvault.v1 import artifact_pb2, kernel_pb2

NAME = "functional.py"


async def standardize(references: References, sandbox: Runner, task: kernel_pb2.Task) -> artifact_pb2.Artifact:
    """The functional form of a task with its cases; a given `task.functional` is checked and returned.

    The form is the reference's file with a function `module_fn` that gets what a candidate gets (inputs, parameters and
    buffers, numbers), and `Model.forward` calling it through `fn`. It is checked on every correctness case: the default
    call and an injected function match the module, and the output is the injected function's.

    Raises InvalidArgument for a malformed module, FailedPrecondition: `NOT_TRACEABLE` with the operator or line,
    `NOT_EQUIVALENT` with the case and the difference, `REFERENCE_UNFIT` where the module fails.
    """
    if not task.cases:
        raise errors.InvalidArgument("task.cases", "is empty; prepare the task first")
    request = references.request(task, "standardize")
    request["cases"] = [case.SerializeToString().hex() for case in task.cases]
    if task.HasField("functional"):
        request["functional"] = reference_job.source(task.functional, "functional")
    with references.job_folder() as folder:
        outcome = await reference_job.run(sandbox, folder, request, references.limits)
        found = reference_job.fault(folder / "fault.json")
        if found is not None:
            raise reference_job.error_of(*found)
        made = reference_job.read_child_file(folder / NAME, digest.INLINE_LIMIT_BYTES)
    if not made:
        raise reference_job.error_of("unfit", reference_job.ending(outcome, references.limits))
    return task.functional if task.HasField("functional") else digest.artifact(NAME, made)
