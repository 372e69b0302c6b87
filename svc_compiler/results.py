"""The corpus as the compiler sees it: tasks, blobs and the results of actions."""

from __future__ import annotations

from typing import Any, Generic

from kernelvault import client, errors
from kernelvault.v1 import artifact_pb2, compiler_pb2, corpus_pb2, kernel_pb2, storage_pb2
from svc_compiler.verify.verifier import ReportT

_TIMEOUT_S = 60.0


_FIELDS = {compiler_pb2.VerificationReport: "report", compiler_pb2.ScriptReport: "script_report"}


class CorpusResults(Generic[ReportT]):
    """Reports of one kind in the corpus's action cache; see `verify.verifier.Results`."""

    def __init__(self, cache: Any, kind: type[ReportT]) -> None:
        self._cache = cache
        self._field = _FIELDS[kind]

    async def get(self, digest: artifact_pb2.Digest) -> ReportT | None:
        """Raises Unavailable if the corpus is not there."""
        request = storage_pb2.GetActionResultRequest(action_digest=digest)
        try:
            result = await client.call(self._cache.GetActionResult, request, timeout_s=_TIMEOUT_S)
        except errors.NotFound:
            return None
        return getattr(result, self._field) if result.HasField(self._field) else None

    async def put(self, report: ReportT) -> None:
        """Raises Unavailable if the corpus is not there."""
        result = storage_pb2.ActionResult(action_digest=report.action_digest)
        getattr(result, self._field).CopyFrom(report)
        request = storage_pb2.UpdateActionResultRequest(action_result=result)
        await client.call(self._cache.UpdateActionResult, request, timeout_s=_TIMEOUT_S)


class CorpusTasks:
    """Tasks by name; they never change, so each is asked for once."""

    def __init__(self, corpus: Any, most: int = 512) -> None:
        self._corpus = corpus
        self._known: dict[str, kernel_pb2.Task] = {}
        self._most = most

    async def get(self, name: str) -> kernel_pb2.Task:
        """Raises NotFound."""
        if name not in self._known:
            request = corpus_pb2.GetTaskRequest(name=name)
            task = await client.call(self._corpus.GetTask, request, timeout_s=_TIMEOUT_S)
            while len(self._known) >= self._most:
                del self._known[next(iter(self._known))]
            self._known[name] = task
        return self._known[name]
