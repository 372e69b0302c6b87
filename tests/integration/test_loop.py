"""The agent loop with the real corpus; the other services are real servers that answer as a test says."""

import asyncio
import contextlib
import dataclasses
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest
from google.rpc.status_pb2 import Status

from kernelvault import digest, errors
from kernelvault.services import Client
from kernelvault.v1 import (
    compiler_pb2,
    compiler_pb2_grpc,
    corpus_pb2,
    generator_pb2,
    generator_pb2_grpc,
    kernel_pb2,
    profiler_pb2,
    profiler_pb2_grpc,
)
from orchestrator import seeds
from orchestrator.baseline import Baseline
from orchestrator.commands import reports
from orchestrator.journal import Journal
from orchestrator.loop import Loop, Outcome, key_of
from orchestrator.options import Options
from tests import messages
from tests.conftest import Serve
from tests.services import Service

Report = compiler_pb2.VerificationReport
Generated = generator_pb2.GenerateCandidatesResponse


class Silent:
    """A watcher that shows nothing."""

    def stage(self, title: str, stage: str) -> None: ...

    def ended(self, outcome: Outcome) -> None: ...


def source_of(request: generator_pb2.GenerateCandidatesRequest) -> str:
    return f"// attempt {len(request.attempts) + 1} at {request.task}"


async def generate(request: Any, context: Any) -> Any:
    sources = [digest.artifact("kernel.hip", source_of(request).encode())]
    name = digest.candidate_name(request.task, request.language, request.format, "", sources)
    candidate = kernel_pb2.Candidate(name=name, language=request.language, format=request.format, sources=sources)
    candidate.generation.model = request.model
    yield Generated(candidate=candidate)


async def verify(request: Any, context: Any) -> Any:
    yield compiler_pb2.VerifyCandidateResponse(stage=compiler_pb2.VerifyCandidateResponse.COMPILING)
    report = Report(verdict=Report.PASSED, task=request.action.task, action_digest=digest.of_message(request.action))
    yield compiler_pb2.VerifyCandidateResponse(report=report)


async def profile(request: Any, context: Any) -> Any:
    made = profiler_pb2.Profile(device=request.device, method_label="cpu-model", time_ns=1000)
    made.verify_action_digest.CopyFrom(request.verify_action_digest)
    yield profiler_pb2.ProfileCandidateResponse(profile=made)


async def prepare(request: Any, context: Any) -> compiler_pb2.PrepareTaskResponse:
    task = request.task
    task.cases.extend(messages.task("any").cases)
    return compiler_pb2.PrepareTaskResponse(task=task)


async def reflect(request: Any, context: Any) -> Any:
    raise errors.FailedPrecondition("NO_MODEL", "rules reflect on nothing")


async def fail(request: Any, context: Any) -> Any:
    """Finds every candidate wrong."""
    digest_ = digest.of_message(request.action)
    report = Report(verdict=Report.MISMATCHED, task=request.action.task, action_digest=digest_, explanation="wrong")
    yield compiler_pb2.VerifyCandidateResponse(report=report)


async def extract(request: Any, context: Any) -> compiler_pb2.ExtractKernelResponse:
    kernel = kernel_pb2.KernelDefinition(name=request.kernel, text="the old text", line=3)
    return compiler_pb2.ExtractKernelResponse(kernel=kernel)


async def splice(request: Any, context: Any) -> compiler_pb2.SpliceKernelResponse:
    whole = request.source.contents + request.replacement.encode()
    return compiler_pb2.SpliceKernelResponse(source=digest.artifact(request.source.path, whole))


def baseline(kernel: str = "") -> Baseline:
    """A kernel that shall be faster."""
    source = digest.artifact("mine.hip", b"__global__ void scale(float* x) {}\n")
    candidate = kernel_pb2.Candidate(
        language=kernel_pb2.Candidate.HIP, format=kernel_pb2.Candidate.HIP_ABI, sources=[source]
    )
    return Baseline(candidate=candidate, kernel=kernel)


class Reviewer:
    """Reflects with the number of the attempt; remembers what it and the author were asked."""

    def __init__(self) -> None:
        self.asked: list[Any] = []
        self.told: list[Any] = []

    async def reflect(self, request: Any, context: Any) -> Any:
        self.asked.append(request)
        said = kernel_pb2.Reflection(model=request.model, text=f"attempt {len(request.attempts)} sums twice")
        return generator_pb2.ReflectOnAttemptResponse(reflection=said)

    async def generate(self, request: Any, context: Any) -> Any:
        self.told.append(request)
        async for response in generate(request, context):
            yield response

    def heard(self) -> list[list[str]]:
        """The reflections that each request for a candidate had."""
        return [[attempt.reflection.text for attempt in request.attempts] for request in self.told]


@dataclasses.dataclass
class World:
    """A client of all services, and a run in it."""

    client: Client
    folder: Path
    run: str

    async def work(self, *tasks: kernel_pb2.Task, attempts: int = 2, **chosen: Any) -> list[Outcome]:
        options = Options(attempts=attempts, **chosen)
        journal = Journal(self.folder / f"{self.run}.jsonl")
        journal.open(options.decisive(), {key_of(task) for task in tasks})
        cache = self.folder / "blobs"
        return await Loop(self.client, journal, options, run=self.run, cache=cache, watcher=Silent()).work(tasks)

    async def stored(self) -> list[corpus_pb2.Sample]:
        where = corpus_pb2.SampleFilter(runs=[self.run])
        return [await self.client.get_sample(sample.name) async for sample in self.client.samples(where)]


Enter = Callable[..., Awaitable[World]]


@pytest.fixture
async def world(serve: Serve, corpus_service: Service, tmp_path: Path, request: pytest.FixtureRequest) -> Any:
    """Makes a world whose services answer as told, or else well."""
    async with contextlib.AsyncExitStack() as stack:

        async def enter(**methods: Any) -> World:
            addresses = {
                "corpus": corpus_service.address,
                "generator": await serve(
                    of=generator_pb2_grpc,
                    name="Generator",
                    GenerateCandidates=methods.get("generate", generate),
                    ReflectOnAttempt=methods.get("reflect", reflect),
                ),
                "compiler": await serve(
                    of=compiler_pb2_grpc,
                    name="Compiler",
                    PrepareTask=methods.get("prepare", prepare),
                    ExtractKernel=extract,
                    SpliceKernel=methods.get("splice", splice),
                    VerifyCandidate=methods.get("verify", verify),
                ),
                "profiler": await serve(
                    of=profiler_pb2_grpc, name="Profiler", ProfileCandidate=methods.get("profile", profile)
                ),
            }
            client = await stack.enter_async_context(Client(addresses, timeout_s=20))
            return World(client, tmp_path, request.node.name)

        yield enter


def task(title: str) -> kernel_pb2.Task:
    """A task without cases, as it is before it is prepared."""
    made = messages.task(title)
    made.ClearField("cases")
    return made


async def test_each_attempt_is_kept_with_its_lineage(world: Enter) -> None:
    """Attempts refer to the sample that they refined, and to their run."""
    here = await world()

    [outcome] = await here.work(task("lineage"))
    first, second = outcome.samples

    assert [sample.report.verdict for sample in outcome.samples] == [Report.PASSED, Report.PASSED]
    assert second.lineage == corpus_pb2.Lineage(run=here.run, attempt=2, parent=first.name)
    assert {sample.name for sample in await here.stored()} == {first.name, second.name}


async def test_what_is_not_timed_is_kept_and_said(world: Enter) -> None:
    """A candidate whose host code acts on device data is stored without a profile, and the table says why."""

    async def dependent(request: Any, context: Any) -> Any:
        async for response in verify(request, context):
            if response.HasField("report"):
                reason = "host code reads device memory (hipMemcpy)"
                response.report.plans.add(case_id="odd", data_dependent=True, limitations=[reason])
            yield response

    async def refuse(request: Any, context: Any) -> Any:
        raise errors.FailedPrecondition("DATA_DEPENDENT", "host code acts on device data in odd")
        yield

    here = await world(verify=dependent, profile=refuse)
    [outcome] = await here.work(task("untimed"), attempts=1)

    [sample] = await here.stored()
    assert (sample.report.verdict, sample.HasField("profile")) == (Report.PASSED, False)
    assert reports.explanation_of(outcome) == "not timed: host code reads device memory (hipMemcpy)"


async def test_results_are_fed_back_without_plans(world: Enter) -> None:
    """The generator learns what became of its earlier attempts."""
    seen: list[Any] = []

    async def remember(request: Any, context: Any) -> Any:
        seen.append(request)
        async for response in generate(request, context):
            yield response

    async def verify_with_plan(request: Any, context: Any) -> Any:
        async for response in verify(request, context):
            if response.HasField("report"):
                response.report.plans.add(case_id="c")
            yield response

    here = await world(generate=remember, verify=verify_with_plan)
    [outcome] = await here.work(task("feedback"))

    [attempt] = seen[1].attempts
    assert attempt.candidate == outcome.samples[0].candidate
    assert (attempt.report.verdict, list(attempt.report.plans)) == (Report.PASSED, [])
    assert attempt.profile.time_ns == 1000


async def test_an_answer_without_a_kernel_becomes_a_sample(world: Enter) -> None:
    """PARSE_FAILED is a fact about the model, and worth keeping."""

    async def babble(request: Any, context: Any) -> Any:
        yield Generated(error=Status(code=3, message=f"no code block ({len(request.attempts)})"))

    here = await world(generate=babble)
    [outcome] = await here.work(task("babble"))

    assert [sample.report.verdict for sample in await here.stored()] == [Report.PARSE_FAILED] * 2
    assert outcome.samples[0].report.explanation == "no code block (0)"


async def test_what_cannot_be_lowered_is_said_and_not_stored(world: Enter) -> None:
    """The table names the operator; the corpus holds no sample without a candidate."""

    async def refuse(request: Any, context: Any) -> Any:
        raise errors.FailedPrecondition("NOT_LOWERABLE", "cannot lower aten.sort")
        yield

    here = await world(generate=refuse)
    [outcome] = await here.work(task("refused"))

    assert (outcome.note, outcome.failed) == ("not lowered: cannot lower aten.sort", False)
    assert await here.stored() == []


async def test_a_generator_without_ideas_ends_the_attempts(world: Enter) -> None:
    """Nobody asks again once there is nothing better."""

    async def once(request: Any, context: Any) -> Any:
        if not request.attempts:
            async for response in generate(request, context):
                yield response

    [outcome] = await (await world(generate=once)).work(task("once"), attempts=5)

    assert (len(outcome.samples), outcome.note) == (1, "nothing better known")


async def test_a_reference_that_cannot_be_used_is_said(world: Enter) -> None:
    """A task that does not run is the task's fault, not a kernel's."""

    async def unfit(request: Any, context: Any) -> Any:
        raise errors.FailedPrecondition("REFERENCE_UNFIT", "the reference hangs")

    [outcome] = await (await world(prepare=unfit)).work(task("unfit"))

    assert (outcome.note, outcome.failed, outcome.samples) == ("reference: the reference hangs", False, [])


async def test_a_platform_fault_is_no_verdict_and_stops_no_other_task(world: Enter) -> None:
    """What the platform got wrong leaves no sample, and the run can be finished later."""
    broken = True

    async def sometimes(request: Any, context: Any) -> Any:
        if broken and b"sick" in request.action.sources[0].contents:
            raise RuntimeError("disk full")
        async for response in verify(request, context):
            yield response

    here = await world(verify=sometimes)
    both = (task("sick"), task("well"))
    sick, well = await here.work(*both)
    kept = {sample.task for sample in await here.stored()}
    broken = False
    mended, _ = await here.work(*both)

    assert (sick.failed, well.failed) == (True, False)
    assert kept == {well.task.name}
    assert [sample.report.verdict for sample in mended.samples] == [Report.PASSED, Report.PASSED]


async def test_a_report_that_blames_the_platform_is_no_verdict(world: Enter) -> None:
    """Even a report cannot make a platform's fault a candidate's."""

    async def blame(request: Any, context: Any) -> Any:
        report = Report(
            verdict=Report.CRASHED, fault_owner=Report.PLATFORM, action_digest=digest.of_message(request.action)
        )
        yield compiler_pb2.VerifyCandidateResponse(report=report)

    here = await world(verify=blame)
    [outcome] = await here.work(task("blamed"))

    assert outcome.failed
    assert await here.stored() == []


async def test_a_broken_platform_is_not_tried_for_ever(world: Enter) -> None:
    """After a number of faults in a row the rest of the run is left for later."""
    tried = []

    async def broken(request: Any, context: Any) -> Any:
        tried.append(request)
        raise RuntimeError("no compiler")

    outcomes = await (await world(prepare=broken)).work(*(task(f"broken{number}") for number in range(20)))

    assert all(outcome.failed for outcome in outcomes)
    assert len(tried) < 15


async def test_a_full_queue_is_obeyed(world: Enter) -> None:
    """A run waits for as long as it is told, and then goes on."""
    refused = 0

    async def busy(request: Any, context: Any) -> Any:
        nonlocal refused
        if refused < 2:
            refused += 1
            raise errors.Unavailable("QUEUE_FULL", "the queue is full", retry_after_s=0.05)
        async for response in verify(request, context):
            yield response

    [outcome] = await (await world(verify=busy)).work(task("busy"), attempts=1)

    assert (outcome.failed, len(outcome.samples), refused) == (False, 1, 2)


async def test_running_again_adds_nothing(world: Enter) -> None:
    """Equal results are one sample, however often they are made."""
    here = await world()
    [first] = await here.work(task("again"))
    [second] = await here.work(task("again"))

    assert second.samples == first.samples
    assert len(await here.stored()) == 2


async def test_an_interrupted_run_goes_on_where_it_stopped(world: Enter) -> None:
    """What was kept before Ctrl-C is not asked for again, and is still fed back."""
    asked: list[int] = []
    hang = asyncio.Event()

    async def second_hangs(request: Any, context: Any) -> Any:
        asked.append(len(request.attempts))
        if request.attempts and not hang.is_set():
            hang.set()
            await asyncio.sleep(60)
        async for response in generate(request, context):
            yield response

    here = await world(generate=second_hangs)
    running = asyncio.create_task(here.work(task("interrupted")))
    await asyncio.wait_for(hang.wait(), 10)
    running.cancel()
    with pytest.raises(asyncio.CancelledError):
        await running
    [outcome] = await here.work(task("interrupted"))

    assert asked == [0, 1, 1]
    assert [sample.lineage.attempt for sample in outcome.samples] == [1, 2]


async def test_a_failure_is_reflected_on_before_the_next_attempt(world: Enter) -> None:
    """The author reads every reflection so far, and a sample keeps what was said of its parent."""
    reviewer = Reviewer()
    here = await world(generate=reviewer.generate, reflect=reviewer.reflect, verify=fail)
    [outcome] = await here.work(task("reflected"), attempts=3)

    first, second = "attempt 1 sums twice", "attempt 2 sums twice"
    assert reviewer.heard() == [[], [first], [first, second]]
    assert [sample.lineage.reflection.text for sample in outcome.samples] == ["", first, second]
    assert reviewer.asked[1].attempts[0].reflection.text == first
    assert reviewer.asked[0].attempts[0].report.explanation == "wrong"


async def test_what_passed_is_not_reflected_on(world: Enter) -> None:
    """A reflection explains a failure."""
    reviewer = Reviewer()
    here = await world(generate=reviewer.generate, reflect=reviewer.reflect)
    await here.work(task("passed"), attempts=3)

    assert reviewer.asked == []


async def test_nobody_reflects_where_the_user_does_not_want_it(world: Enter) -> None:
    """`--no-reflect` saves the tokens."""
    reviewer = Reviewer()
    here = await world(generate=reviewer.generate, reflect=reviewer.reflect, verify=fail)
    await here.work(task("unreflected"), attempts=2, reflect=False)

    assert (reviewer.asked, reviewer.heard()) == ([], [[], [""]])


async def test_an_author_without_opinions_is_asked_once(world: Enter) -> None:
    """`rules` reflects on nothing, and the run goes on."""
    asked = []

    async def refuse(request: Any, context: Any) -> Any:
        asked.append(request)
        return await reflect(request, context)

    here = await world(reflect=refuse, verify=fail)
    [outcome] = await here.work(task("rules"), attempts=4)

    assert (len(asked), len(outcome.samples), outcome.note) == (1, 4, "")


async def test_an_empty_reflection_is_not_asked_for_again(world: Enter) -> None:
    """A model that says nothing ends no run and is not fed back."""
    reviewer = Reviewer()

    async def nothing(request: Any, context: Any) -> Any:
        raise errors.FailedPrecondition("PARSE_FAILED", "the answer says nothing")

    here = await world(generate=reviewer.generate, reflect=nothing, verify=fail)
    [outcome] = await here.work(task("silent"), attempts=2)

    assert (len(outcome.samples), outcome.note) == (2, "")
    assert not reviewer.told[1].attempts[0].HasField("reflection")
    assert not outcome.samples[1].lineage.HasField("reflection")


async def test_a_spent_budget_ends_the_attempts(world: Enter) -> None:
    """Reflections count against the token budget like candidates."""

    async def spent(request: Any, context: Any) -> Any:
        raise errors.ResourceExhausted("TOKEN_BUDGET", "1000 tokens are used")

    [outcome] = await (await world(reflect=spent, verify=fail)).work(task("spent"), attempts=3)

    assert (len(outcome.samples), outcome.note, outcome.failed) == (1, "generator: 1000 tokens are used", False)


async def test_a_resumed_run_does_not_reflect_again(world: Enter) -> None:
    """What the model said before a crash is in the journal, and is still fed back."""
    reviewer, hang = Reviewer(), asyncio.Event()

    async def second_hangs(request: Any, context: Any) -> Any:
        if request.attempts and not hang.is_set():
            hang.set()
            await asyncio.sleep(60)
        async for response in reviewer.generate(request, context):
            yield response

    here = await world(generate=second_hangs, reflect=reviewer.reflect, verify=fail)
    running = asyncio.create_task(here.work(task("resumed")))
    await asyncio.wait_for(hang.wait(), 10)
    running.cancel()
    with pytest.raises(asyncio.CancelledError):
        await running
    [outcome] = await here.work(task("resumed"))

    assert len(reviewer.asked) == 1
    assert reviewer.heard() == [[], ["attempt 1 sums twice"]]
    assert outcome.samples[1].lineage.reflection.text == "attempt 1 sums twice"


async def test_a_seed_kernel_travels_and_is_remembered(world: Enter, tmp_path: Path) -> None:
    """Each request carries the seed; each sample's lineage says where it came from, and its bytes are kept."""
    path = tmp_path / "softmax.cu"
    path.write_text("__global__ void softmax(float* x) {}\n")
    seed, reviewer = seeds.read(path), Reviewer()
    here = await world(generate=reviewer.generate)
    [outcome] = await here.work(task("ported"), seed=seed)

    assert [request.seed_kernel for request in reviewer.told] == [seed, seed]
    kept = outcome.samples[1].lineage.seed_kernel
    assert (kept.dialect, kept.provenance.source, kept.provenance.license) == (
        kernel_pb2.SeedKernel.CUDA,
        str(path),
        "",
    )
    assert not kept.sources[0].contents
    blobs = here.client.blobs(tmp_path / "other")
    assert (await blobs.get(kept.sources[0].digest)).read_bytes() == path.read_bytes()


async def test_a_baseline_is_judged_first_and_remembered(world: Enter) -> None:
    """It is a sample of its own, in every request and in each lineage, and it is judged once in a run."""
    reviewer = Reviewer()
    here = await world(generate=reviewer.generate)
    [outcome] = await here.work(task("faster"), baseline=baseline())
    first, second = outcome.samples
    told = [request.optimization for request in reviewer.told]

    assert outcome.baseline is not None
    assert outcome.baseline.candidate.sources == baseline().candidate.sources
    assert (outcome.baseline.lineage.attempt, outcome.baseline.profile.time_ns) == (0, 1000)
    assert [one.baseline.candidate for one in told] == [outcome.baseline.candidate] * 2
    assert not any(one.HasField("kernel") for one in told)
    assert first.lineage.baseline == second.lineage.baseline == outcome.baseline.name
    assert 0 < first.lineage.edit_distance <= 1
    assert outcome.speedup() == 1.0
    [again] = await here.work(task("faster"), baseline=baseline(), attempts=3)
    assert again.baseline is not None
    assert again.baseline.name == outcome.baseline.name


async def test_a_wrong_baseline_ends_the_task(world: Enter) -> None:
    """Nobody is asked to make faster what is wrong."""
    reviewer = Reviewer()
    [outcome] = await (await world(generate=reviewer.generate, verify=fail)).work(task("bad"), baseline=baseline())

    assert (outcome.note, outcome.samples) == ("the baseline does not pass: MISMATCHED: wrong", [])
    assert not reviewer.told


async def test_a_rewritten_function_is_verified_in_its_place(world: Enter) -> None:
    """The generator sees the function, the compiler the whole source; the lineage names the function."""
    reviewer = Reviewer()
    [outcome] = await (await world(generate=reviewer.generate)).work(
        task("spliced"), baseline=baseline("scale"), attempts=1
    )
    [request], [sample] = reviewer.told, outcome.samples

    assert (request.optimization.kernel.name, request.optimization.kernel.text) == ("scale", "the old text")
    whole = baseline().candidate.sources[0].contents + source_of(request).encode()
    assert sample.candidate.sources == [digest.artifact("mine.hip", whole)]
    assert sample.candidate.generation.model == "models/rules"
    assert (sample.report.verdict, sample.lineage.kernel) == (Report.PASSED, "scale")


async def test_a_function_that_does_not_fit_is_no_candidate(world: Enter) -> None:
    """Why it does not is kept, and told with the next question."""

    async def refuse(request: Any, context: Any) -> compiler_pb2.SpliceKernelResponse:
        return compiler_pb2.SpliceKernelResponse(refusal="it changes `run`")

    reviewer = Reviewer()
    here = await world(generate=reviewer.generate, reflect=reviewer.reflect, splice=refuse)
    [outcome] = await here.work(task("unfit"), baseline=baseline("scale"))
    first = outcome.samples[0]

    assert (first.report.verdict, first.report.explanation) == (Report.PARSE_FAILED, "it changes `run`")
    assert (first.lineage.kernel, first.lineage.edit_distance) == ("scale", 0)
    assert reviewer.told[1].attempts[0].report.explanation == "it changes `run`"


async def test_a_model_that_repeats_itself_is_asked_anew(world: Enter) -> None:
    """A repetition is an attempt, and the next question is another one."""
    reviewer = Reviewer()

    async def same(request: Any, context: Any) -> Any:
        reviewer.told.append(request)
        bare = generator_pb2.GenerateCandidatesRequest(task=request.task, language="HIP", format="HIP_ABI")
        async for response in generate(bare, context):
            yield response

    here = await world(generate=same, reflect=reviewer.reflect, verify=fail)
    await here.work(task("repeated"), attempts=3)

    assert [len(request.attempts) for request in reviewer.told] == [0, 1, 2]
    assert len(reviewer.asked) == 1
    assert len({request.request_id for request in reviewer.told}) == 3
    assert len({request.sampling.seed for request in reviewer.told}) == 3


async def test_what_the_generator_refuses_is_not_the_platform(world: Enter) -> None:
    """A seed that does not fit the prompt is the user's to mend; the run goes on afterwards."""

    async def refuse(request: Any, context: Any) -> Any:
        raise errors.InvalidArgument("seed_kernel.sources", "do not fit")
        yield

    [outcome] = await (await world(generate=refuse)).work(task("refusal"))

    assert (outcome.failed, outcome.note) == (True, "refused: seed_kernel.sources: do not fit")


async def test_many_attempts_are_told_in_part(world: Enter) -> None:
    """A request has at most 64 attempts: the newest ones, and the fastest."""
    reviewer = Reviewer()

    async def first_passes(request: Any, context: Any) -> Any:
        judge = fail if b"attempt 1 " not in request.action.sources[0].contents else verify
        async for response in judge(request, context):
            yield response

    async def numbered(request: Any, context: Any) -> Any:
        reviewer.told.append(request)
        sources = [digest.artifact("kernel.hip", f"// attempt {request.sampling.seed + 1} ".encode())]
        name = digest.candidate_name(request.task, request.language, request.format, "", sources)
        candidate = kernel_pb2.Candidate(name=name, language=request.language, format=request.format, sources=sources)
        yield Generated(candidate=candidate)

    here = await world(generate=numbered, reflect=reviewer.reflect, verify=first_passes)
    [outcome] = await here.work(task("many"), attempts=67, reflect=False)

    assert len(outcome.samples) == 67
    told = [attempt.candidate.sources[0].contents.decode().split()[2] for attempt in reviewer.told[-1].attempts]
    assert told == ["1", *map(str, range(4, 67))]
