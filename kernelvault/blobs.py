"""Blobs of the corpus by digest, with a bounded local disk cache in front of it."""

from __future__ import annotations

import asyncio
import contextlib
import contextvars
import hashlib
import os
import time
import uuid
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, BinaryIO

from kernelvault import client, digest, errors
from kernelvault.v1 import storage_pb2, storage_pb2_grpc
from kernelvault.v1.artifact_pb2 import Digest

CHUNK_BYTES = 1 << 20
# A path that `get` returned stays for at least this long.
KEEP_S = 900.0
_DIGESTS_PER_CALL = 1000
_FREE_TO = 0.9


class Blobs:
    """A client of BlobStore that downloads each blob once.

    Several processes may share `cache`: files appear whole, by renaming, and every use renews a file's mtime, by which
    the least recently used are evicted.
    """

    def __init__(self, channel: Any, cache: Path, *, max_cache_bytes: int = 4 << 30, timeout_s: float = 120.0) -> None:
        self._stub = storage_pb2_grpc.BlobStoreStub(channel)  # type: ignore[no-untyped-call]
        self._cache = cache
        self._max_cache_bytes = max_cache_bytes
        self._timeout_s = timeout_s
        self._verified: set[str] = set()
        self._downloads: dict[str, asyncio.Task[Path]] = {}
        cache.mkdir(parents=True, exist_ok=True)

    async def put(self, data: bytes) -> Digest:
        """Stores `data` and returns its digest; sends nothing where the corpus has it.

        Raises errors.ResourceExhausted where the blob is above the server's maximum, errors.Unavailable.
        """
        name = await asyncio.to_thread(digest.of_bytes, data) if len(data) > CHUNK_BYTES else digest.of_bytes(data)
        if await self.missing([name]):
            await client.upload(self._stub.WriteBlob, lambda: _pieces(name, data), timeout_s=self._timeout_s)
        return name

    async def missing(self, digests: Iterable[Digest]) -> list[Digest]:
        """Those of `digests` that the corpus does not have; raises errors.InvalidArgument, errors.Unavailable."""
        wanted, missing = list(digests), []
        for start in range(0, len(wanted), _DIGESTS_PER_CALL):
            request = storage_pb2.FindMissingBlobsRequest(digests=wanted[start : start + _DIGESTS_PER_CALL])
            response = await client.call(self._stub.FindMissingBlobs, request, timeout_s=self._timeout_s)
            missing += response.missing_digests
        return missing

    async def get(self, name: Digest) -> Path:
        """The path of a read-only local copy, whose bytes match the digest; it stays for at least `KEEP_S` seconds.

        Raises errors.NotFound, errors.DataLoss where the stored bytes are damaged, errors.Unavailable.
        """
        digest.check(name)
        path = self._cache / name.hash[:2] / name.hash
        if await asyncio.to_thread(self._usable, path, name):
            return path
        download = self._downloads.get(name.hash)
        if download is None:
            # An empty context: the deadline of the call that came first must not end the others' download.
            download = asyncio.create_task(self._download(name, path), context=contextvars.Context())
            self._downloads[name.hash] = download
            download.add_done_callback(lambda done: self._finished(name.hash, done))
        return await asyncio.shield(download)

    def _finished(self, hash_: str, download: asyncio.Task[Path]) -> None:
        del self._downloads[hash_]
        if not download.cancelled():
            download.exception()

    def _usable(self, path: Path, name: Digest) -> bool:
        try:
            if path.stat().st_size != name.size_bytes:
                return False
            if name.hash not in self._verified:
                with path.open("rb") as file:
                    if hashlib.file_digest(file, "sha256").hexdigest() != name.hash:
                        return False
                self._verified.add(name.hash)
            now_ns = time.time_ns()
            os.utime(path, ns=(now_ns, now_ns))
        except FileNotFoundError:
            return False
        return True

    async def _download(self, name: Digest, path: Path) -> Path:
        path.parent.mkdir(parents=True, exist_ok=True)
        temporary = self._cache / f"incoming-{uuid.uuid4().hex}"
        try:
            with temporary.open("wb") as file:
                await self._receive(name, file)
            temporary.chmod(0o444)
            temporary.replace(path)
        finally:
            temporary.unlink(missing_ok=True)
        self._verified.add(name.hash)
        await asyncio.to_thread(self._evict)
        return path

    async def _receive(self, name: Digest, file: BinaryIO) -> None:
        state, size = hashlib.sha256(), 0
        request = storage_pb2.ReadBlobRequest(digest=name)
        async for response in client.stream(self._stub.ReadBlob, request, timeout_s=self._timeout_s, resume=_rest):
            size += len(response.data)
            if size > name.size_bytes:
                break
            state.update(response.data)
            file.write(response.data)
        if size != name.size_bytes or state.hexdigest() != name.hash:
            message = f"failed to read blob {name.hash}: the bytes do not match the digest"
            raise errors.DataLoss("DIGEST_MISMATCH", message, blob=name.hash)

    def _evict(self) -> None:
        keep_after = time.time() - KEEP_S
        for path in self._cache.glob("incoming-*"):  # of processes that died
            with contextlib.suppress(FileNotFoundError):
                if path.stat().st_mtime < keep_after:
                    path.unlink()
        files = []
        for path in self._cache.glob("*/*"):
            with contextlib.suppress(FileNotFoundError):
                status = path.stat()
                files.append((status.st_mtime, status.st_size, path))
        total = sum(size for _, size, _ in files)
        if total <= self._max_cache_bytes:
            return
        for used, size, path in sorted(files):
            if total <= self._max_cache_bytes * _FREE_TO or used > keep_after:
                return
            path.unlink(missing_ok=True)
            self._verified.discard(path.name)
            total -= size


def _pieces(name: Digest, data: bytes) -> Iterator[storage_pb2.WriteBlobRequest]:
    yield storage_pb2.WriteBlobRequest(digest=name, data=data[:CHUNK_BYTES])
    for start in range(CHUNK_BYTES, len(data), CHUNK_BYTES):
        yield storage_pb2.WriteBlobRequest(data=data[start : start + CHUNK_BYTES])


def _rest(request: storage_pb2.ReadBlobRequest, response: storage_pb2.ReadBlobResponse) -> storage_pb2.ReadBlobRequest:
    return storage_pb2.ReadBlobRequest(digest=request.digest, offset=request.offset + len(response.data))
