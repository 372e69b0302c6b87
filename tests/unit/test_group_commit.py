"""Group commit: what waits together is stored together, and a failure reaches everyone who waited."""

from __future__ import annotations

import asyncio

import pytest

from kernelvault import errors
from svc_corpus.commits import GroupCommit, Row


class Store:
    """Stores batches in memory; fails while `error` is set; waits for `gate`."""

    def __init__(self) -> None:
        self.rows: dict[str, Row] = {}
        self.batches: list[list[str]] = []
        self.error: BaseException | None = None
        self.gate = asyncio.Event()
        self.gate.set()

    async def commit(self, rows: list[Row]) -> dict[str, Row]:
        """As Table.insert_absent."""
        await self.gate.wait()
        self.batches.append([row["name"] for row in rows])
        if self.error is not None:
            raise self.error
        return {row["name"]: self.rows.setdefault(row["name"], row) for row in rows}


async def test_rows_that_arrive_together_are_one_commit() -> None:
    """Twenty rows, of which some are equal, take one commit, and each caller gets the stored row."""
    store = Store()
    async with GroupCommit(store.commit, window_s=0.01).running() as commits:
        rows = [{"name": str(index % 10), "caller": index} for index in range(20)]
        stored = await asyncio.gather(*(commits.add(row, 1) for row in rows))
    assert store.batches == [[str(index) for index in range(10)]]
    assert [row["caller"] for row in stored] == [index % 10 for index in range(20)]


async def test_rows_that_arrive_during_a_commit_are_the_next() -> None:
    """A running commit takes no further rows."""
    store = Store()
    async with GroupCommit(store.commit, window_s=0).running() as commits:
        store.gate.clear()
        first = asyncio.create_task(commits.add({"name": "a"}, 1))
        await asyncio.sleep(0.01)
        rest = [asyncio.create_task(commits.add({"name": name}, 1)) for name in "bc"]
        await asyncio.sleep(0.01)
        store.gate.set()
        await asyncio.gather(first, *rest)
    assert store.batches == [["a"], ["b", "c"]]


@pytest.mark.parametrize("error", [errors.Unavailable("X", "down"), BaseException("a panic of Rust")])
async def test_a_failed_commit_fails_its_rows_only(error: BaseException) -> None:
    """Everyone who waited sees the error, and the next commit is made."""
    store = Store()
    async with GroupCommit(store.commit, window_s=0).running() as commits:
        store.error = error
        outcomes = await asyncio.gather(*(commits.add({"name": name}, 1) for name in "ab"), return_exceptions=True)
        assert outcomes == [error, error]
        store.error = None
        assert await commits.add({"name": "a"}, 1) == {"name": "a"}


async def test_a_caller_that_is_gone_holds_nobody_up() -> None:
    """A cancelled call's row is stored all the same."""
    store = Store()
    async with GroupCommit(store.commit, window_s=0.01).running() as commits:
        gone = asyncio.create_task(commits.add({"name": "gone"}, 1))
        await asyncio.sleep(0)
        gone.cancel()
        await commits.add({"name": "here"}, 1)
    assert set(store.rows) == {"gone", "here"}


async def test_too_many_waiting_bytes_are_refused() -> None:
    """UNAVAILABLE says when to retry."""
    store = Store()
    store.gate.clear()
    async with GroupCommit(store.commit, window_s=0, max_waiting_bytes=10).running() as commits:
        waiting = asyncio.create_task(commits.add({"name": "a"}, 8))
        await asyncio.sleep(0)
        with pytest.raises(errors.Unavailable) as raised:
            await commits.add({"name": "b"}, 8)
        assert raised.value.reason == "QUEUE_FULL"
        waiting.cancel()


async def test_a_server_that_stops_tells_those_who_wait() -> None:
    """Nothing unstored is acknowledged."""
    store = Store()
    store.gate.clear()
    async with GroupCommit(store.commit, window_s=0).running() as commits:
        waiting = asyncio.create_task(commits.add({"name": "a"}, 1))
        await asyncio.sleep(0.01)
    with pytest.raises(errors.Unavailable, match="stops"):
        await waiting
