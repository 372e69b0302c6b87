"""What the corpus keeps, and how it is found again."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

import pytest

from kernelvault import errors
from kernelvault.v1 import compiler_pb2, corpus_pb2, kernel_pb2
from tests import messages
from tests.corpus import Corpus

REPORT = compiler_pb2.VerificationReport


async def stored_names(corpus: Corpus, task: str) -> list[str]:
    """The names of a task's samples, page by page."""
    names: list[str] = []
    request = corpus_pb2.ListSamplesRequest(filter=corpus_pb2.SampleFilter(tasks=[task]))
    while True:
        page = await corpus.call("ListSamples", request)
        names += [sample.name for sample in page.samples]
        if not page.next_page_token:
            return names
        request.page_token = page.next_page_token


async def test_an_equal_task_is_one_task(corpus: Corpus) -> None:
    """Creating a task again returns the stored one, its creation time included."""
    first = await corpus.task("twice")
    again = await corpus.task("twice")
    read = await corpus.call("GetTask", corpus_pb2.GetTaskRequest(name=first.name))
    assert again == first == read
    assert first.name.startswith("tasks/twice-")
    assert (await corpus.task("twice", reference="other")).name != first.name


def _retitle(task: kernel_pb2.Task) -> None:
    task.title = "Soft max"


def _unsource(task: kernel_pb2.Task) -> None:
    task.ClearField("reference")


def _misdigest(task: kernel_pb2.Task) -> None:
    task.reference.digest.hash = "0" * 64


def _overgrow(task: kernel_pb2.Task) -> None:
    task.reference.ClearField("digest")
    task.reference.contents = b" " * ((1 << 20) + 1)


def _uncase(task: kernel_pb2.Task) -> None:
    task.ClearField("cases")


def _recase(task: kernel_pb2.Task) -> None:
    task.cases[1].id = task.cases[0].id


def _rename(task: kernel_pb2.Task) -> None:
    task.name = "tasks/softmax-000000000000"


@pytest.mark.parametrize(
    ("spoil", "field"),
    [
        (_retitle, "task.title"),
        (_unsource, "task.reference.path"),
        (_misdigest, "task.reference.digest"),
        (_overgrow, "task.reference.contents"),
        (_uncase, "task.cases"),
        (_recase, "task.cases"),
        (_rename, "task.name"),
    ],
)
async def test_a_malformed_task_is_refused(
    corpus: Corpus, spoil: Callable[[kernel_pb2.Task], None], field: str
) -> None:
    """INVALID_ARGUMENT names the field."""
    task = messages.task()
    spoil(task)
    with pytest.raises(errors.InvalidArgument) as raised:
        await corpus.call("CreateTask", corpus_pb2.CreateTaskRequest(task=task))
    assert raised.value.field == field


async def test_tasks_page_in_the_order_of_their_names(corpus: Corpus) -> None:
    """Every task is listed once, whatever the page size."""
    created = {(await corpus.task(f"paged{index}")).name for index in range(5)}
    names: list[str] = []
    request = corpus_pb2.ListTasksRequest(page_size=2)
    while True:
        page = await corpus.call("ListTasks", request)
        assert len(page.tasks) <= 2
        names += [task.name for task in page.tasks]
        if not page.next_page_token:
            break
        request.page_token = page.next_page_token
    assert names == sorted(set(names))
    assert created <= set(names)


@pytest.mark.parametrize(("name", "kind"), [("ListTasks", "Tasks"), ("ListSamples", "Samples"), ("ListSnapshots", "")])
async def test_a_made_up_page_token_is_refused(corpus: Corpus, name: str, kind: str) -> None:
    """INVALID_ARGUMENT names `page_token`."""
    request = getattr(corpus_pb2, f"{name}Request")(page_token="bm9wZQ==")
    with pytest.raises(errors.InvalidArgument) as raised:
        await corpus.call(name, request)
    assert raised.value.field == "page_token"


async def test_a_repeated_sample_is_stored_once(corpus: Corpus) -> None:
    """Twenty creations of one sample at once, and one later, all return the same stored sample."""
    task = await corpus.task()
    created = await asyncio.gather(*(corpus.sample(task.name, "one") for _ in range(20)))
    created.append(await corpus.sample(task.name, "one", run="another"))
    assert all(sample == created[0] for sample in created)
    assert await stored_names(corpus, task.name) == [created[0].name]


async def test_a_sample_comes_back_whole(corpus: Corpus) -> None:
    """GetSample returns sources and plans, also where the report is large."""
    task = await corpus.task()
    made = messages.sample(task.name, "whole")
    line = compiler_pb2.Diagnostic(file="kernel.hip", line=1, message="unused variable " + "x" * 1000)
    made.report.builds.add(target="gfx942", compiled=True, diagnostics=[line] * 300)
    made.report.case_results.add(case_id="small", passed=True)
    created = await corpus.call("CreateSample", corpus_pb2.CreateSampleRequest(sample=made))
    got = await corpus.call("GetSample", corpus_pb2.GetSampleRequest(name=created.name))
    assert got == created
    assert (got.report, got.profile, got.lineage) == (made.report, made.profile, made.lineage)
    assert got.candidate.sources == made.candidate.sources


async def test_a_listing_has_neither_sources_nor_plans(corpus: Corpus) -> None:
    """Pages stay small."""
    task = await corpus.task()
    created = await corpus.sample(task.name, "listed")
    request = corpus_pb2.ListSamplesRequest(filter=corpus_pb2.SampleFilter(tasks=[task.name]))
    (listed,) = (await corpus.call("ListSamples", request)).samples
    created.candidate.ClearField("sources")
    created.report.ClearField("plans")
    assert listed == created


async def test_samples_page_from_new_to_old(corpus: Corpus) -> None:
    """Every sample is listed once, the newest first."""
    task = await corpus.task()
    created = [(await corpus.sample(task.name, f"kernel {index}")).name for index in range(7)]
    assert await stored_names(corpus, task.name) == created[::-1]


async def test_a_page_token_belongs_to_its_filter(corpus: Corpus) -> None:
    """A token is refused where the filter has changed between two pages."""
    task = await corpus.task()
    for index in range(2):
        await corpus.sample(task.name, f"kernel {index}")
    request = corpus_pb2.ListSamplesRequest(filter=corpus_pb2.SampleFilter(tasks=[task.name]), page_size=1)
    request.page_token = (await corpus.call("ListSamples", request)).next_page_token
    request.filter.verdicts.append(REPORT.PASSED)
    with pytest.raises(errors.InvalidArgument, match="page_token"):
        await corpus.call("ListSamples", request)


async def test_filters_combine(corpus: Corpus) -> None:
    """Every set field must match, by any of its values."""
    task = await corpus.task()
    wanted = await corpus.sample(task.name, "a", run="it's", model="models/one")
    await corpus.sample(task.name, "b", run="it's", model="models/two")
    await corpus.sample(task.name, "c", run="other", model="models/one")
    await corpus.sample(task.name, "d", run="it's", model="models/one", verdict=REPORT.CRASHED)
    matching = corpus_pb2.SampleFilter(
        tasks=[task.name],
        runs=["it's", "none"],
        models=["models/one"],
        verdicts=[REPORT.PASSED, REPORT.UNSAFE],
        languages=[kernel_pb2.Candidate.HIP],
    )
    page = await corpus.call("ListSamples", corpus_pb2.ListSamplesRequest(filter=matching))
    assert [sample.name for sample in page.samples] == [wanted.name]


async def test_a_sample_needs_its_task(corpus: Corpus) -> None:
    """NOT_FOUND names the task."""
    with pytest.raises(errors.NotFound) as raised:
        await corpus.sample("tasks/nothing-0123456789ab", "kernel")
    assert raised.value.metadata == {"task": "tasks/nothing-0123456789ab"}


def _unlanguage(sample: corpus_pb2.Sample) -> None:
    sample.candidate.ClearField("language")


def _empty(sample: corpus_pb2.Sample) -> None:
    sample.candidate.ClearField("sources")


def _escape(sample: corpus_pb2.Sample) -> None:
    sample.candidate.sources[0].path = "../kernel.hip"


def _unjudge(sample: corpus_pb2.Sample) -> None:
    sample.report.ClearField("verdict")


def _unact(sample: corpus_pb2.Sample) -> None:
    sample.report.ClearField("action_digest")


def _fail(sample: corpus_pb2.Sample) -> None:
    sample.report.verdict = REPORT.MISMATCHED


def _orphan(sample: corpus_pb2.Sample) -> None:
    sample.lineage.parent = "samples/first"


def _misname(sample: corpus_pb2.Sample) -> None:
    sample.name = f"samples/{'0' * 64}"


@pytest.mark.parametrize(
    ("spoil", "field"),
    [
        (_unlanguage, "sample.candidate.language"),
        (_empty, "sample.candidate.sources"),
        (_escape, "sample.candidate.sources[0].path"),
        (_unjudge, "sample.report.verdict"),
        (_unact, "sample.report.action_digest"),
        (_fail, "sample.profile"),
        (_orphan, "sample.lineage.parent"),
        (_misname, "sample.name"),
    ],
)
async def test_an_incomplete_sample_is_refused(
    corpus: Corpus, spoil: Callable[[corpus_pb2.Sample], None], field: str
) -> None:
    """INVALID_ARGUMENT names the field."""
    task = await corpus.task("refused")
    sample = messages.sample(task.name, "kernel")
    spoil(sample)
    with pytest.raises(errors.InvalidArgument) as raised:
        await corpus.call("CreateSample", corpus_pb2.CreateSampleRequest(sample=sample))
    assert raised.value.field == field


async def test_answers_without_a_source_are_told_apart_by_their_completions(corpus: Corpus) -> None:
    """Two PARSE_FAILED samples of a task are two samples."""
    task = await corpus.task()
    names = set()
    for text in ("first", "second"):
        sample = messages.sample(task.name, "", verdict=REPORT.PARSE_FAILED)
        sample.candidate.ClearField("sources")
        sample.report.ClearField("action_digest")
        sample.candidate.generation.completion_digest.hash = "ab" * 32 if text == "first" else "cd" * 32
        names.add((await corpus.call("CreateSample", corpus_pb2.CreateSampleRequest(sample=sample))).name)
    assert len(names) == 2


async def test_search_finds_what_holds_all_words(corpus: Corpus) -> None:
    """Words of source, task and explanation count, also of samples that were stored just now."""
    task = await corpus.task("zebra")
    both = await corpus.sample(task.name, "__global__ void warp_shuffle() {}", explanation="off by an aardvark")
    await corpus.sample(task.name, "__global__ void warp() {}")

    async def found(query: str, **matching: list[str]) -> list[str]:
        request = corpus_pb2.SearchSamplesRequest(query=query, filter=corpus_pb2.SampleFilter(**matching))
        return [response.sample.name for response in await corpus.all("SearchSamples", request)]

    assert await found("warp_shuffle") == [both.name]
    assert await found("ZEBRA, aardvark; shuffle") == [both.name]
    assert len(await found("zebra warp")) == 2
    assert await found("zebra giraffe") == []
    assert await found("zebra", runs=["other"]) == []


@pytest.mark.parametrize("query", ["", " \t", "'--;", "x" * 2000])
async def test_a_query_without_words_is_refused(corpus: Corpus, query: str) -> None:
    """INVALID_ARGUMENT names `query`."""
    with pytest.raises(errors.InvalidArgument) as raised:
        await corpus.all("SearchSamples", corpus_pb2.SearchSamplesRequest(query=query))
    assert raised.value.field == "query"


async def test_stats_count_what_matches(corpus: Corpus) -> None:
    """Counts by verdict, language and model; a task is solved by one PASSED sample."""
    solved, unsolved = await corpus.task(), await corpus.task()
    await corpus.sample(solved.name, "a")
    await corpus.sample(solved.name, "b", verdict=REPORT.MISMATCHED, model="models/two")
    await corpus.sample(unsolved.name, "c", verdict=REPORT.MISMATCHED)
    matching = corpus_pb2.SampleFilter(tasks=[solved.name, unsolved.name])
    stats = await corpus.call("GetStats", corpus_pb2.GetStatsRequest(filter=matching))
    stats.ClearField("snapshot_count")
    assert stats == corpus_pb2.Stats(
        sample_count=3,
        task_count=2,
        solved_task_count=1,
        by_verdict={"PASSED": 1, "MISMATCHED": 2},
        by_language={"HIP": 3},
        by_model={"models/rules": 2, "models/two": 1},
    )


@pytest.mark.parametrize("name", [f"/{'0' * 64}", "/x", "", "/' OR name > '", "/../x", "x" * 100_000])
@pytest.mark.parametrize("kind", ["Sample", "Task", "Snapshot"])
async def test_what_is_unknown_is_not_found(corpus: Corpus, kind: str, name: str) -> None:
    """NOT_FOUND has a reason for programs, whatever the name."""
    name = f"{kind.lower()}s{name}" if name.startswith("/") else name
    with pytest.raises(errors.NotFound) as raised:
        await corpus.call(f"Get{kind}", getattr(corpus_pb2, f"Get{kind}Request")(name=name))
    assert raised.value.reason == f"{kind.upper()}_UNKNOWN"
