"""The Generator service: finds the task and the backend, stores what was asked and answered, streams candidates."""

from __future__ import annotations

import contextlib
from collections.abc import AsyncIterator, Sequence
from typing import Any

import structlog
from google.protobuf.message import Message

from kernelvault import client, digest, errors
from kernelvault.blobs import Blobs
from kernelvault.v1 import corpus_pb2, generator_pb2, generator_pb2_grpc, kernel_pb2
from svc_generator import requests
from svc_generator.backends import Backend, Completion, Registry
from svc_generator.backends.base import FORMATS, Thought
from svc_generator.calls import Calls

_Request = generator_pb2.GenerateCandidatesRequest
_Response = generator_pb2.GenerateCandidatesResponse
_Reflected = generator_pb2.ReflectOnAttemptResponse
_ENTRY_POINTS = {
    kernel_pb2.Candidate.HIP_ABI: "run",
    kernel_pb2.Candidate.HIP_TORCH: "forward",
    kernel_pb2.Candidate.TRITON_MODULE: "module_fn",
}
_log = structlog.get_logger()


class GeneratorServicer(generator_pb2_grpc.GeneratorServicer):
    """Raises errors.Error, which the server's interceptors turn into statuses."""

    def __init__(self, *, registry: Registry, corpus: Any, blobs: Blobs, calls: Calls) -> None:
        """`corpus` is a CorpusStub."""
        self._registry = registry
        self._corpus = corpus
        self._blobs = blobs
        self._calls = calls

    async def GenerateCandidates(self, request: _Request, context: Any) -> AsyncIterator[_Response]:
        """Streams candidates in order of completion, those of an earlier call with the same request ID first."""
        filled = requests.complete(request)
        filled.model, backend = self._registry.find(filled.model)
        task = await client.call(self._corpus.GetTask, corpus_pb2.GetTaskRequest(name=filled.task))

        def produce(made: Sequence[_Response]) -> AsyncIterator[_Response]:
            return self._responses(backend, task, filled, frozenset(response.sample_index for response in made))

        responses = self._calls.stream(filled.request_id, _fingerprint(filled), produce)
        async with contextlib.aclosing(responses) as stream:  # type: ignore[type-var]
            async for response in stream:
                yield response

    async def ReflectOnAttempt(
        self, request: generator_pb2.ReflectOnAttemptRequest, context: Any
    ) -> generator_pb2.ReflectOnAttemptResponse:
        """Asks the model once; a repeated request ID gets what was answered."""
        filled = requests.complete_reflection(request)
        filled.model, backend = self._registry.find(filled.model)
        task = await client.call(self._corpus.GetTask, corpus_pb2.GetTaskRequest(name=filled.task))

        async def produce(made: Sequence[_Reflected]) -> AsyncIterator[_Reflected]:
            thought = await backend.reflect(task, filled)
            _log.info("attempt reflected on", task=task.name, model=filled.model, tokens=thought.completion_tokens)
            yield _Reflected(reflection=await self._kept(filled.model, thought))

        responses = self._calls.stream(filled.request_id, _fingerprint(filled), produce)
        async with contextlib.aclosing(responses) as stream:  # type: ignore[type-var]
            [response] = [one async for one in stream]
        return response

    async def GenerateFunctional(
        self, request: generator_pb2.GenerateFunctionalRequest, context: Any
    ) -> generator_pb2.GenerateFunctionalResponse:
        """Asks the model once."""
        if not request.task.reference.contents:
            raise errors.InvalidArgument("task.reference.contents", "is empty; send the module's source")
        filled = generator_pb2.GenerateFunctionalRequest()
        filled.CopyFrom(request)
        filled.model, backend = self._registry.find(request.model)
        source = await backend.functional(filled)
        return generator_pb2.GenerateFunctionalResponse(functional=digest.artifact("functional.py", source))

    async def ListModels(
        self, request: generator_pb2.ListModelsRequest, context: Any
    ) -> generator_pb2.ListModelsResponse:
        """The models of all backends."""
        return generator_pb2.ListModelsResponse(models=self._registry.models())

    async def _kept(self, model: str, thought: Thought) -> kernel_pb2.Reflection:
        return kernel_pb2.Reflection(
            model=model,
            text=thought.text,
            prompt_digest=await self._blobs.put(thought.prompt),
            completion_digest=await self._blobs.put(thought.raw),
            prompt_tokens=thought.prompt_tokens,
            completion_tokens=thought.completion_tokens,
        )

    async def _responses(
        self, backend: Backend, task: kernel_pb2.Task, request: _Request, done: frozenset[int]
    ) -> AsyncIterator[_Response]:
        completions = backend.generate(task, request, done=done)
        async with contextlib.aclosing(completions) as stream:  # type: ignore[type-var]
            async for completion in stream:
                if completion.sample_index not in done:
                    yield await self._response(task, request, completion)

    async def _response(self, task: kernel_pb2.Task, request: _Request, completion: Completion) -> _Response:
        """Stores the prompt and the completion, then names the candidate."""
        response = _Response(sample_index=completion.sample_index)
        if completion.raw:
            response.completion_digest.CopyFrom(await self._blobs.put(completion.raw))
        if completion.error is not None:
            response.error.CopyFrom(completion.error.to_status())
            return response
        response.candidate.CopyFrom(_candidate(task.name, request.model, completion))
        generation = response.candidate.generation
        if completion.raw:
            generation.completion_digest.CopyFrom(response.completion_digest)
        if completion.prompt:
            generation.prompt_digest.CopyFrom(await self._blobs.put(completion.prompt))
        _log.info("candidate generated", task=task.name, model=request.model, candidate=response.candidate.name)
        return response


def _fingerprint(request: Message) -> str:
    return f"{request.DESCRIPTOR.name} {digest.of_message(request).hash}"


def _candidate(task: str, model: str, completion: Completion) -> kernel_pb2.Candidate:
    language = FORMATS[completion.format]
    entry_point = completion.entry_point or _ENTRY_POINTS[completion.format]
    return kernel_pb2.Candidate(
        name=digest.candidate_name(task, language, completion.format, entry_point, completion.sources),
        language=language,
        format=completion.format,
        sources=completion.sources,
        entry_point=entry_point,
        generation=kernel_pb2.Candidate.Generation(
            model=model,
            seed=completion.seed,
            sample_index=completion.sample_index,
            prompt_tokens=completion.prompt_tokens,
            completion_tokens=completion.completion_tokens,
            rationale=completion.rationale,
        ),
    )
