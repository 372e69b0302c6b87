"""Group commit: rows that arrive together become durable together."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Any

from kernelvault import errors

Row = dict[str, Any]
# Stores those rows whose names are not stored yet and returns the stored row of each name.
Commit = Callable[[list[Row]], Awaitable[dict[str, Row]]]

_MAX_ROWS = 1024
_MAX_BYTES = 64 << 20


class GroupCommit:
    """Lets rows wait for `window_s`, or for the commit that is running, and stores them in one commit.

    A commit on S3 takes tens of milliseconds whatever its size, and commits of one table follow each other.
    """

    def __init__(self, commit: Commit, *, window_s: float, max_waiting_bytes: int = 256 << 20) -> None:
        self._commit = commit
        self._window_s = window_s
        self._max_waiting_bytes = max_waiting_bytes
        self._waiting: dict[str, tuple[Row, int, list[asyncio.Future[Row]]]] = {}
        self._waiting_bytes = 0
        self._arrived = asyncio.Event()

    @contextlib.asynccontextmanager
    async def running(self) -> AsyncIterator[GroupCommit]:
        """Commits until the block ends."""
        loop = asyncio.create_task(self._run())
        try:
            yield self
        finally:
            loop.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await loop

    async def add(self, row: Row, size_bytes: int) -> Row:
        """Returns the stored row of `row["name"]` once it is durable; raises what the commit raised."""
        if self._waiting_bytes + size_bytes > self._max_waiting_bytes:
            message = "failed to take another sample: too many are waiting to be stored"
            raise errors.Unavailable("QUEUE_FULL", message, 1.0)
        if row["name"] not in self._waiting:
            self._waiting[row["name"]] = (row, size_bytes, [])
            self._waiting_bytes += size_bytes
        future: asyncio.Future[Row] = asyncio.get_running_loop().create_future()
        self._waiting[row["name"]][2].append(future)
        self._arrived.set()
        return await future

    async def _run(self) -> None:
        while True:
            await self._arrived.wait()
            await asyncio.sleep(self._window_s)
            batch = self._take()
            futures = [(row["name"], future) for row, _, waiters in batch for future in waiters]
            try:
                stored = await self._commit([row for row, _, _ in batch])
            except BaseException as error:
                stopping = isinstance(error, asyncio.CancelledError)
                failure = errors.Unavailable("STOPPING", "failed to store the sample: the server stops", 1.0)
                for _, future in futures:
                    if not future.done():
                        future.set_exception(failure if stopping else error)
                if stopping:
                    raise
                continue
            for name, future in futures:
                if not future.done():
                    future.set_result(stored[name])

    def _take(self) -> list[tuple[Row, int, list[asyncio.Future[Row]]]]:
        batch: list[tuple[Row, int, list[asyncio.Future[Row]]]] = []
        size = 0
        for name in list(self._waiting):
            size += self._waiting[name][1]
            if batch and (len(batch) == _MAX_ROWS or size > _MAX_BYTES):
                break
            batch.append(self._waiting.pop(name))
        self._waiting_bytes -= sum(size_bytes for _, size_bytes, _ in batch)
        if not self._waiting:
            self._arrived.clear()
        return batch
