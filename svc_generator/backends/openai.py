"""Candidates from a language model behind any OpenAI-compatible endpoint, vLLM's included."""

from __future__ import annotations

import asyncio
import functools
import json
from collections.abc import AsyncIterator
from typing import TYPE_CHECKING, Any

from kernelvault import digest, errors
from kernelvault.v1 import generator_pb2, kernel_pb2
from svc_generator import parsing
from svc_generator.backends.base import Completion, Thought
from svc_generator.backends.endpoint import Endpoint, Reply, Sleep
from svc_generator.budget import Budget
from svc_generator.prompts import assemble
from svc_generator.settings import GeneratorConfig

if TYPE_CHECKING:
    import openai

_Request = generator_pb2.GenerateCandidatesRequest
_FUNCTIONAL_OUTPUT_TOKENS = 5000
# A model that reasons writes more than the few words that are asked for.
_REFLECTION_OUTPUT_TOKENS = 8192
_PATHS = {kernel_pb2.Candidate.TRITON_MODULE: "kernel.py"}


class OpenAIBackend:
    """Asks a model once for each sample, many samples at once, within token budgets."""

    name = "openai"

    def __init__(self, settings: GeneratorConfig, api_key: str, *, sleep: Sleep = asyncio.sleep) -> None:
        self._settings = settings
        connect = functools.partial(_connect, settings, api_key)
        self._endpoint = Endpoint(connect, attempts=settings.openai_attempts, sleep=sleep)
        self._slots = asyncio.Semaphore(settings.openai_concurrency)
        self._total = Budget(settings.openai_total_tokens, "KERNELVAULT_OPENAI_TOTAL_TOKENS")

    async def close(self) -> None:
        """Closes the connections to the endpoint."""
        await self._endpoint.close()

    def models(self) -> list[str]:
        """The configured models."""
        return [f"models/{model}" for model in self._settings.openai_models]

    async def generate(
        self, task: kernel_pb2.Task, request: _Request, *, done: frozenset[int] = frozenset()
    ) -> AsyncIterator[Completion]:
        """One completion for each sample that is not in `done`, in order of completion.

        A call that fails in the middle first yields what was finished. Raises as Endpoint.complete, and
        errors.ResourceExhausted (`TOKEN_BUDGET`).
        """
        messages = assemble.kernel(task, request, budget_tokens=self._settings.openai_prompt_tokens)
        budget = Budget(self._settings.openai_call_tokens, "KERNELVAULT_OPENAI_CALL_TOKENS", self._total)
        wanted = [index for index in range(request.candidate_count) if index not in done]
        samples = [asyncio.create_task(self._sample(request, messages, budget, index)) for index in wanted]
        failure: errors.Error | None = None
        try:
            for sample in asyncio.as_completed(samples):
                try:
                    yield await sample
                except errors.Error as error:
                    failure = failure or error
            if failure:
                raise failure
        finally:
            for task_ in samples:
                task_.cancel()
            await asyncio.gather(*samples, return_exceptions=True)

    async def functional(self, request: generator_pb2.GenerateFunctionalRequest) -> bytes:
        """The functional form that the model gives; raises FailedPrecondition (`PARSE_FAILED`), and as `generate`."""
        messages = assemble.functional(request)
        budget = Budget(self._settings.openai_call_tokens, "KERNELVAULT_OPENAI_CALL_TOKENS", self._total)
        options = {"temperature": 0.0, self._settings.openai_max_tokens_field: _FUNCTIONAL_OUTPUT_TOKENS}
        reply = await self._ask(request.model, messages, options, budget)
        try:
            return parsing.read_python(reply.text, needs="module_fn").encode()
        except parsing.Unreadable as error:
            raise errors.FailedPrecondition("PARSE_FAILED", _why(error, reply)) from error

    async def reflect(self, task: kernel_pb2.Task, request: generator_pb2.ReflectOnAttemptRequest) -> Thought:
        """What the model says of the last attempt; raises FailedPrecondition (`PARSE_FAILED`), and as `generate`."""
        messages = assemble.reflection(task, request, budget_tokens=self._settings.openai_prompt_tokens)
        budget = Budget(self._settings.openai_call_tokens, "KERNELVAULT_OPENAI_CALL_TOKENS", self._total)
        options = self._options(request.sampling, request.sampling.seed)
        field = self._settings.openai_max_tokens_field
        options[field] = request.sampling.max_output_tokens or min(options[field], _REFLECTION_OUTPUT_TOKENS)
        reply = await self._ask(request.model, messages, options, budget)
        try:
            text = parsing.read_prose(reply.text)
        except parsing.Unreadable as error:
            raise errors.FailedPrecondition("PARSE_FAILED", _why(error, reply)) from error
        return Thought(text=text, **_facts(reply, messages))

    async def _sample(
        self, request: _Request, messages: list[assemble.Message], budget: Budget, index: int
    ) -> Completion:
        seed = request.sampling.seed + index
        options = self._options(request.sampling, seed)
        reply = await self._ask(request.model, messages, options, budget)
        return _completion(request, reply, messages, seed=seed, index=index)

    async def _ask(
        self, model: str, messages: list[assemble.Message], options: dict[str, Any], budget: Budget
    ) -> Reply:
        prompt_tokens = assemble.tokens(messages)
        reserved = prompt_tokens + options[self._settings.openai_max_tokens_field]
        async with self._slots:
            budget.reserve(reserved)
            used = 0
            try:
                reply = await self._endpoint.complete(model.removeprefix("models/"), messages, options)
                answered = len(reply.text) // assemble.CHARS_PER_TOKEN
                used = (reply.prompt_tokens or prompt_tokens) + (reply.completion_tokens or answered)
                return reply
            finally:
                budget.settle(reserved, used)

    def _options(self, sampling: _Request.Sampling, seed: int) -> dict[str, Any]:
        """The sampling of a request; the server's default for the temperature where `sampling` is all unset."""
        settings = self._settings
        unset = sampling == _Request.Sampling(seed=sampling.seed)
        options: dict[str, Any] = {
            "temperature": settings.openai_temperature if unset else sampling.temperature,
            settings.openai_max_tokens_field: sampling.max_output_tokens or settings.openai_max_output_tokens,
            "seed": seed,
        }
        return options | ({"top_p": sampling.top_p} if sampling.top_p else {})


def _connect(settings: GeneratorConfig, api_key: str) -> openai.AsyncOpenAI:
    """A client of the configured endpoint that leaves retries to us."""
    import openai

    return openai.AsyncOpenAI(
        base_url=settings.openai_endpoint,
        api_key=api_key or "none",
        max_retries=0,
        timeout=settings.openai_timeout_seconds,
    )


def _completion(
    request: _Request, reply: Reply, messages: list[assemble.Message], *, seed: int, index: int
) -> Completion:
    facts = {**_facts(reply, messages), "seed": seed, "sample_index": index}
    try:
        answer = parsing.read_kernel(reply.text, request.format)
        source = answer.source.encode(errors="replace")
        if len(source) > digest.INLINE_LIMIT_BYTES:
            raise parsing.Unreadable(
                f"the source has {len(source)} bytes, at most {digest.INLINE_LIMIT_BYTES} are read"
            )
    except parsing.Unreadable as error:
        return Completion(error=errors.InvalidArgument("", _why(error, reply), "PARSE_FAILED"), **facts)
    path = _PATHS.get(request.format, "kernel.hip")
    return Completion(
        sources=[digest.artifact(path, source)],
        # The text of one function says nothing of the source that it is for.
        format=request.format if request.optimization.HasField("kernel") else answer.format,
        entry_point=answer.entry_point,
        rationale=answer.rationale,
        **facts,
    )


def _facts(reply: Reply, messages: list[assemble.Message]) -> dict[str, Any]:
    """What was asked and answered, and the tokens of both: the endpoint's counts, else an estimate."""
    return {
        "prompt_tokens": reply.prompt_tokens or assemble.tokens(messages),
        "completion_tokens": reply.completion_tokens or len(reply.text) // assemble.CHARS_PER_TOKEN,
        "prompt": json.dumps(messages, ensure_ascii=False).encode(errors="replace"),
        "raw": reply.text.encode(errors="replace"),
    }


def _why(error: parsing.Unreadable, reply: Reply) -> str:
    return f"{error}; the answer was cut off at the limit of output tokens" if reply.cut_off else str(error)
