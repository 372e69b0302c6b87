"""Samples as rows: columns to filter and search by, the message itself, and big parts in a blob."""

from __future__ import annotations

from typing import Any

from kernelvault.v1 import compiler_pb2, corpus_pb2, kernel_pb2
from kernelvault.v1.artifact_pb2 import Digest
from svc_corpus import filters
from svc_corpus.commits import Row
from svc_corpus.table import PRIMARY_KEY, Indexes

# Fields of a report that are always in the blob, and those that follow where the rest is still large.
_BIG = ("plans",)
_SOMETIMES_BIG = ("builds", "case_results", "findings")
_RECORD_LIMIT_BYTES = 128 << 10
_TEXT_LIMIT = 64 << 10
_EXPLANATION_LIMIT = 4 << 10

INDEXES: Indexes = {
    "name": ("BTREE", {}),
    "text": (
        "INVERTED",
        {"base_tokenizer": "simple", "with_position": False, "stem": False, "remove_stop_words": False},
    ),
}


def schema() -> Any:
    """The Arrow schema of the samples table."""
    import pyarrow as pa

    texts = "task title family candidate language format model run parent verdict fault_owner device method"
    return pa.schema(
        [
            pa.field("name", pa.string(), nullable=False, metadata=PRIMARY_KEY),
            *(pa.field(name, pa.string()) for name in texts.split()),
            pa.field("explanation", pa.string()),
            # What is searched: the task's title, the explanation, the sources.
            pa.field("text", pa.string()),
            pa.field("level", pa.int32()),
            pa.field("attempt", pa.int32()),
            pa.field("create_time_ns", pa.int64()),
            # 0 where there is no profile.
            pa.field("time_ns", pa.float64()),
            pa.field("roofline_fraction", pa.float64()),
            # A serialised Sample without sources and without the blob's fields.
            pa.field("record", pa.binary()),
            # A serialised Candidate with nothing but sources.
            pa.field("sources", pa.binary()),
            # The digest of a serialised VerificationReport with the fields left out of `record`; empty: none were.
            pa.field("details_hash", pa.string()),
            pa.field("details_size", pa.int64()),
        ]
    )


def split(sample: corpus_pb2.Sample) -> tuple[corpus_pb2.Sample, kernel_pb2.Candidate, compiler_pb2.VerificationReport]:
    """A sample as its record, its sources and its details; `join` is the inverse."""
    record = corpus_pb2.Sample()
    record.CopyFrom(sample)
    sources = kernel_pb2.Candidate(sources=record.candidate.sources)
    record.candidate.ClearField("sources")
    details = compiler_pb2.VerificationReport()
    for names in (_BIG, _SOMETIMES_BIG):
        for name in names:
            getattr(details, name).extend(getattr(record.report, name))
            record.report.ClearField(name)
        if record.ByteSize() <= _RECORD_LIMIT_BYTES:
            break
    return record, sources, details


def join(record: bytes, sources: bytes | None = None, details: bytes | None = None) -> corpus_pb2.Sample:
    """The sample of a row's parts; a part that is not given is absent from it."""
    sample = corpus_pb2.Sample.FromString(record)
    if sources:
        sample.candidate.MergeFromString(sources)
    if details:
        sample.report.MergeFromString(details)
    return sample


def row(sample: corpus_pb2.Sample, task: kernel_pb2.Task, details_digest: Digest | None) -> Row:
    """The row of a whole sample, whose details have been stored."""
    record, sources, _ = split(sample)
    candidate, report, profile = sample.candidate, sample.report, sample.profile
    text = "\n".join([task.title, report.explanation, *(_decoded(source.contents) for source in candidate.sources)])
    return {
        "name": sample.name,
        "task": sample.task,
        "title": task.title,
        "family": task.family,
        "level": task.level,
        "candidate": candidate.name,
        "language": filters.language_name(candidate.language),
        "format": kernel_pb2.Candidate.Format.Name(candidate.format),
        "model": candidate.generation.model,
        "run": sample.lineage.run,
        "attempt": sample.lineage.attempt,
        "parent": sample.lineage.parent,
        "verdict": filters.verdict_name(report.verdict),
        "fault_owner": compiler_pb2.VerificationReport.FaultOwner.Name(report.fault_owner),
        "device": profile.device,
        "method": profile.method_label,
        "time_ns": profile.time_ns,
        "roofline_fraction": profile.roofline_fraction,
        "create_time_ns": sample.create_time.ToNanoseconds(),
        "explanation": report.explanation[:_EXPLANATION_LIMIT],
        "text": text[:_TEXT_LIMIT],
        "record": record.SerializeToString(),
        "sources": sources.SerializeToString(),
        "details_hash": details_digest.hash if details_digest else "",
        "details_size": details_digest.size_bytes if details_digest else 0,
    }


def details_digest(stored: Row) -> Digest | None:
    """The digest of a row's details; None where it has none."""
    if not stored["details_hash"]:
        return None
    return Digest(hash=stored["details_hash"], size_bytes=stored["details_size"])


def _decoded(data: bytes) -> str:
    return data.decode("utf-8", "replace")
