"""The Compiler service on gRPC."""

from __future__ import annotations

import contextlib
import re
from collections.abc import AsyncIterator
from typing import Any

from kernelvault import digest, errors, staged
from kernelvault.v1 import compiler_pb2, compiler_pb2_grpc, kernel_pb2
from svc_compiler import actions
from svc_compiler.config import CompilerConfig
from svc_compiler.kernels import KernelSplicer
from svc_compiler.results import CorpusTasks
from svc_compiler.tasks import TaskPreparer
from svc_compiler.triton import script_actions
from svc_compiler.triton.script_actions import ScriptWork
from svc_compiler.verify.verifier import Report, ScriptReport, Verifier

_TITLE = re.compile(r"[a-z0-9][a-z0-9_-]{0,63}")
Update = compiler_pb2.VerifyCandidateResponse
ScriptUpdate = compiler_pb2.ExamineScriptResponse


class CompilerServicer(compiler_pb2_grpc.CompilerServicer):
    """Checks requests and hands them to the verifier and the task preparer."""

    def __init__(
        self,
        *,
        verifier: Verifier[actions.Work, Report],
        scripts: Verifier[ScriptWork, ScriptReport],
        tasks: CorpusTasks,
        preparer: TaskPreparer,
        splicer: KernelSplicer,
        fetch: actions.Fetch,
        identity: str,
        settings: CompilerConfig,
    ) -> None:
        self._verifier = verifier
        self._scripts = scripts
        self._tasks = tasks
        self._preparer = preparer
        self._splicer = splicer
        self._fetch = fetch
        self._identity = identity
        self._settings = settings

    async def PrepareTask(
        self, request: compiler_pb2.PrepareTaskRequest, context: Any
    ) -> compiler_pb2.PrepareTaskResponse:
        """See compiler.proto."""
        return await self._preparer.prepare(_checked_task(request.task), request.max_correctness_cases)

    async def StandardizeTask(
        self, request: compiler_pb2.StandardizeTaskRequest, context: Any
    ) -> compiler_pb2.StandardizeTaskResponse:
        """See compiler.proto."""
        return await self._preparer.standardize(_checked_task(request.task))

    async def ExtractKernel(
        self, request: compiler_pb2.ExtractKernelRequest, context: Any
    ) -> compiler_pb2.ExtractKernelResponse:
        """See compiler.proto."""
        return await self._splicer.extract(request)

    async def SpliceKernel(
        self, request: compiler_pb2.SpliceKernelRequest, context: Any
    ) -> compiler_pb2.SpliceKernelResponse:
        """See compiler.proto."""
        return await self._splicer.splice(request)

    async def VerifyCandidate(
        self, request: compiler_pb2.VerifyCandidateRequest, context: Any
    ) -> AsyncIterator[compiler_pb2.VerifyCandidateResponse]:
        """See compiler.proto."""
        settings = self._settings
        action = await actions.complete(
            request.action,
            fetch=self._fetch,
            default_timeout_s=settings.default_timeout_seconds,
            max_timeout_s=settings.max_timeout_seconds,
        )
        task = await self._tasks.get(action.task)
        work = actions.work_of(action, task, identity=self._identity, fresh=request.skip_cache_lookup)
        stream = staged.updates(
            lambda progress: self._verifier.verify(work, progress),
            stage=lambda stage: Update(stage=stage),
            result=lambda report: Update(report=report),
        )
        async with contextlib.aclosing(stream) as updates:
            async for update in updates:
                yield update

    async def ExamineScript(
        self, request: compiler_pb2.ExamineScriptRequest, context: Any
    ) -> AsyncIterator[compiler_pb2.ExamineScriptResponse]:
        """See compiler.proto."""
        action = await script_actions.complete(
            request.action,
            fetch=self._fetch,
            default_timeout_s=self._settings.default_timeout_seconds,
            max_timeout_s=self._settings.max_timeout_seconds,
        )
        work = script_actions.work_of(action, identity=self._identity, fresh=request.skip_cache_lookup)
        stream = staged.updates(
            lambda progress: self._scripts.verify(work, progress),
            stage=lambda stage: ScriptUpdate(stage=stage),
            result=lambda report: ScriptUpdate(report=report),
        )
        async with contextlib.aclosing(stream) as updates:
            async for update in updates:
                yield update


def _checked_task(task: kernel_pb2.Task) -> kernel_pb2.Task:
    if not _TITLE.fullmatch(task.title):
        raise errors.InvalidArgument(
            "task.title", f"{task.title[:80]!r} is not 1 to 64 lower-case letters, digits, `_` and `-`"
        )
    checked = kernel_pb2.Task()
    checked.CopyFrom(task)
    checked.reference.CopyFrom(digest.check_artifact(task.reference, "task.reference"))
    if task.HasField("functional"):
        checked.functional.CopyFrom(digest.check_artifact(task.functional, "task.functional"))
    return checked
