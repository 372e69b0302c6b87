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
from kernelvault.v1 import corpus_pb2_grpc, generator_pb2, generator_pb2_grpc
from kernelvault.v1.kernel_pb2 import Candidate
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


class Generator:
    """A served generator and what is behind it."""

    def __init__(self, channel: Any, blobs: Blobs, endpoint: FakeEndpoint) -> None:
        self.stub = generator_pb2_grpc.GeneratorStub(channel)  # type: ignore[no-untyped-call]
        self.blobs = blobs
        self.endpoint = endpoint

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
