"""Wires the generator service together: `python -m svc_generator`."""

from __future__ import annotations

import contextlib
import os
from collections.abc import AsyncIterator, Sequence

from kernelvault import client, config, server
from kernelvault.blobs import Blobs
from kernelvault.sandbox import Sandbox
from kernelvault.scratch import own_folder
from kernelvault.v1 import corpus_pb2_grpc, generator_pb2_grpc
from svc_generator.backends import Backend, Registry
from svc_generator.backends.openai import OpenAIBackend
from svc_generator.calls import Calls
from svc_generator.rules.backend import PRELOAD, RulesBackend
from svc_generator.servicer import GeneratorServicer
from svc_generator.settings import GeneratorConfig

NAME = "kernelvault.v1.Generator"


@contextlib.asynccontextmanager
async def build(settings: GeneratorConfig) -> AsyncIterator[Sequence[server.Registration]]:
    """The service's parts; raises Unfit where this machine lacks one."""
    shared = config.writable(settings.cache_dir / "scratch", "CACHE_DIR")
    async with contextlib.AsyncExitStack() as stack:
        scratch = stack.enter_context(own_folder(shared))
        channel = await stack.enter_async_context(client.channel(settings.corpus_address, settings))
        sandbox = await Sandbox.start(preload=PRELOAD)
        stack.push_async_callback(sandbox.close)
        rules = RulesBackend(sandbox, scratch)
        stack.push_async_callback(rules.close)
        backends: list[Backend] = [rules]
        if settings.openai_endpoint:
            openai = OpenAIBackend(settings, settings.api_key(os.environ))
            stack.push_async_callback(openai.close)
            backends.append(openai)
        servicer = GeneratorServicer(
            registry=Registry(backends, settings.default_model),
            corpus=corpus_pb2_grpc.CorpusStub(channel),  # type: ignore[no-untyped-call]
            blobs=Blobs(channel, settings.cache_dir / "blobs"),
            calls=Calls(settings.queue_size),
        )
        add = generator_pb2_grpc.add_GeneratorServicer_to_server
        yield [server.Registration(NAME, add, servicer, sandbox.check)]


if __name__ == "__main__":
    server.main(GeneratorConfig, build)
