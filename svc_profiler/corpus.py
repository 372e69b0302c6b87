"""The corpus as the profiler sees it: reports, tasks and earlier profiles."""

from __future__ import annotations

from typing import Any

from google.protobuf import duration_pb2

from kernelvault import client, errors
from kernelvault.v1 import artifact_pb2, compiler_pb2, corpus_pb2, kernel_pb2, profiler_pb2, storage_pb2

_TIMEOUT_S = 60.0


class Corpus:
    """Calls of the corpus; each raises errors.Unavailable where it is not there."""

    def __init__(self, actions: Any, corpus: Any) -> None:
        self._actions = actions
        self._corpus = corpus

    async def report(self, digest: artifact_pb2.Digest) -> compiler_pb2.VerificationReport:
        """The report of a verification; raises errors.NotFound."""
        request = storage_pb2.GetActionResultRequest(action_digest=digest)
        try:
            result = await client.call(self._actions.GetActionResult, request, timeout_s=_TIMEOUT_S)
        except errors.NotFound as error:
            raise _no_report(digest) from error
        if not result.HasField("report"):
            raise _no_report(digest)
        report: compiler_pb2.VerificationReport = result.report
        return report

    async def task(self, name: str) -> kernel_pb2.Task:
        """A task by name; raises errors.NotFound."""
        request = corpus_pb2.GetTaskRequest(name=name)
        task: kernel_pb2.Task = await client.call(self._corpus.GetTask, request, timeout_s=_TIMEOUT_S)
        return task

    async def profile(
        self, key: artifact_pb2.Digest, max_age: duration_pb2.Duration | None
    ) -> profiler_pb2.Profile | None:
        """An earlier profile that is young enough; None where there is none."""
        request = storage_pb2.GetActionResultRequest(action_digest=key, max_age=max_age)
        try:
            result = await client.call(self._actions.GetActionResult, request, timeout_s=_TIMEOUT_S)
        except errors.NotFound:
            return None
        return result.profile if result.HasField("profile") else None

    async def keep(self, key: artifact_pb2.Digest, profile: profiler_pb2.Profile) -> None:
        """Stores a profile; returns once it is durable."""
        result = storage_pb2.ActionResult(action_digest=key, profile=profile)
        request = storage_pb2.UpdateActionResultRequest(action_result=result)
        await client.call(self._actions.UpdateActionResult, request, timeout_s=_TIMEOUT_S)


def _no_report(digest: artifact_pb2.Digest) -> errors.NotFound:
    return errors.NotFound(
        "REPORT_UNKNOWN", f"there is no report of action {digest.hash}: verify the candidate first", action=digest.hash
    )
