"""Wires the compiler service together: `python -m svc_compiler`."""

from __future__ import annotations

import contextlib
import functools
from collections.abc import AsyncIterator, Sequence
from importlib.metadata import version
from typing import Any

from kernelvault import client, config, server
from kernelvault.admission import Admission
from kernelvault.blobs import Blobs
from kernelvault.replay import cpu_model
from kernelvault.replay.models import Models
from kernelvault.replay.reference import References
from kernelvault.replay.triton import model as triton_model
from kernelvault.sandbox import check_all, check_platform
from kernelvault.sandbox.metering import MeteredSandbox
from kernelvault.scratch import own_folder
from kernelvault.v1 import artifact_pb2, compiler_pb2, compiler_pb2_grpc, corpus_pb2_grpc, kernel_pb2, storage_pb2_grpc
from svc_compiler.actions import Work
from svc_compiler.config import CompilerConfig
from svc_compiler.hip import image
from svc_compiler.hip.toolchain import Toolchain
from svc_compiler.identity import of_sources
from svc_compiler.kernels import KernelSplicer
from svc_compiler.results import CorpusResults, CorpusTasks
from svc_compiler.servicer import CompilerServicer
from svc_compiler.tasks import TaskPreparer
from svc_compiler.triton import script
from svc_compiler.triton.script import ScriptExaminer
from svc_compiler.triton.script_actions import ScriptWork
from svc_compiler.verify import module
from svc_compiler.verify.build import HipBuilder
from svc_compiler.verify.hip import HipFrontend
from svc_compiler.verify.triton import PRELOAD, TritonFrontend
from svc_compiler.verify.verification import CandidateVerifier
from svc_compiler.verify.verifier import (
    CachingVerifier,
    JoiningVerifier,
    QueueingVerifier,
    Report,
    ScriptReport,
    Verifier,
    is_kept,
)

NAME = "kernelvault.v1.Compiler"


@contextlib.asynccontextmanager
async def build(settings: CompilerConfig) -> AsyncIterator[Sequence[server.Registration]]:
    """The service's parts, outermost first; raises Unfit where this machine lacks one."""
    check_platform()
    secret = settings.secret()
    shared = config.writable(settings.cache_dir / "scratch", "CACHE_DIR")
    toolchain = Toolchain.find(settings.toolchain, settings.cache_dir)
    async with contextlib.AsyncExitStack() as stack:
        scratch = stack.enter_context(own_folder(shared))
        channel = await stack.enter_async_context(client.channel(settings.corpus_address, settings))
        tools = await MeteredSandbox.start(
            ["numpy", *cpu_model.PRELOAD, "kernelvault.replay.compare_child", "svc_compiler.hip.record_child"]
        )
        stack.push_async_callback(tools.close)
        torch = await MeteredSandbox.start(["torch", "kernelvault.replay.reference_child"])
        stack.push_async_callback(torch.close)
        triton = await MeteredSandbox.start([*PRELOAD, *module.PRELOAD, *script.PRELOAD])
        stack.push_async_callback(triton.close)
        blobs = Blobs(channel, settings.cache_dir / "blobs")
        references = References(torch, settings.cache_dir / "references", secret)
        interpreter = await MeteredSandbox.start(["numpy", *triton_model.PRELOAD])
        stack.push_async_callback(interpreter.close)
        model = Models(
            hip=cpu_model.CpuModel(tools, locate=functools.partial(image.locate, tools, toolchain)),
            triton=triton_model.TritonModel(interpreter),
        )
        builder = HipBuilder(tools, toolchain, blobs)
        hip = HipFrontend(tools, builder, model)
        verifier = CandidateVerifier(
            frontends={
                kernel_pb2.Candidate.HIP_ABI: hip,
                kernel_pb2.Candidate.HIP_TORCH: hip,
                kernel_pb2.Candidate.HIP_MODULE: module.ModuleFrontend(triton, builder, model),
                kernel_pb2.Candidate.TRITON_MODULE: TritonFrontend(triton, model, blobs),
            },
            sandbox=tools,
            references=references,
            model=model,
            scratch=scratch,
            versions={**toolchain.versions, "triton": version("triton")},
        )

        async def fetch(digest: artifact_pb2.Digest) -> bytes:
            return (await blobs.get(digest)).read_bytes()

        cache = storage_pb2_grpc.ActionCacheStub(channel)  # type: ignore[no-untyped-call]
        servicer = CompilerServicer(
            verifier=_verifier(verifier, cache, settings),
            scripts=_scripts(ScriptExaminer(triton, scratch, _versions("triton", "torch")), cache, settings),
            tasks=CorpusTasks(corpus_pb2_grpc.CorpusStub(channel)),  # type: ignore[no-untyped-call]
            splicer=KernelSplicer(tools, toolchain, scratch, workers=settings.workers, queue_size=settings.queue_size),
            preparer=TaskPreparer(references, torch, workers=settings.workers, queue_size=settings.queue_size),
            fetch=fetch,
            identity=f"{of_sources()} {toolchain.identity} triton {version('triton')} {references.identity}",
            settings=settings,
        )
        ready = functools.partial(check_all, tools, torch, triton, interpreter)
        yield [server.Registration(NAME, compiler_pb2_grpc.add_CompilerServicer_to_server, servicer, ready)]


def _versions(*packages: str) -> dict[str, str]:
    return {package: version(package) for package in packages}


def _verifier(base: CandidateVerifier, cache: Any, settings: CompilerConfig) -> Verifier[Work, Report]:
    admission = Admission("verifications", workers=settings.workers, queue_size=settings.queue_size, seconds_each=2.0)
    queueing = QueueingVerifier(base, admission, compiler_pb2.VerifyCandidateResponse.QUEUED)
    return JoiningVerifier(CachingVerifier(queueing, CorpusResults(cache, Report), is_kept))


def _scripts(base: ScriptExaminer, cache: Any, settings: CompilerConfig) -> Verifier[ScriptWork, ScriptReport]:
    admission = Admission("scripts", workers=settings.workers, queue_size=settings.queue_size, seconds_each=10.0)
    queueing = QueueingVerifier(base, admission, compiler_pb2.ExamineScriptResponse.QUEUED)
    return JoiningVerifier(CachingVerifier(queueing, CorpusResults(cache, ScriptReport), script.is_kept))


if __name__ == "__main__":
    server.main(CompilerConfig, build)
