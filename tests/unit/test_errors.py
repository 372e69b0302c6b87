"""Errors over a real connection."""

from typing import Any

import pytest

from kernelvault import client, errors
from kernelvault.v1 import corpus_pb2, corpus_pb2_grpc
from tests.conftest import Serve

RAISED = [
    errors.InvalidArgument("action.sources", "is empty", "NO_SOURCE", count="0"),
    errors.NotFound("NO_TASK", "there is no task 'tasks/x'", task="tasks/x"),
    errors.AlreadyExists("TAKEN", "the snapshot has other content"),
    errors.FailedPrecondition("NOT_LOWERABLE", "cannot lower aten.sort", operator="aten.sort"),
    errors.ResourceExhausted("TOKENS", "the budget is spent"),
    errors.OutOfRange("OFFSET", "the offset is beyond the end"),
    errors.DataLoss("DIGEST_MISMATCH", "stored bytes are damaged"),
    errors.DeadlineExceeded("TOO_LONG", "took too long"),
    errors.Internal("BROKEN", "a fault of ours"),
]


async def _raise_over_the_wire(serve: Serve, error: Exception) -> errors.Error:
    async def fail(request: Any, context: Any) -> None:
        raise error

    stub = corpus_pb2_grpc.CorpusStub(client.channel(await serve(GetStats=fail)))
    with pytest.raises(errors.Error) as caught:
        await client.call(stub.GetStats, corpus_pb2.GetStatsRequest(), timeout_s=5)
    return caught.value


@pytest.mark.parametrize("error", RAISED, ids=lambda error: type(error).__name__)
async def test_an_error_arrives_as_it_was_raised(serve: Serve, error: errors.Error) -> None:
    """Type, reason, message and metadata survive the wire."""
    seen = await _raise_over_the_wire(serve, error)

    assert type(seen) is type(error)
    assert (seen.reason, str(seen), seen.metadata) == (error.reason, str(error), error.metadata)


async def test_the_field_of_a_bad_request_arrives(serve: Serve) -> None:
    """A client can point at the field that is wrong."""
    seen = await _raise_over_the_wire(serve, errors.InvalidArgument("task.title", "is empty"))

    assert isinstance(seen, errors.InvalidArgument)
    assert seen.field == "task.title"


async def test_an_unexpected_exception_keeps_its_text_to_itself(serve: Serve) -> None:
    """What a bug says may hold secrets: the caller learns that something failed, and no more."""
    seen = await _raise_over_the_wire(serve, RuntimeError("the key is 1234"))

    assert isinstance(seen, errors.Internal)
    assert "1234" not in str(seen)


def test_when_to_retry_survives_the_wire() -> None:
    """UNAVAILABLE says when to come back."""
    seen = errors.from_status(errors.Unavailable("QUEUE_FULL", "full", 2.5, queue="64").to_status())

    assert isinstance(seen, errors.Unavailable)
    assert (seen.retry_after_s, seen.reason, seen.metadata) == (2.5, "QUEUE_FULL", {"queue": "64"})
