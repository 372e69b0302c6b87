"""Digests of bytes and messages: the names of everything that is content-addressed."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Iterator

from google.protobuf.message import Message

from kernelvault import errors
from kernelvault.v1 import artifact_pb2, compiler_pb2, corpus_pb2, kernel_pb2

_HASH = re.compile(r"[0-9a-f]{64}")
INLINE_LIMIT_BYTES = 1 << 20


def of_bytes(data: bytes) -> artifact_pb2.Digest:
    """The digest of `data`."""
    return artifact_pb2.Digest(hash=hashlib.sha256(data).hexdigest(), size_bytes=len(data))


def of_message(message: Message) -> artifact_pb2.Digest:
    """The digest of a message's deterministic serialisation.

    Protobuf promises determinism for one binary only; a digest made here is a cache key and never a lasting name.
    """
    return of_bytes(message.SerializeToString(deterministic=True))


def of_fields(fields: Iterable[str | bytes]) -> str:
    """The hexadecimal SHA-256 of length-prefixed fields: a lasting name, independent of protobuf."""
    state = hashlib.sha256()
    for field in fields:
        data = field.encode() if isinstance(field, str) else field
        state.update(len(data).to_bytes(8, "little"))
        state.update(data)
    return state.hexdigest()


def check(digest: artifact_pb2.Digest, field: str = "digest") -> artifact_pb2.Digest:
    """Returns a well-formed digest; raises InvalidArgument for another."""
    if not _HASH.fullmatch(digest.hash) or digest.size_bytes < 0:
        raise errors.InvalidArgument(field, f"{digest.hash[:80]!r} is not a lowercase hexadecimal SHA-256 with a size")
    return digest


def artifact(path: str, contents: bytes) -> artifact_pb2.Artifact:
    """An inline artifact; `contents` are at most 1 MiB."""
    return artifact_pb2.Artifact(path=path, digest=of_bytes(contents), contents=contents)


def check_artifact(given: artifact_pb2.Artifact, field: str) -> artifact_pb2.Artifact:
    """Returns a copy of an inline artifact with its digest; raises InvalidArgument for a bad path, size or digest."""
    parts = given.path.split("/")
    if not given.path or given.path.startswith("/") or any(part in ("", ".", "..") for part in parts):
        raise errors.InvalidArgument(f"{field}.path", f"{given.path[:80]!r} is not a relative path without `..`")
    if len(given.contents) > INLINE_LIMIT_BYTES:
        size = len(given.contents)
        raise errors.InvalidArgument(
            f"{field}.contents", f"{size} bytes are above the limit of {INLINE_LIMIT_BYTES}", "SOURCE_TOO_LARGE"
        )
    if not given.contents:
        raise errors.InvalidArgument(f"{field}.contents", "is empty; send the source's bytes")
    digest = of_bytes(given.contents)
    if given.HasField("digest") and given.digest != digest:
        raise errors.InvalidArgument(
            f"{field}.digest", "does not match the contents; leave it out to have it filled in"
        )
    return artifact(given.path, given.contents)


def candidate_name(
    task: str, language: int, format_: int, entry_point: str, sources: Iterable[artifact_pb2.Artifact]
) -> str:
    """The name of a candidate: equal kernels for a task have equal names."""
    fields: list[str | bytes] = [str(language), str(format_), entry_point]
    for source in sources:
        fields += [source.path, source.contents]
    return f"{task}/candidates/{of_fields(fields)}"


def task_name(task: kernel_pb2.Task) -> str:
    """The name of a task: equal in all but name and time is equal in name.

    Fields are taken by number where they are set, so that a field that is added to the message later changes no name.
    """
    bare = kernel_pb2.Task()
    bare.CopyFrom(task)
    for cleared in ("name", "create_time"):
        bare.ClearField(cleared)
    return f"tasks/{task.title}-{of_fields(_set_fields(bare))[:12]}"


def _set_fields(message: Message) -> Iterator[str | bytes]:
    """Number, count and values of each set field; a nested message is one value."""
    for field, value in message.ListFields():
        items = value if field.is_repeated else [value]
        if field.message_type is not None and field.message_type.GetOptions().map_entry:
            items = [text for key in sorted(value) for text in (str(key), str(value[key]))]
        yield from (str(field.number), str(len(items)))
        for item in items:
            yield of_fields(_set_fields(item)) if isinstance(item, Message) else _scalar(item)


def _scalar(value: str | bytes | bool | int | float) -> str | bytes:
    if isinstance(value, str | bytes):
        return value
    return value.hex() if isinstance(value, float) else str(int(value))


def sample_name(sample: corpus_pb2.Sample) -> str:
    """The name of a sample: of its candidate's name, its action, its verdict and its profile's device and method.

    An answer without a source has no action: the digest of the completion stands in its place.
    """
    report, profile = sample.report, sample.profile
    action = report.action_digest.hash
    if report.verdict == compiler_pb2.VerificationReport.PARSE_FAILED:
        action = action or sample.candidate.generation.completion_digest.hash
    fields = [sample.candidate.name, action, str(report.verdict), profile.device, profile.method_label]
    return f"samples/{of_fields(fields)}"
