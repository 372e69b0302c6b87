"""Snapshots never change."""

from __future__ import annotations

import uuid

import pytest

from kernelvault import errors
from kernelvault.v1 import corpus_pb2
from tests.corpus import Corpus


async def create(corpus: Corpus, name: str, task: str) -> corpus_pb2.Snapshot:
    """Freezes the samples of a task."""
    matching = corpus_pb2.SampleFilter(tasks=[task])
    return await corpus.call("CreateSnapshot", corpus_pb2.CreateSnapshotRequest(snapshot_id=name, filter=matching))


async def read(corpus: Corpus, name: str, offset: int = 0) -> list[corpus_pb2.ReadSnapshotResponse]:
    """The snapshot's responses from `offset` on."""
    return await corpus.all("ReadSnapshot", corpus_pb2.ReadSnapshotRequest(name=name, offset=offset))


async def test_a_snapshot_holds_what_matched_when_it_was_made(corpus: Corpus) -> None:
    """Samples that are stored later are not in it."""
    task = await corpus.task()
    samples = [await corpus.sample(task.name, f"kernel {index}") for index in range(3)]
    snapshot = await create(corpus, uuid.uuid4().hex, task.name)
    await corpus.sample(task.name, "later")
    responses = await read(corpus, snapshot.name)
    assert [response.sample.name for response in responses] == sorted(sample.name for sample in samples)
    assert [response.offset for response in responses] == [0, 1, 2]
    assert snapshot.sample_count == 3
    assert await corpus.call("GetSnapshot", corpus_pb2.GetSnapshotRequest(name=snapshot.name)) == snapshot


async def test_a_read_sample_has_its_sources_and_no_plans(corpus: Corpus) -> None:
    """Training reads sources; plans are GetSample's."""
    task = await corpus.task()
    created = await corpus.sample(task.name, "kernel")
    (response,) = await read(corpus, (await create(corpus, uuid.uuid4().hex, task.name)).name)
    created.report.ClearField("plans")
    assert response.sample == created


async def test_a_snapshot_is_read_from_an_offset(corpus: Corpus) -> None:
    """A reader goes on where it stopped, across batches, and at the end there is nothing."""
    task = await corpus.task()
    for index in range(3):
        await corpus.sample(task.name, f"kernel {index}")
    snapshot = await create(corpus, uuid.uuid4().hex, task.name)
    whole = await read(corpus, snapshot.name)
    assert await read(corpus, snapshot.name, 2) == whole[2:]
    assert await read(corpus, snapshot.name, 3) == []
    with pytest.raises(errors.OutOfRange):
        await read(corpus, snapshot.name, 4)


async def test_a_snapshot_with_equal_samples_may_be_made_again(corpus: Corpus) -> None:
    """The stored snapshot is returned while it means the same samples, and ALREADY_EXISTS says that it does not."""
    task = await corpus.task()
    await corpus.sample(task.name, "kernel")
    name = uuid.uuid4().hex
    first = await create(corpus, name, task.name)
    assert await create(corpus, name, task.name) == first
    await corpus.sample(task.name, "later")
    with pytest.raises(errors.AlreadyExists) as raised:
        await create(corpus, name, task.name)
    assert raised.value.reason == "SNAPSHOT_EXISTS"


async def test_snapshots_page_in_the_order_of_their_names(corpus: Corpus) -> None:
    """Every snapshot is listed once."""
    task = await corpus.task()
    prefix = uuid.uuid4().hex
    created = [(await create(corpus, f"{prefix}-{index}", task.name)).name for index in range(5)]
    names: list[str] = []
    request = corpus_pb2.ListSnapshotsRequest(page_size=2)
    while True:
        page = await corpus.call("ListSnapshots", request)
        names += [snapshot.name for snapshot in page.snapshots]
        if not page.next_page_token:
            break
        request.page_token = page.next_page_token
    assert names == sorted(set(names))
    assert [name for name in names if prefix in name] == created


@pytest.mark.parametrize("name", ["", "Upper", "a/b", "x" * 101])
async def test_a_malformed_snapshot_name_is_refused(corpus: Corpus, name: str) -> None:
    """INVALID_ARGUMENT names `snapshot_id`."""
    with pytest.raises(errors.InvalidArgument) as raised:
        await corpus.call("CreateSnapshot", corpus_pb2.CreateSnapshotRequest(snapshot_id=name))
    assert raised.value.field == "snapshot_id"


async def test_an_unknown_snapshot_is_not_found(corpus: Corpus) -> None:
    """Reading and getting agree."""
    for name, kind in (
        ("GetSnapshot", corpus_pb2.GetSnapshotRequest),
        ("ReadSnapshot", corpus_pb2.ReadSnapshotRequest),
    ):
        with pytest.raises(errors.NotFound):
            request = kind(name="snapshots/nothing")
            await (corpus.all(name, request) if name == "ReadSnapshot" else corpus.call(name, request))
