"""The Generator service over gRPC, with a real corpus and a real endpoint."""

from __future__ import annotations

import asyncio
import contextlib
import subprocess
import sys
import uuid
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Any

import pytest

from kernelvault import client, config, digest, errors, server
from kernelvault.blobs import Blobs
from kernelvault.v1 import corpus_pb2_grpc, generator_pb2, generator_pb2_grpc, kernel_pb2, profiler_pb2
from kernelvault.v1.compiler_pb2 import VerificationReport
from kernelvault.v1.kernel_pb2 import Candidate, Reflection, SeedKernel
from svc_generator.backends import Registry
from svc_generator.backends.openai import OpenAIBackend
from svc_generator.calls import Calls
from svc_generator.servicer import GeneratorServicer
from svc_generator.settings import GeneratorConfig
from tests.corpus import Corpus
from tests.endpoint import Answer, FakeEndpoint, completion, failure
from tests.services import Service

KERNEL = '#include <hip/hip_runtime.h>\n__global__ void k() {}\nextern "C" void run() {}\n'
ANSWER = f"An idea.\n\n```cpp\n{KERNEL}```\n"
Request = generator_pb2.GenerateCandidatesRequest
Reflect = generator_pb2.ReflectOnAttemptRequest
SAID = "Line 2 sums `x` twice: drop the second `+=`."


class Generator:
    """A served generator and what is behind it."""

    def __init__(self, channel: Any, blobs: Blobs, endpoint: FakeEndpoint) -> None:
        self.stub = generator_pb2_grpc.GeneratorStub(channel)  # type: ignore[no-untyped-call]
        self.blobs = blobs
        self.endpoint = endpoint

    async def reflect(self, request: Reflect) -> Reflection:
        """The reflection that a call answers."""
        response = await client.call(self.stub.ReflectOnAttempt, request, timeout_s=20)
        return response.reflection  # type: ignore[no-any-return]

    async def generate(self, request: Request) -> list[generator_pb2.GenerateCandidatesResponse]:
        """All responses of a call."""
        return [one async for one in client.stream(self.stub.GenerateCandidates, request, timeout_s=20)]


@contextlib.asynccontextmanager
async def generator(
    corpus: Corpus, cache: Path, *answers: Answer | None, capacity: int = 4
) -> AsyncIterator[Generator]:
    """A generator whose endpoint gives these answers."""
    async with FakeEndpoint(*answers).serving() as endpoint, contextlib.AsyncExitStack() as stack:
        settings = GeneratorConfig(openai_endpoint=endpoint.url, openai_models=("m",), openai_attempts=1)
        openai = OpenAIBackend(settings, "")
        stack.push_async_callback(openai.close)
        blobs = Blobs(corpus.channel, cache)
        servicer = GeneratorServicer(
            registry=Registry([openai], "models/m"),
            corpus=corpus_pb2_grpc.CorpusStub(corpus.channel),  # type: ignore[no-untyped-call]
            blobs=blobs,
            calls=Calls(capacity),
        )
        add = generator_pb2_grpc.add_GeneratorServicer_to_server
        served = server.serving([server.Registration("kernelvault.v1.Generator", add, servicer)], config.ServerConfig())
        port = await stack.enter_async_context(served)
        channel = await stack.enter_async_context(client.channel(f"127.0.0.1:{port}"))
        yield Generator(channel, blobs, endpoint)


async def test_candidates_are_named_and_kept(corpus: Corpus, tmp_path: Path) -> None:
    """A candidate has its content's name; its prompt and completion are in the blob store."""
    task = await corpus.task()
    async with generator(corpus, tmp_path, completion(ANSWER)) as given:
        [response] = await given.generate(Request(task=task.name))
        candidate = response.candidate
        prompt = await given.blobs.get(candidate.generation.prompt_digest)
        answer = await given.blobs.get(response.completion_digest)
    source = digest.artifact("kernel.hip", KERNEL.encode())
    assert candidate.name == digest.candidate_name(task.name, 1, Candidate.HIP_ABI, "run", [source])
    assert (candidate.language, candidate.entry_point, candidate.generation.model) == (Candidate.HIP, "run", "models/m")
    assert b"class Model" in prompt.read_bytes()
    assert answer.read_text() == ANSWER


async def test_an_unreadable_answer_is_a_response(corpus: Corpus, tmp_path: Path) -> None:
    """A sample without source has an error, PARSE_FAILED, and its completion; the call is OK."""
    task = await corpus.task()
    async with generator(corpus, tmp_path, completion("Sorry.")) as given:
        [response] = await given.generate(Request(task=task.name))
        assert (await given.blobs.get(response.completion_digest)).read_text() == "Sorry."
    assert errors.from_status(response.error).reason == "PARSE_FAILED"


async def test_a_repeated_request_asks_nobody_again(corpus: Corpus, tmp_path: Path) -> None:
    """The same request ID streams the same samples; what failed is asked for again."""
    task = await corpus.task()
    request = Request(task=task.name, candidate_count=3, request_id=str(uuid.uuid4()))
    answers = completion(ANSWER), failure(500), completion(ANSWER)
    async with generator(corpus, tmp_path, *answers) as given:
        first = await given.generate(request)  # the client tries again after the 500
        again = await given.generate(request)
    assert sorted(one.sample_index for one in again) == [0, 1, 2]
    assert again[:1] == first[:1]
    assert len(given.endpoint.bodies) == 4


async def test_cancelling_a_call_hangs_up(corpus: Corpus, tmp_path: Path) -> None:
    """The endpoint's connection is closed when the client goes away."""
    task = await corpus.task()
    async with generator(corpus, tmp_path, None) as given:
        call = given.stub.GenerateCandidates(Request(task=task.name))
        reading = asyncio.ensure_future(call.read())
        await asyncio.wait_for(given.endpoint.asked.wait(), 10)
        call.cancel()
        await asyncio.wait_for(given.endpoint.hung_up.wait(), 10)
        reading.cancel()


@pytest.mark.parametrize(
    ("fields", "kind", "words"),
    [
        ({"task": "softmax"}, errors.InvalidArgument, "task"),
        ({"task": "tasks/nothing-000000000000"}, errors.NotFound, "nothing"),
        ({"model": "models/none"}, errors.NotFound, "known are models/m"),
        ({"target": "gfx1100"}, errors.InvalidArgument, "known are gfx90a, gfx942, gfx950"),
        ({"request_id": "1"}, errors.InvalidArgument, "UUID4"),
        ({"candidate_count": 65}, errors.InvalidArgument, "candidate_count"),
        ({"candidate_count": -1}, errors.InvalidArgument, "candidate_count"),
        ({"language": Candidate.TRITON, "format": Candidate.HIP_ABI}, errors.InvalidArgument, "format"),
        ({"sampling": Request.Sampling(temperature=9)}, errors.InvalidArgument, "temperature"),
        ({"attempts": [generator_pb2.Attempt()]}, errors.InvalidArgument, "has no sources"),
    ],
)
async def test_a_bad_request_names_its_fault(
    corpus: Corpus, tmp_path: Path, fields: dict[str, Any], kind: type[errors.Error], words: str
) -> None:
    """Each bad field is refused with its name and what would do."""
    task = await corpus.task("known")
    async with generator(corpus, tmp_path, completion(ANSWER)) as given:
        with pytest.raises(kind, match=words):
            await given.generate(Request(**{"task": task.name, **fields}))
    assert not given.endpoint.bodies


def failed(source: str = KERNEL, **report: Any) -> generator_pb2.Attempt:
    """An attempt that was wrong."""
    given = {"verdict": VerificationReport.MISMATCHED, "explanation": "case small differs at [0]", **report}
    attempt = generator_pb2.Attempt(report=VerificationReport(**given))
    attempt.candidate.format = Candidate.HIP_ABI
    attempt.candidate.sources.append(digest.artifact("kernel.hip", source.encode()))
    return attempt


def seed(source: str = "__global__ void old(float* x) {}\n") -> SeedKernel:
    """A kernel in CUDA."""
    return SeedKernel(dialect=SeedKernel.CUDA, sources=[digest.artifact("old.cu", source.encode())])


async def test_a_reflection_is_kept_with_its_tokens(corpus: Corpus, tmp_path: Path) -> None:
    """The model reads the source and the report; what it says comes back without its thoughts, all of it is stored."""
    task = await corpus.task()
    answer = f"<think>Hm.</think>\n{SAID}\n"
    async with generator(corpus, tmp_path, completion(answer)) as given:
        made = await given.reflect(Reflect(task=task.name, attempts=[failed()]))
        prompt = (await given.blobs.get(made.prompt_digest)).read_text()
        raw = (await given.blobs.get(made.completion_digest)).read_text()
    assert (made.model, made.text, made.prompt_tokens, made.completion_tokens) == ("models/m", SAID, 100, 20)
    assert raw == answer
    assert all(words in prompt for words in ("class Model", "__global__ void k()", "differs at [0]", "MISMATCHED"))


async def test_a_repeated_reflection_asks_nobody_again(corpus: Corpus, tmp_path: Path) -> None:
    """The same request ID gets the same answer; for another request it is refused."""
    task = await corpus.task()
    request = Reflect(task=task.name, attempts=[failed()], request_id=str(uuid.uuid4()))
    async with generator(corpus, tmp_path, completion(SAID)) as given:
        both = [await given.reflect(request), await given.reflect(request)]
        with pytest.raises(errors.InvalidArgument, match="was used for another request"):
            await given.generate(Request(task=task.name, request_id=request.request_id))
        asked = len(given.endpoint.bodies)
    assert both[0] == both[1]
    assert asked == 1


async def test_a_reflection_is_part_of_the_next_prompt(corpus: Corpus, tmp_path: Path) -> None:
    """The author reads what the reviewer said of the attempt."""
    task = await corpus.task()
    attempt = failed()
    attempt.reflection.text = SAID
    async with generator(corpus, tmp_path, completion(ANSWER)) as given:
        await given.generate(Request(task=task.name, attempts=[attempt]))
        asked = given.endpoint.bodies[0]["messages"][1]["content"]
    assert f"> {SAID}" in asked


@pytest.mark.parametrize("answer", ["", "  \n", "<think>this may take a wh"])
async def test_a_reflection_that_says_nothing_is_a_failed_precondition(
    corpus: Corpus, tmp_path: Path, answer: str
) -> None:
    """PARSE_FAILED: the caller goes on without one."""
    task = await corpus.task()
    async with generator(corpus, tmp_path, completion(answer)) as given:
        with pytest.raises(errors.FailedPrecondition) as refused:
            await given.reflect(Reflect(task=task.name, attempts=[failed()]))
    assert refused.value.reason == "PARSE_FAILED"


@pytest.mark.parametrize(
    ("fields", "kind", "words"),
    [
        ({"task": "softmax"}, errors.InvalidArgument, "task"),
        ({"model": "models/none"}, errors.NotFound, "known are models/m"),
        ({"attempts": []}, errors.InvalidArgument, "attempts"),
        ({"attempts": [failed(verdict=0)]}, errors.InvalidArgument, r"attempts\[0\].report.verdict"),
        ({"target": "gfx1100"}, errors.InvalidArgument, "known are gfx90a, gfx942, gfx950"),
        ({"request_id": "1"}, errors.InvalidArgument, "UUID4"),
    ],
)
async def test_a_bad_request_for_a_reflection_names_its_fault(
    corpus: Corpus, tmp_path: Path, fields: dict[str, Any], kind: type[errors.Error], words: str
) -> None:
    """Each bad field is refused with its name and what would do."""
    task = await corpus.task("known")
    async with generator(corpus, tmp_path, completion(SAID)) as given:
        with pytest.raises(kind, match=words):
            await given.reflect(Reflect(**{"task": task.name, "attempts": [failed()], **fields}))
    assert not given.endpoint.bodies


async def test_a_seed_kernel_is_shown_with_what_changes(corpus: Corpus, tmp_path: Path) -> None:
    """A port begins from the seed's source and from what is different on CDNA."""
    task = await corpus.task()
    async with generator(corpus, tmp_path, completion(ANSWER)) as given:
        await given.generate(Request(task=task.name, seed_kernel=seed()))
        asked = given.endpoint.bodies[0]["messages"][1]["content"]
    assert all(words in asked for words in ("A kernel in CUDA", "__global__ void old", "64 lanes, not 32", "MFMA"))


@pytest.mark.parametrize(
    ("given_seed", "words"),
    [
        (SeedKernel(sources=seed().sources), "seed_kernel.dialect: 0 is none of CUDA, HIP, TRITON"),
        (SeedKernel(dialect=SeedKernel.CUDA), "seed_kernel.sources"),
        (seed(""), r"seed_kernel.sources\[0\].contents"),
        (seed("x" * 200_000), "do not fit .* KERNELVAULT_OPENAI_PROMPT_TOKENS"),
    ],
)
async def test_a_bad_seed_kernel_names_its_fault(
    corpus: Corpus, tmp_path: Path, given_seed: SeedKernel, words: str
) -> None:
    """A seed without a dialect, without a source or larger than a prompt is refused."""
    task = await corpus.task("known")
    async with generator(corpus, tmp_path, completion(ANSWER)) as given:
        with pytest.raises(errors.InvalidArgument, match=words):
            await given.generate(Request(task=task.name, seed_kernel=given_seed))


def optimization(**fields: Any) -> generator_pb2.Optimization:
    """A kernel that passed, of which one function shall be faster."""
    source = digest.artifact("mine.hip", b"__global__ void scale(float* x) { slow(); }\nvoid run() {}\n")
    made = generator_pb2.Optimization(
        kernel=kernel_pb2.KernelDefinition(name="scale", text="__global__ void scale(float* x) { slow(); }", line=1)
    )
    made.baseline.candidate.CopyFrom(Candidate(language=Candidate.HIP, format=Candidate.HIP_ABI, sources=[source]))
    made.baseline.report.verdict = VerificationReport.PASSED
    made.baseline.profile.CopyFrom(profiler_pb2.Profile(time_ns=2500, device="MI300X", method_label="cpu-model"))
    made.MergeFrom(generator_pb2.Optimization(**fields))
    return made


async def test_one_function_is_rewritten(corpus: Corpus, tmp_path: Path) -> None:
    """The model sees the source, its time and the function; what it writes is a function, whatever stands in it."""
    task = await corpus.task()
    text = 'extern "C" __global__ void scale(float* x) { fast(); }\n'
    async with generator(corpus, tmp_path, completion(f"An idea.\n\n```cpp\n{text}```")) as given:
        request = Request(task=task.name, format=Candidate.HIP_TORCH, optimization=optimization())
        request.optimization.baseline.candidate.format = Candidate.HIP_TORCH
        [response] = await given.generate(request)
        system, user = (message["content"] for message in given.endpoint.bodies[0]["messages"])
    assert system.startswith("You make one kernel of a HIP source")
    assert "PYBIND11_MODULE" not in system + user
    assert all(words in user for words in ("void run() {}", "Time: 2.50 µs", "Rewrite `scale`, which begins in line 1"))
    assert response.candidate.sources[0].contents.decode() == text
    assert response.candidate.format == Candidate.HIP_TORCH


async def test_a_whole_source_is_rewritten(corpus: Corpus, tmp_path: Path) -> None:
    """With a source and no function named, the answer is a source."""
    task = await corpus.task()
    asked = optimization()
    asked.ClearField("kernel")
    async with generator(corpus, tmp_path, completion(ANSWER)) as given:
        [response] = await given.generate(Request(task=task.name, optimization=asked))
        system, user = (message["content"] for message in given.endpoint.bodies[0]["messages"])
    assert response.HasField("candidate")
    assert "Write it anew, faster" in user
    assert "What to define" in user
    assert system.startswith("You write GPU kernels")


@pytest.mark.parametrize(
    ("fields", "words"),
    [
        ({"optimization": generator_pb2.Optimization()}, "optimization.baseline.candidate.sources: 0 is outside"),
        ({"optimization": optimization(), "format": Candidate.HIP_TORCH}, "candidate.format: is another one"),
        ({"optimization": optimization(), "seed_kernel": seed()}, "together with `seed_kernel`"),
        (
            {"optimization": optimization(baseline={"report": {"verdict": VerificationReport.UNSAFE}})},
            "report.verdict: is not PASSED",
        ),
        (
            {"optimization": generator_pb2.Optimization(baseline=optimization().baseline, kernel={"name": "scale"})},
            "optimization.kernel.text: is empty; Compiler.ExtractKernel gives it",
        ),
    ],
)
async def test_a_bad_optimization_names_its_fault(
    corpus: Corpus, tmp_path: Path, fields: dict[str, Any], words: str
) -> None:
    """What cannot be made faster is refused before a model is asked."""
    task = await corpus.task("known")
    async with generator(corpus, tmp_path, completion(ANSWER)) as given:
        with pytest.raises(errors.InvalidArgument, match=words):
            await given.generate(Request(task=task.name, **fields))
    assert not given.endpoint.bodies


async def test_the_functional_form_is_an_artifact(corpus: Corpus, tmp_path: Path) -> None:
    """The model's functional form comes back unchecked, with its digest."""
    task = await corpus.task("known")
    async with generator(corpus, tmp_path, completion("```python\ndef module_fn(x):\n    return x\n```")) as given:
        request = generator_pb2.GenerateFunctionalRequest(task=task)
        response = await client.call(given.stub.GenerateFunctional, request)
    assert response.functional == digest.artifact("functional.py", b"def module_fn(x):\n    return x\n")


async def test_models_are_listed(corpus: Corpus, tmp_path: Path) -> None:
    """Every model has its backend."""
    async with generator(corpus, tmp_path, completion("")) as given:
        response = await client.call(given.stub.ListModels, generator_pb2.ListModelsRequest())
    assert [(one.name, one.backend) for one in response.models] == [("models/m", "openai")]


@pytest.fixture
def process(corpus_service: Service, tmp_path: Path) -> Iterator[Service]:
    """The generator as `python -m svc_generator`, with a model behind an endpoint that is not there."""
    environment = {
        "KERNELVAULT_ADDRESS": "127.0.0.1:0",
        "KERNELVAULT_CORPUS_ADDRESS": corpus_service.address,
        "KERNELVAULT_CACHE_DIR": str(tmp_path / "cache"),
        "KERNELVAULT_OPENAI_ENDPOINT": "http://127.0.0.1:9/v1",
        "KERNELVAULT_OPENAI_MODELS": "qwen,llama",
    }
    with Service("svc_generator", environment) as service:
        yield service


async def test_the_process_serves_rules_and_models(process: Service, corpus: Corpus) -> None:
    """All backends are wired; what the rules cannot lower is a failed precondition that says why."""
    task = await corpus.task()
    async with client.channel(process.address) as channel:
        stub = generator_pb2_grpc.GeneratorStub(channel)  # type: ignore[no-untyped-call]
        listed = await client.call(stub.ListModels, generator_pb2.ListModelsRequest())
        with pytest.raises(errors.FailedPrecondition) as refused:
            await anext(client.stream(stub.GenerateCandidates, Request(task=task.name), timeout_s=60))
        for refused_call in (
            client.call(stub.ReflectOnAttempt, Reflect(task=task.name, attempts=[failed()])),
            anext(client.stream(stub.GenerateCandidates, Request(task=task.name, seed_kernel=seed()), timeout_s=60)),
        ):
            with pytest.raises(errors.Error, match="ask a language model"):
                await refused_call
    assert [one.name for one in listed.models] == ["models/llama", "models/qwen", "models/rules"]
    assert refused.value.reason == "NOT_LOWERABLE"


@pytest.mark.parametrize(
    ("environment", "words"),
    [
        ({"KERNELVAULT_OPENAI_MODELS": "m"}, "set both"),
        ({"KERNELVAULT_DEFAULT_MODEL": "models/none"}, "known are models/rules"),
        ({"KERNELVAULT_OPENAI_MODEL": "m"}, "did you mean KERNELVAULT_OPENAI_MODELS"),
    ],
)
def test_a_wrong_configuration_is_one_line(environment: dict[str, str], words: str, tmp_path: Path) -> None:
    """The process ends with 2 and says what to set."""
    given = {"PATH": "/usr/bin", "KERNELVAULT_CACHE_DIR": str(tmp_path), **environment}
    ended = subprocess.run(
        [sys.executable, "-m", "svc_generator"], env=given, capture_output=True, text=True, check=False, timeout=60
    )
    assert (ended.returncode, len(ended.stderr.splitlines())) == (2, 1)
    assert words in ended.stderr
