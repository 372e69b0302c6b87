"""The Corpus service: requests in, messages out; the work is in tasks, samples and snapshots."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any

from kernelvault.v1 import corpus_pb2, corpus_pb2_grpc, kernel_pb2
from svc_corpus import pages
from svc_corpus.samples import Samples
from svc_corpus.settings import CorpusConfig
from svc_corpus.snapshots import Snapshots
from svc_corpus.tasks import Tasks


class CorpusServicer(corpus_pb2_grpc.CorpusServicer):
    """Errors of each call stand in corpus.proto; every call may also raise UNAVAILABLE."""

    def __init__(self, tasks: Tasks, samples: Samples, snapshots: Snapshots, settings: CorpusConfig) -> None:
        self._tasks = tasks
        self._samples = samples
        self._snapshots = snapshots
        self._default_page_size = settings.default_page_size
        self._max_page_size = settings.max_page_size

    def _page_size(self, request: Any) -> int:
        return pages.size(request.page_size, default=self._default_page_size, maximum=self._max_page_size)

    async def CreateTask(self, request: corpus_pb2.CreateTaskRequest, context: Any) -> kernel_pb2.Task:
        return await self._tasks.create(request.task)

    async def GetTask(self, request: corpus_pb2.GetTaskRequest, context: Any) -> kernel_pb2.Task:
        return await self._tasks.get(request.name)

    async def ListTasks(self, request: corpus_pb2.ListTasksRequest, context: Any) -> corpus_pb2.ListTasksResponse:
        tasks, token = await self._tasks.page(self._page_size(request), request.page_token)
        return corpus_pb2.ListTasksResponse(tasks=tasks, next_page_token=token)

    async def CreateSample(self, request: corpus_pb2.CreateSampleRequest, context: Any) -> corpus_pb2.Sample:
        return await self._samples.create(request.sample)

    async def GetSample(self, request: corpus_pb2.GetSampleRequest, context: Any) -> corpus_pb2.Sample:
        return await self._samples.get(request.name)

    async def ListSamples(self, request: corpus_pb2.ListSamplesRequest, context: Any) -> corpus_pb2.ListSamplesResponse:
        samples, token = await self._samples.page(request.filter, self._page_size(request), request.page_token)
        return corpus_pb2.ListSamplesResponse(samples=samples, next_page_token=token)

    async def SearchSamples(
        self, request: corpus_pb2.SearchSamplesRequest, context: Any
    ) -> AsyncIterator[corpus_pb2.SearchSamplesResponse]:
        async for sample, score in self._samples.search(request.query, request.filter, request.limit):
            yield corpus_pb2.SearchSamplesResponse(sample=sample, score=score)

    async def GetStats(self, request: corpus_pb2.GetStatsRequest, context: Any) -> corpus_pb2.Stats:
        stats = await self._samples.stats(request.filter)
        stats.snapshot_count = await self._snapshots.count()
        return stats

    async def CreateSnapshot(self, request: corpus_pb2.CreateSnapshotRequest, context: Any) -> corpus_pb2.Snapshot:
        return await self._snapshots.create(request.snapshot_id, request.filter)

    async def GetSnapshot(self, request: corpus_pb2.GetSnapshotRequest, context: Any) -> corpus_pb2.Snapshot:
        return await self._snapshots.get(request.name)

    async def ListSnapshots(
        self, request: corpus_pb2.ListSnapshotsRequest, context: Any
    ) -> corpus_pb2.ListSnapshotsResponse:
        snapshots, token = await self._snapshots.page(self._page_size(request), request.page_token)
        return corpus_pb2.ListSnapshotsResponse(snapshots=snapshots, next_page_token=token)

    async def ReadSnapshot(
        self, request: corpus_pb2.ReadSnapshotRequest, context: Any
    ) -> AsyncIterator[corpus_pb2.ReadSnapshotResponse]:
        async for offset, sample in self._snapshots.read(request.name, request.offset):
            yield corpus_pb2.ReadSnapshotResponse(offset=offset, sample=sample)
