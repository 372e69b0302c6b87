"""What the audit log says of calls."""

from __future__ import annotations

import asyncio
import dataclasses
import json
from pathlib import Path
from typing import Any

import pytest

from kernelvault import client, errors
from kernelvault.config import ClientConfig, ServerConfig
from kernelvault.v1 import artifact_pb2, corpus_pb2, corpus_pb2_grpc, kernel_pb2
from tests.access import TokensFile, one
from tests.conftest import Serve


def lines_of(path: Path) -> list[dict[str, Any]]:
    """What is in an audit file so far."""
    return [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []


async def audited(path: Path, count: int = 1) -> list[dict[str, Any]]:
    """The lines of an audit file, once there are `count`."""
    async with asyncio.timeout(5):
        while len(lines := lines_of(path)) < count:
            await asyncio.sleep(0.01)
    return lines


async def test_a_mutating_call_leaves_a_line(serve: Serve, known: TokensFile, tmp_path: Path) -> None:
    """Who, from where, what and how it ended; the source's digest and never the source."""

    async def create(request: corpus_pb2.CreateTaskRequest, context: Any) -> kernel_pb2.Task:
        return kernel_pb2.Task(name="tasks/softmax-1", title=request.task.title)

    token = known.add("alice", "submit")
    settings = ServerConfig(tokens_file=known.path, audit_file=tmp_path / "audit")
    address = await serve(CreateTask=create, GetStats=one, settings=settings)
    reference = artifact_pb2.Artifact(path="softmax.py", contents=b"secret sauce")
    task = kernel_pb2.Task(title="softmax", reference=reference, instructions="secret words")
    async with client.channel(address, ClientConfig(token=token)) as channel:
        stub = corpus_pb2_grpc.CorpusStub(channel)
        await client.call(stub.GetStats, corpus_pb2.GetStatsRequest(), timeout_s=5)
        await stub.CreateTask(corpus_pb2.CreateTaskRequest(task=task), timeout=5, metadata=[("x-request-id", "r-1")])
    [line] = await audited(settings.audit_file or Path())

    assert "secret" not in json.dumps(line)
    assert line.pop("peer").startswith("ipv4:127.0.0.1:")
    assert line.pop("seconds") < 1
    assert line.pop("timestamp").endswith("Z")
    assert line == {
        "event": "audit",
        "who": "alice",
        "certificate": "",
        "method": "/kernelvault.v1.Corpus/CreateTask",
        "code": "OK",
        "request_id": "r-1",
        "what": {
            "task.title": "softmax",
            "task.reference": "softmax.py@d592aa9a80de2d44d5b0e3d2b7c98d27ae5b509d15a112243a170ee7c97d205d",
        },
        "result": {"name": "tasks/softmax-1", "title": "softmax"},
    }


async def test_refused_and_failed_calls_leave_lines_too(serve: Serve, known: TokensFile, tmp_path: Path) -> None:
    """Whoever tries is on record, with how it ended."""

    async def fail(request: Any, context: Any) -> kernel_pb2.Task:
        if request.task.title == "bug":
            raise RuntimeError("a bug")
        raise errors.InvalidArgument("task", "is empty")

    reader, author = known.add("bob", "read"), known.add("alice", "submit")
    settings = ServerConfig(tokens_file=known.path, audit_file=tmp_path / "audit")
    address = await serve(CreateTask=fail, settings=settings)
    for token, title in (("", ""), (reader, ""), (author, ""), (author, "bug")):
        async with client.channel(address, ClientConfig(token=token)) as channel:
            method = corpus_pb2_grpc.CorpusStub(channel).CreateTask
            with pytest.raises(errors.Error):
                request = corpus_pb2.CreateTaskRequest(task=kernel_pb2.Task(title=title))
                await client.call(method, request, timeout_s=5)
    lines = await audited(settings.audit_file or Path(), 4)

    assert [(line["who"], line["code"]) for line in lines] == [
        ("anonymous", "UNAUTHENTICATED"),
        ("bob", "PERMISSION_DENIED"),
        ("alice", "INVALID_ARGUMENT"),
        ("alice", "INTERNAL"),
    ]


async def test_a_call_made_for_a_call_keeps_its_request_id(serve: Serve, tmp_path: Path) -> None:
    """What one request caused in several services is found by one id."""
    settings = ServerConfig(audit_file=tmp_path / "audit")

    async def create(request: corpus_pb2.CreateTaskRequest, context: Any) -> kernel_pb2.Task:
        return kernel_pb2.Task()

    inner = await serve(CreateTask=create, settings=settings)

    async def ask_inner(request: Any, context: Any) -> kernel_pb2.Task:
        async with client.channel(inner) as channel:
            return await client.call(corpus_pb2_grpc.CorpusStub(channel).CreateTask, request, timeout_s=5)

    outer = await serve(CreateTask=ask_inner, settings=dataclasses.replace(settings, audit_file=tmp_path / "outer"))
    async with client.channel(outer) as channel:
        method = corpus_pb2_grpc.CorpusStub(channel).CreateTask
        await client.call(method, corpus_pb2.CreateTaskRequest(), timeout_s=5)

    [first], [second] = await audited(tmp_path / "outer"), await audited(tmp_path / "audit")
    assert first["request_id"] == second["request_id"]
