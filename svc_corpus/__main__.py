"""`python -m svc_corpus`: the corpus as a process. Wiring only."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator, Sequence

from kernelvault import server
from kernelvault.v1 import corpus_pb2, corpus_pb2_grpc, storage_pb2, storage_pb2_grpc
from svc_corpus import rows, snapshots, table
from svc_corpus.actions import Actions
from svc_corpus.commits import GroupCommit
from svc_corpus.s3 import ObjectStore
from svc_corpus.samples import Samples
from svc_corpus.servicer import CorpusServicer
from svc_corpus.servicer_storage import ActionCacheServicer, BlobStoreServicer
from svc_corpus.settings import CorpusConfig
from svc_corpus.tasks import Tasks
from svc_corpus.vault import Vault


@contextlib.asynccontextmanager
async def build(settings: CorpusConfig) -> AsyncIterator[Sequence[server.Registration]]:
    """The three services, over one S3 bucket."""
    store = ObjectStore(settings)
    vault = Vault(store, max_blob_bytes=settings.max_blob_bytes)
    sample_table = table.Table(store, settings, "samples", rows.schema, rows.INDEXES)
    snapshot_table = table.Table(store, settings, "snapshots", snapshots.schema, snapshots.INDEXES)
    tables = [sample_table, snapshot_table]
    tasks = Tasks(store)
    async with GroupCommit(sample_table.insert_absent, window_s=settings.commit_window_ms / 1000).running() as commits:
        samples = Samples(sample_table, vault, tasks, commits)
        corpus = CorpusServicer(tasks, samples, snapshots.Snapshots(snapshot_table, vault, samples), settings)
        background = [asyncio.create_task(table.prepare(tables))]
        if settings.maintenance_seconds > 0:
            background.append(asyncio.create_task(table.keep_maintaining(tables, settings.maintenance_seconds)))
        names = {**corpus_pb2.DESCRIPTOR.services_by_name, **storage_pb2.DESCRIPTOR.services_by_name}
        try:
            yield [
                server.Registration(
                    names["Corpus"].full_name, corpus_pb2_grpc.add_CorpusServicer_to_server, corpus, store.check
                ),
                server.Registration(
                    names["BlobStore"].full_name,
                    storage_pb2_grpc.add_BlobStoreServicer_to_server,
                    BlobStoreServicer(vault),
                    store.check,
                ),
                server.Registration(
                    names["ActionCache"].full_name,
                    storage_pb2_grpc.add_ActionCacheServicer_to_server,
                    ActionCacheServicer(Actions(store)),
                    store.check,
                ),
            ]
        finally:
            for job in background:
                job.cancel()
            for opened in tables:
                opened.close()
            store.close()


if __name__ == "__main__":
    server.main(CorpusConfig, build)
