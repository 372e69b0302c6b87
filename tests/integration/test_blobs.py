"""Blobs and cached results: what comes out is what went in, or an error."""

from __future__ import annotations

import io
import os
import time
from collections.abc import AsyncIterator, Callable
from pathlib import Path

import pytest
from google.protobuf import duration_pb2
from minio import Minio

from kernelvault import blobs, client, digest, errors
from kernelvault.blobs import Blobs
from kernelvault.v1 import compiler_pb2, profiler_pb2, storage_pb2
from kernelvault.v1.artifact_pb2 import Digest
from tests import s3 as local_s3
from tests.corpus import TIMEOUT_S, Corpus
from tests.s3 import S3Server
from tests.services import Service

REPORT = compiler_pb2.VerificationReport
SCRIPT = compiler_pb2.ScriptReport


@pytest.fixture
def cache(corpus: Corpus, tmp_path: Path) -> Blobs:
    """A client with an empty cache."""
    return Blobs(corpus.channel, tmp_path / "cache", timeout_s=TIMEOUT_S)


async def write(corpus: Corpus, *requests: storage_pb2.WriteBlobRequest) -> None:
    """Sends the requests of one WriteBlob as they are."""
    await client.upload(corpus.method("WriteBlob"), lambda: requests, timeout_s=TIMEOUT_S)


@pytest.mark.parametrize("size", [0, 1, 1 << 20, (3 << 20) + 7])
async def test_a_blob_comes_back(cache: Blobs, size: int) -> None:
    """The bytes are the same, whatever their number."""
    data = os.urandom(size)
    name = await cache.put(data)
    assert name == digest.of_bytes(data)
    assert (await cache.get(name)).read_bytes() == data


async def test_a_read_starts_at_its_offset(corpus: Corpus, cache: Blobs) -> None:
    """The first response starts there; beyond the end is OUT_OF_RANGE."""
    data = os.urandom((1 << 20) + 100)
    name = await cache.put(data)
    for offset in (0, 99, 1 << 20, len(data)):
        responses = await corpus.all("ReadBlob", storage_pb2.ReadBlobRequest(digest=name, offset=offset))
        assert b"".join(response.data for response in responses) == data[offset:]
    with pytest.raises(errors.OutOfRange):
        await corpus.all("ReadBlob", storage_pb2.ReadBlobRequest(digest=name, offset=len(data) + 1))


async def test_missing_blobs_are_named(cache: Blobs) -> None:
    """A size that is not the blob's makes another identity."""
    name = await cache.put(os.urandom(10))
    unknown = digest.of_bytes(os.urandom(10))
    resized = Digest(hash=name.hash, size_bytes=11)
    assert await cache.missing([name, unknown, resized]) == [unknown, resized]
    with pytest.raises(errors.NotFound):
        await cache.get(unknown)


async def test_bytes_that_do_not_match_are_not_stored(corpus: Corpus, cache: Blobs) -> None:
    """INVALID_ARGUMENT for other, for fewer and for more bytes than the digest says."""
    name = digest.of_bytes(b"right")
    for data in (b"wrong", b"rig", b"right and more"):
        with pytest.raises(errors.InvalidArgument) as raised:
            await write(corpus, storage_pb2.WriteBlobRequest(digest=name, data=data))
        assert raised.value.reason == "DIGEST_MISMATCH"
    assert await cache.missing([name]) == [name]


async def test_a_write_names_one_blob(corpus: Corpus) -> None:
    """INVALID_ARGUMENT without a digest, with a malformed one, and with a second one."""
    name, other = digest.of_bytes(b"ab"), digest.of_bytes(b"b")
    request = storage_pb2.WriteBlobRequest
    for requests in (
        [],
        [request(data=b"ab")],
        [request(digest=Digest(hash="../etc", size_bytes=1))],
        [request(digest=name, data=b"a"), request(digest=other, data=b"b")],
    ):
        with pytest.raises(errors.InvalidArgument) as raised:
            await write(corpus, *requests)
        assert raised.value.field == "digest"


async def test_a_blob_above_the_maximum_is_refused(cache: Blobs) -> None:
    """RESOURCE_EXHAUSTED tells the limit."""
    with pytest.raises(errors.ResourceExhausted, match=str(4 << 20)):
        await cache.put(b"\0" * ((4 << 20) + 1))


async def test_damaged_bytes_are_data_loss(corpus: Corpus, cache: Blobs, corpus_service: Service, s3: S3Server) -> None:
    """Bytes that changed in the store never reach a reader as the blob; writing it again heals it."""
    data = os.urandom(1000)
    name = await cache.put(data)
    store = Minio(s3.endpoint, local_s3.ACCESS_KEY, local_s3.SECRET_KEY, secure=False, region="us-east-1")
    keys = [item.object_name for item in store.list_objects("corpus", recursive=True) if name.hash in item.object_name]
    for damaged in (data[:-1], data + b"x", bytes(1000)):
        store.put_object("corpus", keys[0], io.BytesIO(damaged), len(damaged))
        with pytest.raises(errors.DataLoss) as raised:
            await cache.get(name)
        assert raised.value.reason == "DIGEST_MISMATCH"
    await write(corpus, storage_pb2.WriteBlobRequest(digest=name, data=data))
    assert (await cache.get(name)).read_bytes() == data


async def test_a_blob_is_downloaded_once(cache: Blobs, corpus: Corpus, tmp_path: Path) -> None:
    """A cached blob needs no server; a damaged file is not used."""
    name = await cache.put(b"kept")
    path = await cache.get(name)
    async with client.channel("127.0.0.1:1") as nowhere:
        offline = Blobs(nowhere, tmp_path / "cache", timeout_s=0.1)
        assert await offline.get(name) == path
    path.chmod(0o644)
    path.write_bytes(b"kepT")
    assert (await Blobs(corpus.channel, tmp_path / "cache").get(name)).read_bytes() == b"kept"


async def test_the_cache_stays_within_its_bound(
    corpus: Corpus, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The least recently used files go first, and none that was handed out a moment ago."""
    bounded = Blobs(corpus.channel, tmp_path / "cache", max_cache_bytes=2500)
    paths = [await bounded.get(await bounded.put(os.urandom(1000))) for _ in range(3)]
    assert all(path.exists() for path in paths)
    monkeypatch.setattr(blobs, "KEEP_S", -1.0)
    for age_s, path in ((10, paths[0]), (30, paths[1]), (20, paths[2])):
        os.utime(path, (time.time() - age_s,) * 2)
    paths.append(await bounded.get(await bounded.put(os.urandom(1000))))
    assert [path.exists() for path in paths] == [True, False, False, True]


def result(verdict: compiler_pb2.VerificationReport.Verdict, seed: bytes) -> storage_pb2.ActionResult:
    """A report as a worker sends it."""
    action = digest.of_bytes(seed)
    return storage_pb2.ActionResult(action_digest=action, report=REPORT(action_digest=action, verdict=verdict))


@pytest.fixture
async def update(corpus: Corpus) -> AsyncIterator[Callable[..., object]]:
    """Calls UpdateActionResult."""

    async def send(given: storage_pb2.ActionResult) -> storage_pb2.ActionResult:
        return await corpus.call("UpdateActionResult", storage_pb2.UpdateActionResultRequest(action_result=given))

    yield send


async def test_the_newest_result_of_an_action_is_kept(corpus: Corpus, update: Callable[..., object]) -> None:
    """A later result replaces the earlier one; none is NOT_FOUND."""
    request = storage_pb2.GetActionResultRequest(action_digest=digest.of_bytes(b"newest"))
    with pytest.raises(errors.NotFound):
        await corpus.call("GetActionResult", request)
    await update(result(REPORT.MISMATCHED, b"newest"))
    stored = await update(result(REPORT.PASSED, b"newest"))
    assert await corpus.call("GetActionResult", request) == stored


async def test_an_old_result_is_not_returned(corpus: Corpus, update: Callable[..., object]) -> None:
    """`max_age` bounds the age; zero allows none."""
    await update(result(REPORT.PASSED, b"old"))
    request = storage_pb2.GetActionResultRequest(action_digest=digest.of_bytes(b"old"))
    request.max_age.CopyFrom(duration_pb2.Duration(seconds=60))
    await corpus.call("GetActionResult", request)
    request.max_age.CopyFrom(duration_pb2.Duration())
    with pytest.raises(errors.NotFound) as raised:
        await corpus.call("GetActionResult", request)
    assert raised.value.reason == "RESULT_TOO_OLD"


@pytest.mark.parametrize("verdict", [REPORT.TIMED_OUT, REPORT.CRASHED, REPORT.VERDICT_UNSPECIFIED])
async def test_a_verdict_of_chance_is_never_cached(
    verdict: compiler_pb2.VerificationReport.Verdict, update: Callable[..., object]
) -> None:
    """A crash or a time-out may be the machine's."""
    with pytest.raises(errors.InvalidArgument) as raised:
        await update(result(verdict, b"chance"))
    assert raised.value.reason == "NEVER_CACHED"


@pytest.mark.parametrize("status", [SCRIPT.STALLED, SCRIPT.CRASHED, SCRIPT.STATUS_UNSPECIFIED])
async def test_a_status_of_chance_is_never_cached(
    status: compiler_pb2.ScriptReport.Status, update: Callable[..., object]
) -> None:
    """A script that waited or was killed may fare better elsewhere; one that used up its CPU time would not."""
    action, good = digest.of_bytes(b"script"), SCRIPT.Step(status=SCRIPT.OK)
    kept = SCRIPT(action_digest=action, compiled=good, interpreted=SCRIPT.Step(status=SCRIPT.TIMED_OUT))
    kept.memory_clean.status = SCRIPT.NOT_RUN
    await update(storage_pb2.ActionResult(action_digest=action, script_report=kept))
    kept.interpreted.status = status
    with pytest.raises(errors.InvalidArgument, match=r"interpreted\.status") as raised:
        await update(storage_pb2.ActionResult(action_digest=action, script_report=kept))
    assert raised.value.reason == "NEVER_CACHED"


async def test_a_platform_fault_is_never_cached(update: Callable[..., object]) -> None:
    """Whatever the verdict."""
    given = result(REPORT.MISMATCHED, b"platform")
    given.report.fault_owner = REPORT.PLATFORM
    with pytest.raises(errors.InvalidArgument, match="PLATFORM"):
        await update(given)


async def test_a_profile_does_not_take_its_reports_place(update: Callable[..., object]) -> None:
    """A profile under its verification's digest would hide the report."""
    action = digest.of_bytes(b"both")
    profile = profiler_pb2.Profile(verify_action_digest=action)
    with pytest.raises(errors.InvalidArgument, match="own action"):
        await update(storage_pb2.ActionResult(action_digest=action, profile=profile))
