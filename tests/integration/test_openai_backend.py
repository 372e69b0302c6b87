"""The backend for language models, against a real HTTP endpoint."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator
from typing import Any

import pytest

from kernelvault import digest, errors
from kernelvault.v1 import generator_pb2
from kernelvault.v1.compiler_pb2 import VerificationReport
from kernelvault.v1.kernel_pb2 import Candidate, Case, Parameter, Task, TensorView
from svc_generator.backends.base import Completion
from svc_generator.backends.openai import OpenAIBackend
from svc_generator.settings import GeneratorConfig
from tests.endpoint import Answer, FakeEndpoint, completion, failure

KERNEL = "#include <hip/hip_runtime.h>\n__global__ void k() {}\n"
KERNEL += 'extern "C" void run(hipStream_t s) { k<<<1, 1, 0, s>>>(); }\n'
ANSWER = f"An idea.\n\n```cpp\n{KERNEL}```\n"
_X = Parameter(name="x", tensor=TensorView(dtype="float32", dims=[4]))
TASK = Task(
    name="tasks/scale-000000000000",
    title="scale",
    reference=digest.artifact("model.py", b"class Model: ...\n"),
    cases=[Case(id="a", parameters=[_X], outputs=[_X])],
)


class Asker:
    """A backend on an endpoint that gives these answers; waits are recorded and not slept."""

    def __init__(self, endpoint: FakeEndpoint, **settings: Any) -> None:
        self.config = GeneratorConfig(openai_endpoint=endpoint.url, openai_models=("m",), **settings)
        self.waits: list[float] = []
        self.backend = OpenAIBackend(self.config, "key-1", sleep=self._sleep)

    async def _sleep(self, seconds: float) -> None:
        self.waits.append(seconds)

    async def ask(self, count: int = 1, done: frozenset[int] = frozenset(), **sampling: Any) -> list[Completion]:
        """The completions of one call."""
        request = request_of(count, **sampling)
        return [one async for one in self.backend.generate(TASK, request, done=done)]


def request_of(count: int = 1, **sampling: Any) -> generator_pb2.GenerateCandidatesRequest:
    """A filled request."""
    kind = generator_pb2.GenerateCandidatesRequest
    return kind(
        task=TASK.name,
        model="models/m",
        format=Candidate.HIP_ABI,
        candidate_count=count,
        sampling=kind.Sampling(**sampling),
        target="gfx942",
    )


@contextlib.asynccontextmanager
async def asker(*answers: Answer | None, **settings: Any) -> AsyncIterator[tuple[Asker, FakeEndpoint]]:
    """A backend and its endpoint."""
    async with FakeEndpoint(*answers).serving() as endpoint:
        made = Asker(endpoint, **settings)
        yield made, endpoint
        await made.backend.close()


async def test_an_answer_becomes_a_completion() -> None:
    """The source, the rationale, the counts, the prompt and the answer word for word."""
    async with asker(completion(ANSWER)) as (given, endpoint):
        [made] = await given.ask(seed=5)
    assert made.sources[0].contents.decode() == KERNEL
    assert (made.rationale, made.seed, made.prompt_tokens, made.completion_tokens) == ("An idea.", 5, 100, 20)
    assert made.raw.decode() == ANSWER
    assert b"class Model" in made.prompt
    assert endpoint.bodies[0]["messages"][0]["role"] == "system"


async def test_sampling_is_passed_on() -> None:
    """Temperature, top_p, the output limit and a seed of its own for each sample."""
    async with asker(completion(ANSWER)) as (given, endpoint):
        await given.ask(3, seed=7, temperature=0.2, top_p=0.9, max_output_tokens=50)
    assert sorted(body["seed"] for body in endpoint.bodies) == [7, 8, 9]
    options = {key: endpoint.bodies[0][key] for key in ("temperature", "top_p", "max_tokens", "model")}
    assert options == {"temperature": 0.2, "top_p": 0.9, "max_tokens": 50, "model": "m"}


async def test_samples_that_are_done_are_not_asked_for() -> None:
    """A resumed call asks for the missing samples only."""
    async with asker(completion(ANSWER)) as (given, endpoint):
        made = await given.ask(3, frozenset({0, 2}))
    assert [one.sample_index for one in made] == [1]
    assert [body["seed"] for body in endpoint.bodies] == [1]


async def test_retry_after_is_honoured() -> None:
    """After 429 the backend waits as long as the endpoint asks, then tries again."""
    async with asker(failure(429, retry_after="7"), completion(ANSWER)) as (given, endpoint):
        [made] = await given.ask()
    assert made.sources
    assert given.waits == [7.0]
    assert len(endpoint.bodies) == 2


@pytest.mark.parametrize("answer", [failure(500), failure(503), (200, {}, b"not json"), (200, {}, b'{"choices": []}')])
async def test_a_failing_endpoint_is_unavailable(answer: Answer) -> None:
    """5xx and garbage are tried again, then end the call as UNAVAILABLE: nobody's verdict."""
    async with asker(answer, openai_attempts=3) as (given, endpoint):
        with pytest.raises(errors.Unavailable):
            await given.ask()
    assert len(endpoint.bodies) == 3
    assert all(wait > 0 for wait in given.waits)


async def test_an_absent_endpoint_is_unavailable() -> None:
    """A refused connection is tried again, then UNAVAILABLE."""
    async with asker(completion(ANSWER), openai_attempts=2) as (_, endpoint):
        pass
    absent = Asker(endpoint, openai_attempts=2)
    with pytest.raises(errors.Unavailable) as refused:
        await absent.ask()
    assert refused.value.reason == "MODEL_UNREACHABLE"


@pytest.mark.parametrize(
    ("status", "kind", "reason"),
    [
        (401, errors.FailedPrecondition, "MODEL_DENIED"),
        (404, errors.NotFound, "MODEL_NOT_FOUND"),
        (400, errors.InvalidArgument, "MODEL_REFUSED"),
    ],
)
async def test_a_refusal_is_not_tried_again(status: int, kind: type[errors.Error], reason: str) -> None:
    """What will not get better by waiting ends the call at once."""
    async with asker(failure(status)) as (given, endpoint):
        with pytest.raises(kind) as refused:
            await given.ask()
    assert refused.value.reason == reason
    assert len(endpoint.bodies) == 1


async def test_cancelling_hangs_up() -> None:
    """Closing the stream closes the connection, on which an endpoint stops."""
    async with asker(None) as (given, endpoint):
        asking = asyncio.create_task(given.ask())
        await endpoint.asked.wait()
        asking.cancel()
        with pytest.raises(asyncio.CancelledError):
            await asking
        await asyncio.wait_for(endpoint.hung_up.wait(), 5)


async def test_a_slow_sample_does_not_hold_up_the_others() -> None:
    """Completions come in order of completion; closing the stream gives up the rest."""

    def answer(body: dict[str, Any]) -> Answer | None:
        return completion(ANSWER) if body["seed"] == 1 else None

    async with asker(answer) as (given, endpoint):  # type: ignore[arg-type]
        stream = given.backend.generate(TASK, request_of(2))
        assert (await anext(stream)).sample_index == 1
        await stream.aclose()  # type: ignore[attr-defined]
        await asyncio.wait_for(endpoint.hung_up.wait(), 5)


@pytest.mark.parametrize("text", ["I would rather not.", "", None])
async def test_an_answer_without_source_is_an_error_of_its_sample(text: str | None) -> None:
    """PARSE_FAILED says what the answer held; the call goes on."""
    async with asker(completion(text, finish_reason="length"), completion(ANSWER), openai_concurrency=1) as (given, _):
        made = await given.ask(2)
    [failed] = [one.error for one in made if one.error]
    assert failed.reason == "PARSE_FAILED"
    assert "cut off" in str(failed)
    assert sum(bool(one.sources) for one in made) == 1


async def test_the_budget_of_a_call_is_kept() -> None:
    """A call that would use more tokens than allowed streams what it could afford, then is RESOURCE_EXHAUSTED."""
    limit = {"openai_call_tokens": 5000, "openai_concurrency": 1}
    async with asker(completion(ANSWER), **limit) as (given, endpoint):
        made = []
        with pytest.raises(errors.ResourceExhausted, match="KERNELVAULT_OPENAI_CALL_TOKENS"):
            async for one in given.backend.generate(TASK, request_of(64, max_output_tokens=1000)):
                made.append(one)
    assert 0 < len(made) < 64
    assert 120 * len(endpoint.bodies) <= 5000


async def test_the_budget_of_the_process_is_kept() -> None:
    """Tokens of all calls together are limited."""
    async with asker(completion(ANSWER), openai_total_tokens=2500) as (given, _):
        await given.ask(max_output_tokens=100)
        with pytest.raises(errors.ResourceExhausted, match="KERNELVAULT_OPENAI_TOTAL_TOKENS"):
            for _ in range(50):
                await given.ask(max_output_tokens=100)


async def test_a_reflection_counts_against_the_budget() -> None:
    """Tokens of reflections are tokens."""
    attempt = generator_pb2.Attempt(report=VerificationReport(verdict=VerificationReport.MISMATCHED))
    attempt.candidate.CopyFrom(Candidate(format=Candidate.HIP_ABI, sources=[digest.artifact("k.hip", b"int x;")]))
    asked = generator_pb2.ReflectOnAttemptRequest(task=TASK.name, model="models/m", attempts=[attempt])
    asked.sampling.max_output_tokens = 100
    async with asker(completion("Because."), openai_total_tokens=2500) as (given, endpoint):
        said = await given.backend.reflect(TASK, asked)
        with pytest.raises(errors.ResourceExhausted, match="KERNELVAULT_OPENAI_TOTAL_TOKENS"):
            for _ in range(50):
                await given.backend.reflect(TASK, asked)
    assert (said.text, said.prompt_tokens, said.completion_tokens) == ("Because.", 100, 20)
    assert endpoint.bodies[0]["max_tokens"] == 100


async def test_the_functional_form_is_asked_at_temperature_zero() -> None:
    """The module that defines `module_fn` is taken from the answer."""
    module = "def module_fn(x):\n    return x\n"
    async with asker(completion(f"```python\n{module}```"), completion("no")) as (given, endpoint):
        asked = generator_pb2.GenerateFunctionalRequest(task=TASK, model="models/m")
        assert (await given.backend.functional(asked)).decode() == module
        with pytest.raises(errors.FailedPrecondition, match="module_fn"):
            await given.backend.functional(asked)
    assert endpoint.bodies[0]["temperature"] == 0


async def test_the_key_goes_to_the_endpoint_and_nowhere_else(capfd: pytest.CaptureFixture[str]) -> None:
    """The API key is in the header, and in no message, log or representation."""
    async with asker(failure(401)) as (given, endpoint):
        with pytest.raises(errors.FailedPrecondition) as refused:
            await given.ask()
    assert "Bearer key-1" in endpoint.headers[0]
    config = GeneratorConfig(openai_endpoint=endpoint.url, openai_models=("m",), openai_api_key="key-1")
    assert "key-1" not in f"{config}{refused.value.to_status()}{capfd.readouterr()}"
