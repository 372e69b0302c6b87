"""Wires the compiler service together: `python -m svc_compiler`."""

from __future__ import annotations

import contextlib
import functools
from collections.abc import AsyncIterator, Sequence

from kernelvault import client, server
from kernelvault.blobs import Blobs
from kernelvault.replay import cpu_model
from kernelvault.replay.reference import References
from kernelvault.sandbox import check_platform
from kernelvault.sandbox.metering import MeteredSandbox
from kernelvault.v1 import artifact_pb2, compiler_pb2_grpc, corpus_pb2_grpc, kernel_pb2, storage_pb2_grpc
from svc_compiler.config import CompilerConfig
from svc_compiler.hip import image
from svc_compiler.hip.toolchain import Toolchain
from svc_compiler.identity import of_sources
from svc_compiler.results import CorpusResults, CorpusTasks
from svc_compiler.servicer import CompilerServicer
from svc_compiler.tasks import TaskPreparer
from svc_compiler.verify.build import HipBuilder
from svc_compiler.verify.hip import HipFrontend
from svc_compiler.verify.verification import CandidateVerifier
from svc_compiler.verify.verifier import CachingVerifier, JoiningVerifier, QueueingVerifier

NAME = "kernelvault.v1.Compiler"


@contextlib.asynccontextmanager
async def build(settings: CompilerConfig) -> AsyncIterator[Sequence[server.Registration]]:
    """The service's parts, outermost first; raises Unfit where this machine lacks one."""
    check_platform()
    secret = settings.secret()
    scratch = settings.cache_dir / "scratch"
    scratch.mkdir(parents=True, exist_ok=True)
    toolchain = Toolchain.find(settings.toolchain, settings.cache_dir)
    async with contextlib.AsyncExitStack() as stack:
        channel = await stack.enter_async_context(client.channel(settings.corpus_address, settings))
        tools = await MeteredSandbox.start(
            ["numpy", *cpu_model.PRELOAD, "kernelvault.replay.compare_child", "svc_compiler.hip.record_child"]
        )
        stack.push_async_callback(tools.close)
        torch = await MeteredSandbox.start(["torch", "kernelvault.replay.reference_child"])
        stack.push_async_callback(torch.close)
        blobs = Blobs(channel, settings.cache_dir / "blobs")
        references = References(torch, settings.cache_dir / "references", secret)
        model = cpu_model.CpuModel(tools, locate=functools.partial(image.locate, tools, toolchain))
        verifier = CandidateVerifier(
            frontends={kernel_pb2.Candidate.HIP: HipFrontend(tools, HipBuilder(tools, toolchain, blobs), model)},
            sandbox=tools,
            references=references,
            model=model,
            scratch=scratch,
            versions=dict(toolchain.versions),
        )

        async def fetch(digest: artifact_pb2.Digest) -> bytes:
            return (await blobs.get(digest)).read_bytes()

        queueing = QueueingVerifier(verifier, workers=settings.workers, queue_size=settings.queue_size)
        results = CorpusResults(storage_pb2_grpc.ActionCacheStub(channel))  # type: ignore[no-untyped-call]
        servicer = CompilerServicer(
            verifier=JoiningVerifier(CachingVerifier(queueing, results)),
            tasks=CorpusTasks(corpus_pb2_grpc.CorpusStub(channel)),  # type: ignore[no-untyped-call]
            preparer=TaskPreparer(references, torch, workers=settings.workers, queue_size=settings.queue_size),
            fetch=fetch,
            identity=f"{of_sources()} {toolchain.identity} {references.identity}",
            settings=settings,
        )
        yield [server.Registration(NAME, compiler_pb2_grpc.add_CompilerServicer_to_server, servicer)]


if __name__ == "__main__":
    server.main(CompilerConfig, build)
