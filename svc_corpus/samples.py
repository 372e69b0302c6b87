"""Samples: checked, stored once, listed, searched, counted."""

from __future__ import annotations

import re
import time
from collections.abc import AsyncIterator, Sequence
from typing import Any

from kernelvault import digest, errors
from kernelvault.v1 import compiler_pb2, corpus_pb2, kernel_pb2
from svc_corpus import filters, pages, rows
from svc_corpus.commits import GroupCommit
from svc_corpus.table import Table
from svc_corpus.tasks import Tasks
from svc_corpus.vault import Vault

PARSE_FAILED = compiler_pb2.VerificationReport.PARSE_FAILED
PASSED = compiler_pb2.VerificationReport.PASSED
_MAX_SOURCES_BYTES = 4 << 20
_MAX_RECORD_BYTES = 1 << 20
_MAX_QUERY = 1000
_MAX_FOUND = 1000
_SPACES = re.compile(r"\W+")


class Samples:
    """The corpus's rows. `commits` makes them durable, `vault` holds their details."""

    def __init__(self, table: Table, vault: Vault, tasks: Tasks, commits: GroupCommit) -> None:
        self._table = table
        self._vault = vault
        self._tasks = tasks
        self._commits = commits

    async def create(self, given: corpus_pb2.Sample) -> corpus_pb2.Sample:
        """Stores a sample, or returns the stored one of its name.

        Raises errors.InvalidArgument, errors.NotFound for an unknown task.
        """
        sample = checked(given)
        task = await self._tasks.get(sample.task)
        sample.create_time.FromNanoseconds(time.time_ns())
        _, _, details = rows.split(sample)
        stored_details = await self._vault.put(details.SerializeToString()) if details.ByteSize() else None
        row = rows.row(sample, task, stored_details)
        size = len(row["record"]) + len(row["sources"]) + len(row["text"])
        stored = await self._commits.add(row, size)
        return sample if stored is row else await self._whole(stored)

    async def get(self, name: str) -> corpus_pb2.Sample:
        """A whole sample, plans included; raises errors.NotFound."""
        columns = ["record", "sources", "details_hash", "details_size"]
        found = await self._table.rows_named(columns, [name] if filters.SAMPLE.fullmatch(name) else [])
        if name not in found:
            raise errors.NotFound("SAMPLE_UNKNOWN", f"there is no sample {name[:120]!r}", sample=name[:120])
        return await self._whole(found[name])

    async def _whole(self, stored: dict[str, Any]) -> corpus_pb2.Sample:
        name = rows.details_digest(stored)
        details = await self._vault.load(name) if name else None
        return rows.join(stored["record"], stored["sources"], details)

    async def page(
        self, wanted: corpus_pb2.SampleFilter, page_size: int, page_token: str
    ) -> tuple[list[corpus_pb2.Sample], str]:
        """A page of records, newest first, and the token of the next."""
        matches = filters.condition(wanted)
        position = pages.decode(f"samples {matches}", page_token, int, str)
        older = ""
        if position:
            made, name = position
            older = f"create_time_ns < {made} OR (create_time_ns = {made} AND name > {filters.quoted(str(name))})"
        found = await self._table.run(_newest, filters.both(matches, older), page_size + 1)
        page = found[:page_size]
        token = ""
        if len(found) > page_size:
            token = pages.encode(f"samples {matches}", page[-1]["create_time_ns"], page[-1]["name"])
        return [rows.join(row["record"]) for row in page], token

    async def search(
        self, query: str, wanted: corpus_pb2.SampleFilter, limit: int
    ) -> AsyncIterator[tuple[corpus_pb2.Sample, float]]:
        """Records that hold all words of `query`, best first, with their BM25 scores. Recent rows are found too."""
        words = _SPACES.sub(" ", query).strip()
        if not words or len(query) > _MAX_QUERY:
            raise errors.InvalidArgument("query", f"give 1 to {_MAX_QUERY} characters with at least one word")
        if not 0 <= limit <= _MAX_FOUND:
            raise errors.InvalidArgument("limit", f"{limit} is not within 0 to {_MAX_FOUND}")
        condition = filters.condition(wanted)
        for found in await self._table.run(_search, words.replace("_", " "), condition, limit or 20):
            yield rows.join(found["record"]), found["_score"]

    async def stats(self, wanted: corpus_pb2.SampleFilter) -> corpus_pb2.Stats:
        """Counts over the samples that match; `snapshot_count` is left to the caller."""
        columns = ["task", "verdict", "language", "model"]
        found = await self._table.select(columns, filters.condition(wanted))
        solved = found.filter(_equals(found["verdict"], filters.verdict_name(PASSED)))
        return corpus_pb2.Stats(
            sample_count=found.num_rows,
            task_count=len(found["task"].unique()),
            solved_task_count=len(solved["task"].unique()),
            by_verdict=_counts(found["verdict"]),
            by_language=_counts(found["language"]),
            by_model=_counts(found["model"]),
        )

    async def names(self, wanted: corpus_pb2.SampleFilter) -> list[str]:
        """The sorted names of all samples that match at this moment."""
        found = await self._table.select(["name"], filters.condition(wanted))
        return sorted(found["name"].to_pylist())

    async def read(self, names: Sequence[str]) -> list[corpus_pb2.Sample]:
        """The samples of these names in their order, with sources, without plans; raises errors.DataLoss."""
        found = await self._table.rows_named(["record", "sources"], names)
        if len(found) < len(names):
            lost = next(name for name in names if name not in found)
            raise errors.DataLoss(
                "SAMPLE_LOST", f"sample {lost!r} is in the snapshot but not in the table", sample=lost
            )
        return [rows.join(found[name]["record"], found[name]["sources"]) for name in names]


def checked(given: corpus_pb2.Sample) -> corpus_pb2.Sample:
    """A copy with digests and names filled in; raises errors.InvalidArgument where it is incomplete."""
    sample = corpus_pb2.Sample()
    sample.CopyFrom(given)
    _check_candidate(sample)
    _check_results(sample)
    for name in ("run", "parent", "baseline", "kernel"):
        if len(getattr(sample.lineage, name)) > filters.MAX_TEXT:
            raise errors.InvalidArgument(f"sample.lineage.{name}", f"is longer than {filters.MAX_TEXT} characters")
    for name in ("parent", "baseline"):
        if getattr(sample.lineage, name):
            field = f"sample.lineage.{name}"
            filters.check_name(filters.SAMPLE, getattr(sample.lineage, name), field, "samples/{64 hex digits}")
    if not 0 <= sample.lineage.edit_distance <= 1:
        raise errors.InvalidArgument("sample.lineage.edit_distance", "is not within 0 to 1")
    sample.name = _same_name(given.name, digest.sample_name(sample), "sample.name")
    record, _, _ = rows.split(sample)
    if record.ByteSize() > _MAX_RECORD_BYTES:
        size = record.ByteSize()
        raise errors.InvalidArgument("sample", f"{size} bytes besides sources, plans and diagnostics are too many")
    return sample


def _check_candidate(sample: corpus_pb2.Sample) -> None:
    candidate = sample.candidate
    for field, kind in (("language", kernel_pb2.Candidate.Language), ("format", kernel_pb2.Candidate.Format)):
        if getattr(candidate, field) not in kind.values()[1:]:
            raise errors.InvalidArgument(f"sample.candidate.{field}", "is not set to a known value")
    if not candidate.sources and sample.report.verdict != PARSE_FAILED:
        raise errors.InvalidArgument("sample.candidate.sources", "is empty; only PARSE_FAILED has no source")
    sources = [
        digest.check_artifact(source, f"sample.candidate.sources[{index}]")
        for index, source in enumerate(candidate.sources)
    ]
    if sum(len(source.contents) for source in sources) > _MAX_SOURCES_BYTES:
        raise errors.InvalidArgument("sample.candidate.sources", f"are above {_MAX_SOURCES_BYTES} bytes in all")
    name = digest.candidate_name(sample.task, candidate.language, candidate.format, candidate.entry_point, sources)
    del candidate.sources[:]
    candidate.sources.extend(sources)
    candidate.name = _same_name(candidate.name, name, "sample.candidate.name")


def _check_results(sample: corpus_pb2.Sample) -> None:
    report = sample.report
    if report.verdict not in compiler_pb2.VerificationReport.Verdict.values()[1:]:
        raise errors.InvalidArgument("sample.report.verdict", "is not set to a known value")
    if report.verdict != PARSE_FAILED:
        digest.check(report.action_digest, "sample.report.action_digest")
    elif not report.HasField("action_digest"):
        digest.check(sample.candidate.generation.completion_digest, "sample.candidate.generation.completion_digest")
    if sample.HasField("profile") and report.verdict != PASSED:
        raise errors.InvalidArgument("sample.profile", "is only for a candidate that PASSED")


def _same_name(given: str, made: str, field: str) -> str:
    if given and given != made:
        raise errors.InvalidArgument(field, f"{given[:120]!r} is not the name of this content, {made!r}; leave it out")
    return made


def _newest(dataset: Any, condition: str, limit: int) -> list[dict[str, Any]]:
    from lance.dataset import ColumnOrdering

    order = [ColumnOrdering("create_time_ns", ascending=False), ColumnOrdering("name")]
    columns = ["name", "create_time_ns", "record"]
    scanner = dataset.scanner(columns=columns, filter=condition or None, order_by=order, limit=limit)
    found: list[dict[str, Any]] = scanner.to_table().to_pylist()
    return found


def _search(dataset: Any, words: str, condition: str, limit: int) -> list[dict[str, Any]]:
    from lance.query import FullTextOperator, MatchQuery

    query = MatchQuery(words, "text", operator=FullTextOperator.AND)
    scanner = dataset.scanner(
        columns=["name", "record", "_score"],
        full_text_query=query,
        filter=condition or None,
        prefilter=bool(condition),
        limit=limit,
    )
    found: list[dict[str, Any]] = scanner.to_table().to_pylist()
    return sorted(found, key=lambda row: (-row["_score"], row["name"]))


def _equals(column: Any, value: str) -> Any:
    from pyarrow import compute

    return compute.equal(column, value)


def _counts(column: Any) -> dict[str, int]:
    return {item["values"]: item["counts"] for item in column.value_counts().to_pylist()}
