"""A corpus that is copied while it is used, lost, and brought back from the copy."""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
import uuid
from typing import Any

import pytest
from minio import Minio

from kernelvault import client, digest
from kernelvault.v1 import compiler_pb2, corpus_pb2, storage_pb2
from tests import s3
from tests.corpus import Corpus
from tests.s3 import S3Server
from tests.services import Service

pytestmark = pytest.mark.slow


def _copy(environment: dict[str, str]) -> subprocess.CompletedProcess[str]:
    program = [sys.executable, "-m", "svc_corpus.backup"]
    inherited = {name: os.environ[name] for name in ("PATH", "HOME")}
    return subprocess.run(program, env={**inherited, **environment}, capture_output=True, text=True, check=False)


def _places(server: S3Server) -> tuple[dict[str, str], dict[str, str]]:
    """The environment of a backup, and that of bringing it back."""
    live, kept = f"{uuid.uuid4().hex}/", f"{uuid.uuid4().hex}/"
    there = server.environment(prefix=live, backup_prefix=kept, backup_bucket="kept")
    back = server.environment(prefix=kept, s3_bucket="kept", backup_prefix=live, backup_bucket="corpus")
    return there, back


def _service(environment: dict[str, str]) -> Service:
    return Service("svc_corpus", {name: text for name, text in environment.items() if "BACKUP" not in name})


async def _everything(corpus: Corpus) -> dict[str, Any]:
    """What a user can see of a corpus."""
    listed = await corpus.call("ListSamples", corpus_pb2.ListSamplesRequest(page_size=500))
    whole = [await corpus.call("GetSample", corpus_pb2.GetSampleRequest(name=item.name)) for item in listed.samples]
    tasks = await corpus.call("ListTasks", corpus_pb2.ListTasksRequest())
    snapshots = await corpus.call("ListSnapshots", corpus_pb2.ListSnapshotsRequest())
    read = [
        await corpus.all("ReadSnapshot", corpus_pb2.ReadSnapshotRequest(name=item.name)) for item in snapshots.snapshots
    ]
    return {"samples": whole, "tasks": list(tasks.tasks), "snapshots": list(snapshots.snapshots), "read": read}


async def test_a_lost_corpus_comes_back(own_s3: S3Server) -> None:
    """All that was acknowledged before the backup began is there again: samples, tasks, snapshots, blobs, results."""
    there, back = _places(own_s3)
    action = digest.of_bytes(b"action")
    report = compiler_pb2.VerificationReport(action_digest=action, verdict=compiler_pb2.VerificationReport.PASSED)
    result = storage_pb2.ActionResult(action_digest=action, report=report)
    with _service(there) as service:
        async with client.channel(service.address) as channel:
            corpus = Corpus(channel)
            task = (await corpus.task()).name
            for number in range(6):
                await corpus.sample(task, f"source {number}")
            await corpus.call("CreateSnapshot", corpus_pb2.CreateSnapshotRequest(snapshot_id="kept"))
            kept = await corpus.call("UpdateActionResult", storage_pb2.UpdateActionResultRequest(action_result=result))
            before = await _everything(corpus)
            ended = await asyncio.to_thread(_copy, there)
    assert ended.returncode == 0, ended.stderr

    store = Minio(own_s3.endpoint, access_key=s3.ACCESS_KEY, secret_key=s3.SECRET_KEY, secure=False)
    for item in store.list_objects("corpus", recursive=True):
        store.remove_object("corpus", item.object_name)
    ended = await asyncio.to_thread(_copy, back)
    assert ended.returncode == 0, ended.stderr

    with _service(there) as service:
        async with client.channel(service.address) as channel:
            corpus = Corpus(channel)
            assert await _everything(corpus) == before
            asked = storage_pb2.GetActionResultRequest(action_digest=result.action_digest)
            assert await corpus.call("GetActionResult", asked) == kept
            # It takes new samples, and knows the old ones.
            await corpus.sample(task, "source 3")
            await corpus.sample(task, "source new")
            assert (await corpus.call("GetStats", corpus_pb2.GetStatsRequest())).sample_count == 7


async def test_a_corpus_is_copied_while_it_is_written(own_s3: S3Server) -> None:
    """What was there when the copy began is in it, and it can be read; a further copy brings only what is new."""
    there, back = _places(own_s3)
    with _service(there) as service:
        async with client.channel(service.address) as channel:
            corpus = Corpus(channel)
            task = (await corpus.task()).name
            early = {(await corpus.sample(task, f"early {number}")).name for number in range(5)}
            copying = asyncio.create_task(asyncio.to_thread(_copy, there))
            late = set()
            while not copying.done():
                late.add((await corpus.sample(task, f"late {len(late)}")).name)
            first = await copying
            second = await asyncio.to_thread(_copy, there)
            all_of_them = (await _everything(corpus))["samples"]
    third = await asyncio.to_thread(_copy, there)
    assert (first.returncode, second.returncode) == (0, 0), first.stderr + second.stderr
    assert late
    assert third.stdout.startswith("copied 0 objects of 0 bytes"), third.stdout

    with _service(back) as service:
        async with client.channel(service.address) as channel:
            copied = (await _everything(Corpus(channel)))["samples"]
    assert early <= {sample.name for sample in copied}
    assert copied == all_of_them


def test_a_corpus_is_not_copied_onto_itself(s3: S3Server) -> None:
    """Exit code 2 and the names of the settings."""
    ended = _copy(s3.environment(prefix="a/", backup_prefix="a/"))
    assert (ended.returncode, "set KERNELVAULT_BACKUP_BUCKET" in ended.stderr) == (2, True)


def test_a_store_that_is_away_fails_the_copy(s3: S3Server) -> None:
    """Exit code 2 and one line, for whoever runs it at night."""
    ended = _copy(s3.environment(s3_endpoint="127.0.0.1:1", backup_prefix="b/"))
    assert (ended.returncode, "failed to reach the object store" in ended.stderr) == (2, True)
