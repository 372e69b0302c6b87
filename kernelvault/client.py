"""Calls to other services: channels, deadlines, retries, errors as they were raised."""

from __future__ import annotations

import asyncio
import random
import re
from collections.abc import AsyncGenerator, Callable, Iterable
from typing import Any, TypeVar

import grpc
from grpc_health.v1 import health_pb2, health_pb2_grpc
from grpc_status import rpc_status
from opentelemetry import propagate

from kernelvault import errors
from kernelvault.access import caller
from kernelvault.channel import channel
from kernelvault.interceptors import remaining_s

__all__ = ["ACCEPTED", "DEFAULT_TIMEOUT_S", "OnWait", "call", "channel", "health", "stream", "upload"]

DEFAULT_TIMEOUT_S = 600.0
_MAX_WAIT_S = 10.0
# What gRPC says of a connection that came about and was then not agreed on.
_NO_HANDSHAKE = re.compile(r"handshake failed|verification check failed|last error: .*Socket closed")
# gRPC's words for a write that failed, whatever the reason.
_CUT_OFF = "Internal error from Core"
_MOST_CUTS = 4
# How the server of a client stream says that it takes the rest.
ACCEPTED = (("accepted", "1"),)
Response = TypeVar("Response")
# Hears why a call is tried again.
OnWait = Callable[[errors.Error], None]


def _nobody_hears(error: errors.Error) -> None:
    """For callers whom waiting does not concern."""


async def call(
    method: Any, request: Any, *, timeout_s: float = DEFAULT_TIMEOUT_S, on_wait: OnWait = _nobody_hears
) -> Any:
    """A unary call; raises errors.Error. UNAVAILABLE is tried again until the deadline, when the server says so."""
    deadline, metadata = _Deadline(timeout_s, on_wait), _metadata()
    while True:
        try:
            return await method(request, timeout=deadline.left_s(), metadata=metadata)
        except grpc.aio.AioRpcError as error:
            await deadline.wait_or_raise(_error_of(error))


async def upload(method: Any, requests: Callable[[], Iterable[Any]], *, timeout_s: float = DEFAULT_TIMEOUT_S) -> Any:
    """A client stream; raises errors.Error. It is sent anew, from `requests()`, where `call` would try again.

    The server accepts the first request by the initial metadata `ACCEPTED`, and only then the rest is sent: a call that
    the server ends while the client still writes shows INTERNAL instead of the server's status. So does one whose
    server is killed then: it is sent anew a few times.
    """
    deadline, metadata, cuts = _Deadline(timeout_s), _metadata(), 0
    while True:
        call = method(timeout=deadline.left_s(), metadata=metadata)
        try:
            return await _send(call, requests())
        except grpc.aio.AioRpcError as error:
            fault = _error_of(error)
            if error.details() == _CUT_OFF and cuts < _MOST_CUTS:
                cuts += 1
                fault = errors.Unavailable("FOREIGN", "the server ended the call, or went away, while it was sent")
            await deadline.wait_or_raise(fault)
        finally:
            call.cancel()


async def _send(call: Any, requests: Iterable[Any]) -> Any:
    for index, request in enumerate(requests):
        if index == 1 and not await call.initial_metadata():
            return await call
        await call.write(request)
    await call.done_writing()
    return await call


async def stream(
    method: Any,
    request: Any,
    *,
    timeout_s: float = DEFAULT_TIMEOUT_S,
    resume: Callable[[Any, Any], Any] | None = None,
    on_wait: OnWait = _nobody_hears,
) -> AsyncGenerator[Any, None]:
    """The responses of a server stream; raises errors.Error.

    When the server goes away the call is made again with the same request, so that stages may be seen twice; a stream
    whose responses must not repeat gives `resume(request, last_response)`, the request for the rest.
    """
    deadline, metadata = _Deadline(timeout_s, on_wait), _metadata()
    while True:
        responses = method(request, timeout=deadline.left_s(), metadata=metadata)
        try:
            async for response in responses:
                deadline.progressed()
                yield response
                if resume is not None:
                    request = resume(request, response)
            return
        except grpc.aio.AioRpcError as error:
            await deadline.wait_or_raise(_error_of(error))
        finally:
            responses.cancel()


async def health(channel: grpc.aio.Channel, *, timeout_s: float) -> str:
    """What a server says of itself: `SERVING` or `NOT_SERVING`.

    `UNREACHABLE` where it says nothing in time; `NOT_TRUSTED` where something listens and the connection does not come
    about: one side does not trust the other, or only one of them speaks TLS.
    """
    stub = health_pb2_grpc.HealthStub(channel)
    try:
        response = await stub.Check(health_pb2.HealthCheckRequest(), timeout=timeout_s)
    except grpc.aio.AioRpcError as error:
        details = error.details() or ""
        return "NOT_TRUSTED" if _NO_HANDSHAKE.search(details) else "UNREACHABLE"
    return str(health_pb2.HealthCheckResponse.ServingStatus.Name(response.status))


class _Deadline:
    """When a call must end, and how long to wait before the next try."""

    def __init__(self, timeout_s: float, on_wait: OnWait = _nobody_hears) -> None:
        self._on_wait = on_wait
        inherited = remaining_s()
        timeout_s = timeout_s if inherited is None else min(timeout_s, inherited)
        self._end = asyncio.get_running_loop().time() + timeout_s
        self._tries = 0

    def left_s(self) -> float:
        return max(0.001, self._end - asyncio.get_running_loop().time())

    def progressed(self) -> None:
        self._tries = 0

    async def wait_or_raise(self, error: errors.Error) -> None:
        if not isinstance(error, errors.Unavailable):
            raise error
        backoff = min(_MAX_WAIT_S, 0.2 * 2**self._tries)
        wait = max(error.retry_after_s, backoff) if error.reason != "FOREIGN" else backoff
        wait *= random.uniform(0.8, 1.2)
        if wait >= self.left_s():
            raise error
        self._tries += 1
        self._on_wait(error)
        await asyncio.sleep(wait)


def _error_of(error: grpc.aio.AioRpcError) -> errors.Error:
    status = rpc_status.from_call(error)
    if status is not None:
        return errors.from_status(status)
    from google.rpc import status_pb2

    code = error.code()
    if code is grpc.StatusCode.CANCELLED:
        # Not by us, which raises asyncio.CancelledError: the call met a server that had just begun to drain.
        code = grpc.StatusCode.UNAVAILABLE
    return errors.from_status(status_pb2.Status(code=code.value[0], message=error.details() or code.name))


def _metadata() -> list[tuple[str, str]]:
    """The trace and the request id that a call belongs to, whichever try it is."""
    carrier: dict[str, str] = {}
    propagate.inject(carrier)
    return [*carrier.items(), (caller.REQUEST_ID, caller.request_id())]
