"""Wires the profiler service together: `python -m svc_profiler`."""

from __future__ import annotations

import contextlib
import functools
from collections.abc import AsyncIterator, Sequence

from kernelvault import client, config, server
from kernelvault.blobs import Blobs
from kernelvault.replay import cpu_model
from kernelvault.replay.models import Models
from kernelvault.replay.reference import References
from kernelvault.replay.triton import model as triton_model
from kernelvault.sandbox import check_all, check_platform
from kernelvault.sandbox.metering import MeteredSandbox
from kernelvault.v1 import corpus_pb2_grpc, profiler_pb2, profiler_pb2_grpc, storage_pb2_grpc
from svc_profiler.corpus import Corpus
from svc_profiler.devices.model import ModelDevice
from svc_profiler.profiling import CachingProfiler, DeviceProfiler, QueueingProfiler
from svc_profiler.servicer import ProfilerServicer
from svc_profiler.settings import ProfilerConfig


@contextlib.asynccontextmanager
async def build(settings: ProfilerConfig) -> AsyncIterator[Sequence[server.Registration]]:
    """The service's parts, outermost first; raises Unfit where this machine lacks one."""
    check_platform()
    config.writable(settings.cache_dir, "CACHE_DIR")
    async with contextlib.AsyncExitStack() as stack:
        channel = await stack.enter_async_context(client.channel(settings.corpus_address, settings))
        replays = await MeteredSandbox.start(cpu_model.PRELOAD)
        stack.push_async_callback(replays.close)
        triton = await MeteredSandbox.start(triton_model.PRELOAD, lazy=True)
        stack.push_async_callback(triton.close)
        torch = await MeteredSandbox.start(preload=["torch", "kernelvault.replay.reference_child"])
        stack.push_async_callback(torch.close)
        actions = storage_pb2_grpc.ActionCacheStub(channel)  # type: ignore[no-untyped-call]
        store = Corpus(actions, corpus_pb2_grpc.CorpusStub(channel))  # type: ignore[no-untyped-call]
        references = References(
            torch, settings.cache_dir / "references", settings.secret(), max_cache_bytes=settings.inputs_cache_bytes
        )
        device = ModelDevice(
            cpu_model=Models(hip=cpu_model.CpuModel(replays), triton=triton_model.TritonModel(triton)),
            inputs=references,
            blobs=Blobs(channel, settings.cache_dir / "blobs"),
            sample_blocks=settings.sample_blocks,
            timeout_s=settings.timeout_seconds,
        )
        queueing = QueueingProfiler(
            DeviceProfiler(store, device), workers=settings.workers, queue_size=settings.queue_size
        )
        servicer = ProfilerServicer(CachingProfiler(queueing, store))
        name = profiler_pb2.DESCRIPTOR.services_by_name["Profiler"].full_name
        ready = functools.partial(check_all, replays, triton, torch)
        yield [server.Registration(name, profiler_pb2_grpc.add_ProfilerServicer_to_server, servicer, ready)]


if __name__ == "__main__":
    server.main(ProfilerConfig, build)
