"""Objects in S3, for asyncio: the minio client in threads of its own."""

from __future__ import annotations

import asyncio
import contextlib
import io
import itertools
from collections.abc import AsyncIterator, Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any, BinaryIO, NamedTuple, TypeVar

import structlog
import urllib3
from minio import Minio
from minio.error import MinioException, S3Error

from kernelvault import errors
from svc_corpus.settings import CorpusConfig

CHUNK_BYTES = 1 << 20
# Also the bound on concurrent S3 operations.
_THREADS = 32
_ABSENT = ("NoSuchKey", "NoSuchObject", "NotFound")
_log = structlog.get_logger()
Result = TypeVar("Result")


class ObjectStore:
    """One bucket below one prefix. Every method raises errors.Unavailable where S3 does not answer or refuses."""

    def __init__(self, settings: CorpusConfig) -> None:
        self._bucket = settings.s3_bucket
        self._prefix = settings.prefix
        self._region = settings.s3_region
        retries = urllib3.Retry(total=2, backoff_factor=0.2, status_forcelist=(500, 502, 503, 504))
        self._client = _client(settings, retries, connect_s=2.0, read_s=30.0)
        self._probe = _client(settings, False, connect_s=0.4, read_s=0.6)
        self._threads = ThreadPoolExecutor(_THREADS, "s3")
        self._bucket_seen = False

    async def check(self) -> None:
        """Raises errors.Unavailable unless the bucket answers; makes the bucket where it is absent."""
        await self._run(self._check)

    def _check(self) -> None:
        if not self._probe.bucket_exists(self._bucket):
            self._probe.make_bucket(self._bucket, self._region)
            _log.info("bucket made", bucket=self._bucket)
        self._bucket_seen = True

    def ensure_bucket(self) -> None:
        """Blocks; makes the bucket where nothing has seen it yet."""
        if not self._bucket_seen:
            with _translated():
                self._check()

    async def put(self, key: str, data: bytes | BinaryIO, size_bytes: int) -> None:
        """Stores an object whole; it is durable and visible when this returns."""
        await self._run(self._put, key, data, size_bytes)

    def _put(self, key: str, data: bytes | BinaryIO, size_bytes: int) -> None:
        self.ensure_bucket()
        stream = io.BytesIO(data) if isinstance(data, bytes) else data
        self._client.put_object(self._bucket, self._prefix + key, stream, size_bytes)

    async def get(self, key: str) -> bytes | None:
        """An object's bytes; None if there is no such object."""
        return await self._run(self._get, key)

    def _get(self, key: str) -> bytes | None:
        response = self._open(key)
        if response is None:
            return None
        with _closing(response):
            return bytes(response.read())

    async def chunks(self, key: str) -> AsyncIterator[bytes] | None:
        """Streams an object in chunks of at most 1 MiB; None if there is no such object."""
        response = await self._run(self._open, key)
        return None if response is None else self._stream(response)

    async def _stream(self, response: Any) -> AsyncIterator[bytes]:
        try:
            while chunk := await self._run(response.read, CHUNK_BYTES):
                yield chunk
        finally:
            response.close()
            response.release_conn()

    def _open(self, key: str) -> Any:
        try:
            return self._client.get_object(self._bucket, self._prefix + key)
        except S3Error as error:
            if error.code in (*_ABSENT, "NoSuchBucket"):
                return None
            raise

    async def has(self, key: str) -> bool:
        """Whether there is such an object."""
        return await self._run(self._has, key)

    def _has(self, key: str) -> bool:
        try:
            self._client.stat_object(self._bucket, self._prefix + key)
        except S3Error as error:
            if error.code in (*_ABSENT, "NoSuchBucket"):
                return False
            raise
        return True

    async def keys(self, prefix: str, *, after: str = "", limit: int) -> list[str]:
        """At most `limit` keys that start with `prefix` and follow `after`, in order."""
        return await self._run(self._keys, prefix, after, limit)

    def _keys(self, prefix: str, after: str, limit: int) -> list[str]:
        start = self._prefix + after if after else None
        try:
            found = self._client.list_objects(
                self._bucket, prefix=self._prefix + prefix, start_after=start, recursive=True
            )
            names = (item.object_name.removeprefix(self._prefix) for item in found)
            return list(itertools.islice((name for name in names if name > after), limit))
        except S3Error as error:
            if error.code == "NoSuchBucket":
                return []
            raise

    async def _run(self, function: Callable[..., Result], *arguments: Any) -> Result:
        with _translated():
            return await asyncio.get_running_loop().run_in_executor(self._threads, function, *arguments)

    def close(self) -> None:
        """Lets running operations end."""
        self._threads.shutdown(wait=False, cancel_futures=True)


class Item(NamedTuple):
    """An object as it is listed: its name without the prefix of the corpus."""

    name: str
    size_bytes: int
    etag: str


class Objects:
    """The objects below a corpus's prefix, for programs that copy them.

    Every method blocks, and raises errors.Unavailable where S3 does not answer or refuses.
    """

    def __init__(self, settings: CorpusConfig) -> None:
        self._bucket, self._prefix, self._region = settings.s3_bucket, settings.prefix, settings.s3_region
        retries = urllib3.Retry(total=5, backoff_factor=0.5, status_forcelist=(500, 502, 503, 504))
        self._client = _client(settings, retries, connect_s=5.0, read_s=60.0)

    def ensure_bucket(self) -> None:
        """Makes the bucket where it is absent."""
        with _translated():
            if not self._client.bucket_exists(self._bucket):
                self._client.make_bucket(self._bucket, self._region)

    def find(self, prefix: str) -> Iterator[Item]:
        """All objects whose names start so, in their order."""
        with _translated():
            for found in self._client.list_objects(self._bucket, prefix=self._prefix + prefix, recursive=True):
                yield Item(found.object_name.removeprefix(self._prefix), found.size, found.etag)

    def copy(self, item: Item, target: Objects) -> bool:
        """Copies an object whole, through this process; False where it is gone."""
        with _translated():
            try:
                response = self._client.get_object(self._bucket, self._prefix + item.name)
            except S3Error as error:
                if error.code in _ABSENT:
                    return False
                raise
            with _closing(response):
                size = int(response.headers["Content-Length"])
                target._client.put_object(target._bucket, target._prefix + item.name, response, size)
        return True


def _client(settings: CorpusConfig, retries: urllib3.Retry | bool, *, connect_s: float, read_s: float) -> Minio:
    access, secret = settings.credentials()
    return Minio(
        settings.s3_endpoint,
        access_key=access,
        secret_key=secret,
        region=settings.s3_region,
        secure=settings.s3_secure,
        http_client=urllib3.PoolManager(
            maxsize=_THREADS, retries=retries, timeout=urllib3.Timeout(connect=connect_s, read=read_s)
        ),
    )


@contextlib.contextmanager
def _closing(response: Any) -> Iterator[None]:
    try:
        yield
    finally:
        response.close()
        response.release_conn()


@contextlib.contextmanager
def _translated() -> Iterator[None]:
    try:
        yield
    except (MinioException, urllib3.exceptions.HTTPError, OSError) as error:
        cause = error.code if isinstance(error, S3Error) else type(error).__name__
        _log.warning("s3 failed", cause=cause, error=str(error)[:500])
        raise unavailable(str(cause)) from error


def unavailable(cause: str) -> errors.Unavailable:
    """The error of a store that does not answer."""
    return errors.Unavailable("STORE_UNAVAILABLE", f"failed to reach the object store: {cause}", 1.0)
