"""Compares a candidate's outputs with the reference, in a process of its own that runs no foreign code."""

from __future__ import annotations

import contextlib
import json
import os
import tempfile
from collections.abc import Sequence
from pathlib import Path

from kernelvault import errors
from kernelvault.replay.reference import Evaluation, Runner
from kernelvault.sandbox import Job, Limits
from kernelvault.v1 import compiler_pb2, kernel_pb2

_ENTRY = "kernelvault.replay.compare_child:main"
_MAX_RESULT_BYTES = 1 << 20


async def compare(
    sandbox: Runner,
    evaluation: Evaluation,
    case: kernel_pb2.Case,
    candidate_outputs: Sequence[int],
    inputs_after: int | None,
) -> compiler_pb2.CaseResult:
    """The result of one case.

    `candidate_outputs` are descriptors of bundles with the outputs in order, one for each repetition; `inputs_after` is
    that of a bundle with the call's tensors as the candidate left them, in the order of `evaluation.inputs`. Outputs
    that differ between repetitions fail only beyond the tolerance; within it, a passed result's explanation says so.

    Raises errors.Internal where the comparison itself fails.
    """
    with contextlib.ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="kernelvault-compare-")))
        descriptors = {f"output_{index}": number for index, number in enumerate(candidate_outputs)}
        for name in ("inputs", "working", "exact"):
            descriptors[name] = os.open(getattr(evaluation, name), os.O_RDONLY | os.O_CLOEXEC)
            stack.callback(os.close, descriptors[name])
        if inputs_after is not None:
            descriptors["inputs_after"] = inputs_after
        stated = [evaluation.tolerance.absolute, evaluation.tolerance.relative]
        payload = json.dumps({"case": case.SerializeToString().hex(), "stated": stated}).encode()
        limits = Limits(wall_seconds=120, cpu_seconds=120, memory_bytes=8 << 30, file_bytes=_MAX_RESULT_BYTES)
        job = Job(folder=folder, entry=_ENTRY, payload=payload, descriptors=descriptors, limits=limits)
        outcome = await sandbox.run(job)
        if outcome.exit_code != 0:
            raise errors.Internal("COMPARE_FAILED", f"failed to compare case {case.id!r}: {outcome.describe()}")
        return _read_result(folder / "result.pb")


def _read_result(path: Path) -> compiler_pb2.CaseResult:
    descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW)
    with open(descriptor, "rb") as file:
        return compiler_pb2.CaseResult.FromString(file.read(_MAX_RESULT_BYTES))
