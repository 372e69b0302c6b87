"""Blobs in S3 under their digests; no byte leaves or enters unverified."""

from __future__ import annotations

import asyncio
import hashlib
import tempfile
from collections.abc import AsyncIterator, Iterable

import structlog

from kernelvault import digest, errors
from kernelvault.v1.artifact_pb2 import Digest
from svc_corpus import s3

_SPOOL_BYTES = 4 << 20
_log = structlog.get_logger()


class Vault:
    """Content-addressed blobs. The size is part of a blob's key, as it is of its identity."""

    def __init__(self, store: s3.ObjectStore, *, max_blob_bytes: int) -> None:
        self._store = store
        self._max_blob_bytes = max_blob_bytes

    async def missing(self, digests: Iterable[Digest]) -> list[Digest]:
        """Those that are not stored; raises errors.InvalidArgument for a malformed digest."""
        wanted = [digest.check(name, f"digests[{index}]") for index, name in enumerate(digests)]
        found = await asyncio.gather(*(self._store.has(_key(name)) for name in wanted))
        return [name for name, present in zip(wanted, found, strict=True) if not present]

    async def write(self, name: Digest, chunks: AsyncIterator[bytes]) -> None:
        """Stores the bytes of `chunks`, which must match `name`; nothing is visible before all of them are there.

        Raises errors.InvalidArgument for other bytes, errors.ResourceExhausted for too many.
        """
        digest.check(name)
        self._check_size(name.size_bytes)
        state, size = hashlib.sha256(), 0
        with tempfile.SpooledTemporaryFile(_SPOOL_BYTES) as spool:
            async for chunk in chunks:
                size += len(chunk)
                if size > name.size_bytes:
                    break
                state.update(chunk)
                spool.write(chunk)
            if size != name.size_bytes or state.hexdigest() != name.hash:
                raise errors.InvalidArgument("digest", "does not match the bytes that were sent", "DIGEST_MISMATCH")
            spool.seek(0)
            await self._store.put(_key(name), spool, size)  # type: ignore[arg-type]

    async def put(self, data: bytes) -> Digest:
        """Stores `data`; sends nothing where it is stored already."""
        name = digest.of_bytes(data)
        self._check_size(name.size_bytes)
        if not await self._store.has(_key(name)):
            await self._store.put(_key(name), data, len(data))
        return name

    def _check_size(self, size_bytes: int) -> None:
        if size_bytes > self._max_blob_bytes:
            message = f"failed to store a blob: {size_bytes} bytes are above the limit of {self._max_blob_bytes}"
            raise errors.ResourceExhausted("BLOB_TOO_LARGE", message)

    async def read(self, name: Digest, offset: int = 0) -> AsyncIterator[bytes]:
        """Streams a blob from `offset` on. All of it is read and verified, so that damage shows wherever it is.

        Raises errors.NotFound, errors.OutOfRange, and errors.DataLoss, at the latest after the last byte.
        """
        digest.check(name)
        if offset < 0 or offset > name.size_bytes:
            raise errors.OutOfRange("OFFSET", f"offset {offset} is not within the blob's {name.size_bytes} bytes")
        chunks = await self._store.chunks(_key(name))
        if chunks is None:
            raise errors.NotFound("BLOB_UNKNOWN", f"there is no blob {name.hash} of {name.size_bytes} bytes")
        state, position = hashlib.sha256(), 0
        async for chunk in chunks:
            state.update(chunk)
            start, position = max(0, offset - position), position + len(chunk)
            if position > name.size_bytes:
                break
            if start < len(chunk):
                yield chunk[start:]
        if position != name.size_bytes or state.hexdigest() != name.hash:
            _log.error("blob damaged", hash=name.hash, size_bytes=name.size_bytes, stored_bytes=position)
            message = f"the stored bytes of blob {name.hash} do not match its digest; write it again"
            raise errors.DataLoss("DIGEST_MISMATCH", message, blob=name.hash)

    async def load(self, name: Digest) -> bytes:
        """A whole blob in memory; raises as `read`."""
        return b"".join([chunk async for chunk in self.read(name)])


def _key(name: Digest) -> str:
    return f"blobs/{name.hash[:2]}/{name.hash}-{name.size_bytes}"
