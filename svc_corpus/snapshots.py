"""Snapshots: named, immutable lists of samples.

A snapshot is a manifest in the blob store and one row of a table whose names are unique. Where two servers create one
snapshot at once, the table stores one row, and each compares what it meant to store with what is there.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator
from typing import Any

from kernelvault import errors
from kernelvault.v1 import corpus_pb2
from svc_corpus import filters, pages
from svc_corpus.samples import Samples
from svc_corpus.table import PRIMARY_KEY, Indexes, Table
from svc_corpus.vault import Vault

INDEXES: Indexes = {"name": ("BTREE", {})}
_BATCH = 128


def schema() -> Any:
    """The Arrow schema of the snapshots table."""
    import pyarrow as pa

    return pa.schema(
        [
            pa.field("name", pa.string(), nullable=False, metadata=PRIMARY_KEY),
            pa.field("manifest_hash", pa.string()),
            # A serialised Snapshot.
            pa.field("record", pa.binary()),
        ]
    )


class Snapshots:
    """Creates, gets, lists and reads snapshots."""

    def __init__(self, table: Table, vault: Vault, samples: Samples) -> None:
        self._table = table
        self._vault = vault
        self._samples = samples

    async def create(self, snapshot_id: str, wanted: corpus_pb2.SampleFilter) -> corpus_pb2.Snapshot:
        """Freezes what matches now. Repeating it is fine while it means the same samples.

        Raises errors.AlreadyExists where the name holds others, errors.InvalidArgument.
        """
        filters.check_name(filters.SNAPSHOT_ID, snapshot_id, "snapshot_id", "1 to 100 of `a-z 0-9 _ -`")
        names = await self._samples.names(wanted)
        manifest = await self._vault.put("".join(f"{name}\n" for name in names).encode())
        snapshot = corpus_pb2.Snapshot(
            name=f"snapshots/{snapshot_id}", filter=wanted, manifest_digest=manifest, sample_count=len(names)
        )
        snapshot.create_time.FromNanoseconds(time.time_ns())
        row = {"name": snapshot.name, "manifest_hash": manifest.hash, "record": snapshot.SerializeToString()}
        stored = (await self._table.insert_absent([row]))[snapshot.name]
        if stored["manifest_hash"] != manifest.hash:
            message = f"{snapshot.name!r} exists with other samples; a snapshot never changes: choose another name"
            raise errors.AlreadyExists("SNAPSHOT_EXISTS", message, snapshot=snapshot.name)
        return corpus_pb2.Snapshot.FromString(stored["record"])

    async def get(self, name: str) -> corpus_pb2.Snapshot:
        """A snapshot; raises errors.NotFound."""
        found = await self._table.rows_named(["record"], [name] if len(name) <= filters.MAX_TEXT else [])
        if name not in found:
            raise errors.NotFound("SNAPSHOT_UNKNOWN", f"there is no snapshot {name[:120]!r}", snapshot=name[:120])
        return corpus_pb2.Snapshot.FromString(found[name]["record"])

    async def page(self, page_size: int, page_token: str) -> tuple[list[corpus_pb2.Snapshot], str]:
        """A page in the order of the names, and the token of the next."""
        position = pages.decode("snapshots", page_token, str)
        condition = f"name > {filters.quoted(str(position[0]))}" if position else ""
        found = (await self._table.select(["name", "record"], condition)).sort_by("name").slice(0, page_size + 1)
        page = found.slice(0, page_size).to_pylist()
        token = pages.encode("snapshots", page[-1]["name"]) if found.num_rows > page_size else ""
        return [corpus_pb2.Snapshot.FromString(row["record"]) for row in page], token

    async def count(self) -> int:
        """How many there are."""
        return int(await self._table.run(lambda dataset: dataset.count_rows()))

    async def read(self, name: str, offset: int) -> AsyncIterator[tuple[int, corpus_pb2.Sample]]:
        """Streams offsets and samples in the manifest's order; the next batch is fetched meanwhile.

        Raises errors.NotFound, errors.OutOfRange, errors.DataLoss.
        """
        snapshot = await self.get(name)
        if offset < 0 or offset > snapshot.sample_count:
            message = f"offset {offset} is not within the {snapshot.sample_count} samples of {name!r}"
            raise errors.OutOfRange("OFFSET", message)
        names = (await self._vault.load(snapshot.manifest_digest)).decode().splitlines()
        batches = [(start, names[start : start + _BATCH]) for start in range(offset, len(names), _BATCH)]
        if not batches:
            return
        following = asyncio.ensure_future(self._samples.read(batches[0][1]))
        try:
            for index, (start, _) in enumerate(batches):
                samples = await following
                if index + 1 < len(batches):
                    following = asyncio.ensure_future(self._samples.read(batches[index + 1][1]))
                for position, sample in enumerate(samples, start):
                    yield position, sample
        finally:
            following.cancel()
