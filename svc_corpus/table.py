"""A Lance table on S3 whose rows are written once under a unique name, by any number of processes.

Two facts make that safe. `name` is the schema's (unenforced) primary key, so that a merge-insert records the keys which
it inserted, and of two commits that insert one key at once the later is retried and then finds the row. And the merge
scans `name` instead of using its index, because Lance records no keys where it merges by an index: that way
concurrent writers did store duplicates. The scan takes 30 ms for 100,000 rows.
"""

from __future__ import annotations

import asyncio
import contextlib
import copy
import datetime
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any, TypeVar

import structlog

from kernelvault import errors
from svc_corpus import filters, s3
from svc_corpus.commits import Row
from svc_corpus.settings import CorpusConfig

# The kind and the options of a column's index.
Indexes = Mapping[str, tuple[str, Mapping[str, Any]]]
PRIMARY_KEY = {"lance-schema:unenforced-primary-key": "true"}
_THREADS = 8
_COMMIT_RETRIES = 30
_REFRESH_FROM_ROWS = 1000
_COMPACT_FROM_FILES = 32
_STORE_FAILED = ("LanceError(IO)", "ommit conflict")
_KEEP_VERSIONS = datetime.timedelta(hours=2)
_log = structlog.get_logger()
Result = TypeVar("Result")


class Table:
    """Rows by unique name. `schema` is called once the table must be made, so that Lance is imported late.

    Every method raises errors.Unavailable where the store does not answer.
    """

    def __init__(
        self,
        store: s3.ObjectStore,
        settings: CorpusConfig,
        name: str,
        schema: Callable[[], Any],
        indexes: Indexes,
    ) -> None:
        self._store = store
        self._uri = _uri(settings, name)
        self._options = _storage_options(settings)
        self._schema = schema
        self._indexes = indexes
        self._threads = ThreadPoolExecutor(_THREADS, f"lance-{name}")
        self._lock = threading.Lock()
        self._dataset: Any = None

    async def run(self, function: Callable[..., Result], *arguments: Any) -> Result:
        """Calls `function(dataset, *arguments)` in a thread, the dataset being at its latest version."""
        loop = asyncio.get_running_loop()
        return await loop.run_in_executor(self._threads, self._call, function, *arguments)

    def _call(self, function: Callable[..., Result], *arguments: Any) -> Result:
        with _translated():
            return function(self._latest(), *arguments)

    async def select(self, columns: Sequence[str], condition: str = "", **scan: Any) -> Any:
        """A pyarrow table of the rows that meet an SQL condition; `scan` goes to `LanceDataset.scanner`."""

        def read(dataset: Any) -> Any:
            return dataset.scanner(columns=list(columns), filter=condition or None, **scan).to_table()

        return await self.run(read)

    async def rows_named(self, columns: Sequence[str], names: Sequence[str]) -> dict[str, Row]:
        """The stored ones of `names`, by name."""
        if not names:
            return {}
        found = await self.select(["name", *columns], filters.among("name", names))
        return {row["name"]: row for row in found.to_pylist()}

    async def insert_absent(self, rows: Sequence[Row]) -> dict[str, Row]:
        """Stores those rows whose names are not stored yet; returns what is stored under each name.

        All is durable, and visible to every process, when this returns.
        """
        inserted = await self.run(self._insert, rows)
        if inserted == len(rows):
            return {row["name"]: row for row in rows}
        columns = [name for name in rows[0] if name != "name"]
        return await self.rows_named(columns, [row["name"] for row in rows])

    def _insert(self, dataset: Any, rows: Sequence[Row]) -> int:
        import pyarrow

        batch = pyarrow.Table.from_pylist(list(rows), schema=dataset.schema)
        merge = dataset.merge_insert("name").when_not_matched_insert_all()
        done = merge.conflict_retries(_COMMIT_RETRIES).use_index(False).execute(batch)
        return int(done["num_inserted_rows"])

    def _latest(self) -> Any:
        """A handle for one caller: two threads that use one handle make Lance panic where one of them writes."""
        with self._lock:
            if self._dataset is None:
                self._dataset = self._open()
            dataset = copy.copy(self._dataset)
        dataset = dataset.checkout_version(dataset.latest_version)
        with self._lock:
            if dataset.version > self._dataset.version:
                self._dataset = copy.copy(dataset)
        return dataset

    def _open(self) -> Any:
        import lance

        self._store.ensure_bucket()
        with contextlib.suppress(ValueError):
            return lance.dataset(self._uri, storage_options=self._options)
        with contextlib.suppress(OSError):  # another process may create it at the same time
            schema = self._schema()
            lance.write_dataset(
                schema.empty_table(),
                self._uri,
                schema=schema,
                mode="create",
                storage_options=self._options,
                enable_v2_manifest_paths=True,
                data_storage_version="2.1",
            )
        dataset = lance.dataset(self._uri, storage_options=self._options)
        # On the empty table, so that rows which no index covers yet are split into words the same way.
        self._add_indexes(dataset)
        return dataset

    async def maintain(self) -> None:
        """Compacts small files, creates and refreshes indexes, drops old versions. Readers and writers go on."""
        await self.run(self._maintain)

    def _maintain(self, dataset: Any) -> None:
        if dataset.stats.dataset_stats()["num_small_files"] >= _COMPACT_FROM_FILES:
            done = dataset.optimize.compact_files(num_threads=1)
            dataset.cleanup_old_versions(older_than=_KEEP_VERSIONS)
            _log.info("compacted", table=self._uri, files_removed=done.files_removed)
            dataset = self._latest()
        self._add_indexes(dataset)
        for column in self._indexes:
            if dataset.stats.index_stats(f"{column}_idx")["num_unindexed_rows"] >= _REFRESH_FROM_ROWS:
                dataset.optimize.optimize_indices(index_names=[f"{column}_idx"])
                _log.info("index refreshed", table=self._uri, column=column)

    def _add_indexes(self, dataset: Any) -> None:
        present = {index["name"] for index in dataset.list_indices()}
        for column, (kind, options) in self._indexes.items():
            if f"{column}_idx" in present:
                continue
            with contextlib.suppress(OSError, ValueError, RuntimeError):  # another process may add it at the same time
                dataset.create_scalar_index(column, kind, name=f"{column}_idx", replace=False, **options)

    def close(self) -> None:
        """Lets running operations end."""
        self._threads.shutdown(wait=False, cancel_futures=True)


@contextlib.contextmanager
def _translated() -> Iterator[None]:
    """Lance raises OSError, ValueError and RuntimeError alike for a store that fails."""
    try:
        yield
    except BaseException as error:
        panicked = type(error).__name__ == "PanicException"  # of Rust, and no Exception
        failed = isinstance(error, OSError) or (
            isinstance(error, ValueError | RuntimeError) and any(mark in str(error) for mark in _STORE_FAILED)
        )
        if not panicked and not failed:
            raise
        _log.warning("lance failed", error=str(error)[:500])
        raise s3.unavailable("the table does not answer") from error


def fault(settings: CorpusConfig, name: str) -> str:
    """Why a copied table cannot be used, missing files above all; empty where it can, or was never made."""
    import lance

    try:
        dataset = lance.dataset(_uri(settings, name), storage_options=_storage_options(settings))
    except ValueError:
        return ""
    try:
        dataset.validate()
        # A column of each file, and each index.
        rows = sum(batch.num_rows for batch in dataset.scanner(columns=["name"]).to_batches())
        for index in dataset.list_indices():
            dataset.stats.index_stats(index["name"])
    except (ValueError, OSError, RuntimeError) as error:
        return f"{name}: {error}"
    return "" if rows == dataset.count_rows() else f"{name}: {rows} rows of {dataset.count_rows()}"


def _uri(settings: CorpusConfig, name: str) -> str:
    return f"s3://{settings.s3_bucket}/{settings.prefix}{name}.lance"


def _storage_options(settings: CorpusConfig) -> dict[str, str]:
    access, secret = settings.credentials()
    return {
        "aws_endpoint": f"{'https' if settings.s3_secure else 'http'}://{settings.s3_endpoint}",
        "allow_http": "false" if settings.s3_secure else "true",
        "aws_access_key_id": access,
        "aws_secret_access_key": secret,
        "aws_region": settings.s3_region,
        "client_max_retries": "1",
        "client_retry_timeout": "5",
        "connect_timeout": "2s",
        "timeout": "30s",
    }


async def keep_maintaining(tables: Sequence[Table], period_s: float) -> None:
    """Maintains the tables every `period_s` seconds, never two at once; a failure is logged and tried again."""
    while True:
        await asyncio.sleep(period_s)
        for table in tables:
            try:
                await table.maintain()
            except errors.Unavailable:
                continue
            except Exception:
                _log.exception("maintenance failed")


async def prepare(tables: Sequence[Table]) -> None:
    """Imports Lance and opens the tables, so that the first call need not; a failure is left to that call."""
    for table in tables:
        with contextlib.suppress(errors.Unavailable):
            await table.run(lambda dataset: None)
