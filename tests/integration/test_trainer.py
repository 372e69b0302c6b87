"""Rewards over a snapshot of a real corpus."""

from __future__ import annotations

import uuid
from collections.abc import AsyncIterator, Iterator
from typing import Any

import pytest

from kernelvault import client, errors
from kernelvault.v1 import compiler_pb2, corpus_pb2, trainer_pb2, trainer_pb2_grpc
from tests import messages
from tests.corpus import TIMEOUT_S, Corpus
from tests.services import Service

REPORT = compiler_pb2.VerificationReport
Request = trainer_pb2.ComputeRewardsRequest
FIRST = "__global__ void first(float* a, int n) { int i = threadIdx.x; if (i < n) a[i] = a[i] * 2.0f; }"
OTHER = "__global__ void other(float4* p) { p[blockIdx.x].x += p[blockIdx.x].y; __syncthreads(); }"


@pytest.fixture(scope="module")
def trainer_service(corpus_service: Service) -> Iterator[Service]:
    """A trainer beside the module's corpus."""
    with Service("svc_trainer", {"KERNELVAULT_CORPUS_ADDRESS": corpus_service.address}) as service:
        yield service


@pytest.fixture
async def trainer(trainer_service: Service) -> AsyncIterator[Any]:
    """ComputeRewards of the trainer."""
    async with client.channel(trainer_service.address) as channel:
        yield trainer_pb2_grpc.TrainerStub(channel).ComputeRewards


async def frozen(corpus: Corpus, **matching: Any) -> str:
    """The name of a new snapshot."""
    request = corpus_pb2.CreateSnapshotRequest(snapshot_id=uuid.uuid4().hex)
    request.filter.CopyFrom(corpus_pb2.SampleFilter(**matching))
    return (await corpus.call("CreateSnapshot", request)).name


async def rewarded(
    trainer: Any, snapshot: str, formula: trainer_pb2.ComputeRewardsRequest.Formula
) -> dict[str, trainer_pb2.ComputeRewardsResponse]:
    """The responses by sample, in the order in which they came."""
    responses = client.stream(trainer, Request(snapshot=snapshot, formula=formula), timeout_s=TIMEOUT_S)
    return {response.sample: response async for response in responses}


async def test_rewards_follow_the_snapshot(corpus: Corpus, trainer: Any) -> None:
    """One response a sample, in the snapshot's order; speed-ups are over the parent, else over the task's first."""
    task = await corpus.task()
    first = await corpus.sample(task.name, FIRST, time_ns=1000)
    other = await corpus.sample(task.name, OTHER, time_ns=500)
    child = await corpus.sample(task.name, OTHER + FIRST, time_ns=250, parent=other.name)
    wrong = await corpus.sample(task.name, "wrong", verdict=REPORT.MISMATCHED, parent=first.name)
    found = await rewarded(trainer, await frozen(corpus, tasks=[task.name]), Request.CORRECT_SPEEDUP_COPY_PENALTY)
    assert list(found) == sorted(sample.name for sample in (first, other, child, wrong))
    assert {name: response.speedup for name, response in found.items()} == {
        first.name: 1.0,
        other.name: 2.0,
        child.name: 2.0,
        wrong.name: 0.0,
    }
    assert [found[sample.name].reward for sample in (first, other, child, wrong)] == pytest.approx([1.3, 2.6, 2.6, 0])
    assert found[first.name].novelty == 1.0
    assert 0.5 < found[other.name].novelty <= 1.0
    assert 0.2 < found[child.name].novelty < 0.8
    assert found[wrong.name].verdict == REPORT.MISMATCHED


async def test_a_near_copy_of_its_parent_earns_nothing(corpus: Corpus, trainer: Any) -> None:
    """Renaming the parent's variables is no work, however fast it is measured."""
    task = await corpus.task()
    parent = await corpus.sample(task.name, FIRST)
    renamed = FIRST.replace("first", "mine").replace("i ", "index ").replace("[i]", "[index]")
    copy = await corpus.sample(task.name, renamed, time_ns=10, parent=parent.name)
    snapshot = await frozen(corpus, tasks=[task.name])
    assert (await rewarded(trainer, snapshot, Request.CORRECT_SPEEDUP_COPY_PENALTY))[copy.name].reward == 0
    assert (await rewarded(trainer, snapshot, Request.SOFT_CLIP_NOVELTY))[copy.name].reward == pytest.approx(-0.2)


async def test_a_parent_that_the_snapshot_left_out_is_the_baseline(corpus: Corpus, trainer: Any) -> None:
    """It is read from the corpus."""
    task = await corpus.task()
    parent = await corpus.sample(task.name, FIRST, run="before", time_ns=900)
    child = await corpus.sample(task.name, OTHER, run="now", time_ns=300, parent=parent.name)
    found = await rewarded(trainer, await frozen(corpus, tasks=[task.name], runs=["now"]), Request.TRITON_TURN)
    assert found[child.name].speedup == pytest.approx(3.0)
    assert set(found) == {child.name}


async def test_a_failed_parent_is_no_baseline(corpus: Corpus, trainer: Any) -> None:
    """Mending a kernel with few edits is no copy: the first that PASSED is what counts, here the sample itself."""
    task = await corpus.task()
    broken = await corpus.sample(task.name, FIRST, verdict=REPORT.MISMATCHED)
    mended = await corpus.sample(task.name, FIRST.replace("2.0f", "3.0f"), parent=broken.name)
    found = await rewarded(trainer, await frozen(corpus, tasks=[task.name]), Request.CORRECT_SPEEDUP_COPY_PENALTY)
    assert found[mended.name].reward == pytest.approx(1.3)


async def test_faults_of_others_are_skipped(corpus: Corpus, trainer: Any) -> None:
    """NEEDS_DEVICE and faults of the reference or the platform have no reward."""
    task = await corpus.task()
    names = [(await corpus.sample(task.name, "device", verdict=REPORT.NEEDS_DEVICE)).name]
    for owner in (REPORT.REFERENCE, REPORT.PLATFORM):
        sample = messages.sample(task.name, f"fault {owner}", verdict=REPORT.CRASHED)
        sample.report.fault_owner = owner
        names.append((await corpus.call("CreateSample", corpus_pb2.CreateSampleRequest(sample=sample))).name)
    found = await rewarded(trainer, await frozen(corpus, tasks=[task.name]), Request.LEGACY)
    assert {name: (found[name].skipped, found[name].reward) for name in names} == dict.fromkeys(names, (True, 0.0))


async def test_an_unknown_formula_or_snapshot_is_refused(corpus: Corpus, trainer: Any) -> None:
    """INVALID_ARGUMENT lists what is known; NOT_FOUND is the corpus's."""
    with pytest.raises(errors.InvalidArgument, match="SOFT_CLIP_NOVELTY"):
        await rewarded(trainer, "snapshots/a", Request.FORMULA_UNSPECIFIED)
    with pytest.raises(errors.NotFound):
        await rewarded(trainer, "snapshots/nothing", Request.LEGACY)


async def test_a_corpus_that_is_gone_is_unavailable() -> None:
    """UNAVAILABLE, and soon."""
    with Service("svc_trainer", {"KERNELVAULT_CORPUS_ADDRESS": "127.0.0.1:1"}) as service:
        async with client.channel(service.address) as channel:
            assert await client.health(channel, timeout_s=2) == "NOT_SERVING"
            stub = trainer_pb2_grpc.TrainerStub(channel)
            with pytest.raises(errors.Unavailable):
                request = Request(snapshot="snapshots/a", formula=Request.LEGACY)
                async for _ in client.stream(stub.ComputeRewards, request, timeout_s=3):
                    pass
