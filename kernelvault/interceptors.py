"""What happens around every call of a server: errors become statuses; logs, metrics and traces are written."""

from __future__ import annotations

import asyncio
import contextlib
import contextvars
import inspect
import time
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Iterator
from typing import Any, Protocol

import grpc
import structlog
from grpc_status import rpc_status
from opentelemetry import context as otel_context
from opentelemetry import propagate, trace
from prometheus_client import Counter, Gauge, Histogram

from kernelvault import errors
from kernelvault.access import audit, caller, roles
from kernelvault.access.guard import Guard


class Watch(Protocol):
    """Hears what goes over a call."""

    def request(self, message: Any) -> None:
        """Hears of each request, before its handler does."""

    def response(self, message: Any) -> None:
        """Hears of each response."""


Around = Callable[[str, grpc.aio.ServicerContext], contextlib.AbstractAsyncContextManager[Watch | None]]

_log = structlog.get_logger()
_calls = Counter("kernelvault_rpc_total", "Finished calls", ["method", "code"])
_seconds = Histogram(
    "kernelvault_rpc_seconds",
    "Duration of calls",
    ["method"],
    buckets=(0.005, 0.02, 0.1, 0.5, 1, 2, 5, 10, 30, 60, 300),
)
_CODES: dict[int, str] = {member.value[0]: member.name for member in grpc.StatusCode}
_running = Gauge("kernelvault_rpc_running", "Calls that are running", ["method"])

# The monotonic time by which the call that is being served must end; None: no deadline.
_deadline: contextvars.ContextVar[float | None] = contextvars.ContextVar("deadline", default=None)


def remaining_s() -> float | None:
    """Seconds left to the call that is being served, for the calls made for it to inherit; None: no deadline."""
    deadline = _deadline.get()
    return None if deadline is None else max(0.0, deadline - time.monotonic())


class AroundInterceptor(grpc.aio.ServerInterceptor):  # type: ignore[misc]
    """Runs each call inside a context manager, whatever its streaming kind; what that yields hears the messages."""

    def __init__(self, around: Around) -> None:
        self._around = around

    async def intercept_service(self, continuation: Any, details: grpc.HandlerCallDetails) -> Any:
        """Wraps the handler that `continuation` finds; raises nothing of its own."""
        handler = await continuation(details)
        if handler is None:
            return None
        sides = [
            ("stream" if streams else "unary") for streams in (handler.request_streaming, handler.response_streaming)
        ]
        name = "_".join(sides)
        inner, around, method = getattr(handler, name), self._around, details.method

        async def respond(request: Any, context: grpc.aio.ServicerContext) -> Any:
            async with around(method, context) as watch:
                response = await inner(_heard(request, watch), context)
                if watch is not None:
                    watch.response(response)
                return response

        async def stream(request: Any, context: grpc.aio.ServicerContext) -> AsyncIterator[Any]:
            async with (
                around(method, context) as watch,
                contextlib.aclosing(_each(inner, _heard(request, watch), context)) as responses,
            ):
                async for response in responses:
                    if watch is not None:
                        watch.response(response)
                    yield response

        make = getattr(grpc, f"{name}_rpc_method_handler")
        behaviour = stream if handler.response_streaming else respond
        return make(behaviour, handler.request_deserializer, handler.response_serializer)


class LateReading(grpc.aio.ServerInterceptor):  # type: ignore[misc]
    """Lets the interceptors around it refuse a call before its request is read: a stranger could send 64 MiB."""

    async def intercept_service(self, continuation: Any, details: grpc.HandlerCallDetails) -> Any:
        """Makes of a unary request a stream of one, which its handler's wrapper reads."""
        handler = await continuation(details)
        if handler is None or handler.request_streaming:
            return handler
        unary_unary, unary_stream = handler.unary_unary, handler.unary_stream

        async def respond(requests: Any, context: grpc.aio.ServicerContext) -> Any:
            return await unary_unary(await _only(requests), context)

        async def stream(requests: Any, context: grpc.aio.ServicerContext) -> AsyncIterator[Any]:
            async with contextlib.aclosing(_each(unary_stream, await _only(requests), context)) as responses:
                async for response in responses:
                    yield response

        codecs = handler.request_deserializer, handler.response_serializer
        if handler.response_streaming:
            return grpc.stream_stream_rpc_method_handler(stream, *codecs)
        return grpc.stream_unary_rpc_method_handler(respond, *codecs)


async def _only(requests: Any) -> Any:
    request = await anext(aiter(requests), None)
    if request is None:
        raise errors.InvalidArgument("", "the call has no request")
    return request


async def _each(behaviour: Any, request: Any, context: grpc.aio.ServicerContext) -> AsyncGenerator[Any, None]:
    """The responses of a handler, which yields them, or writes them itself as gRPC's health service does."""
    made = behaviour(request, context)
    if inspect.iscoroutine(made):
        await made
        return
    async with contextlib.aclosing(made) as responses:
        async for response in responses:
            yield response


def _heard(request: Any, watch: Watch | None) -> Any:
    """The request, or the stream of them, which `watch` hears of."""
    if watch is None:
        return request
    if not hasattr(request, "__aiter__"):
        watch.request(request)
        return request
    return _each_heard(request, watch)


async def _each_heard(requests: Any, watch: Watch) -> AsyncIterator[Any]:
    async for request in requests:
        watch.request(request)
        yield request


@contextlib.asynccontextmanager
async def errors_to_status(method: str, context: grpc.aio.ServicerContext) -> AsyncIterator[Watch | None]:
    """Turns errors raised on purpose into their status and any other exception into INTERNAL without its text."""
    try:
        yield None
    except errors.Error as error:
        await context.abort_with_status(rpc_status.to_status(error.to_status()))
    except (grpc.aio.AbortError, grpc.aio.BaseError):
        raise
    except Exception:
        _log.exception("call failed", method=method)
        fault = errors.Internal("INTERNAL", f"{method} failed: an unexpected error, see the server's log")
        await context.abort_with_status(rpc_status.to_status(fault.to_status()))


@contextlib.asynccontextmanager
async def observe(method: str, context: grpc.aio.ServicerContext) -> AsyncIterator[Watch | None]:
    """Logs and counts the call, gives it an id, and keeps its deadline for `remaining_s`."""
    headers = dict(context.invocation_metadata() or ())
    structlog.contextvars.bind_contextvars(request_id=caller.adopt_request_id(headers.get(caller.REQUEST_ID)))
    started = time.monotonic()
    left = context.time_remaining()
    token = _deadline.set(None if left is None else started + left)
    _running.labels(method).inc()
    code = "CANCELLED"
    try:
        yield None
        code = _code_of(context)
    except Exception:
        code = _code_of(context, "INTERNAL")
        raise
    finally:
        seconds = time.monotonic() - started
        _running.labels(method).dec()
        _calls.labels(method, code).inc()
        _seconds.labels(method).observe(seconds)
        log = _log.debug if method.startswith("/grpc.") else _log.info
        log("call", method=method, code=code, seconds=round(seconds, 4))
        with contextlib.suppress(ValueError):  # a stream that is closed elsewhere ends in another context
            _deadline.reset(token)


def _code_of(context: grpc.aio.ServicerContext, default: str = "OK") -> str:
    code = context.code()
    if isinstance(code, grpc.StatusCode):
        return str(code.name)
    return _CODES.get(code, default) if code else default


@contextlib.asynccontextmanager
async def traced(method: str, context: grpc.aio.ServicerContext) -> AsyncIterator[Watch | None]:
    """Continues the caller's trace (W3C traceparent)."""
    headers = {key: value for key, value in context.invocation_metadata() or () if isinstance(value, str)}
    tracer = trace.get_tracer("kernelvault")
    span = tracer.start_span(method.lstrip("/"), propagate.extract(headers), kind=trace.SpanKind.SERVER)
    home = asyncio.current_task()
    token = otel_context.attach(trace.set_span_in_context(span))
    try:
        yield None
    finally:
        span.end()
        # A stream that its caller left is closed by another task, which never had this context.
        if asyncio.current_task() is home:
            otel_context.detach(token)


def admitting(guard: Guard, log: audit.AuditLog) -> Around:
    """Lets in whom `guard` knows and allows, and writes into `log` who had what changed or done."""

    @contextlib.asynccontextmanager
    async def admit(method: str, context: grpc.aio.ServicerContext) -> AsyncIterator[Watch | None]:
        with contextlib.ExitStack() as stack:
            entry = None
            if roles.changes(method):
                told = {"method": method, "peer": context.peer(), "request_id": caller.request_id()}
                entry = stack.enter_context(log.entry(**told))
            with _outcome(entry, context):
                if roles.needed(method):
                    who = guard.identify(context.invocation_metadata() or (), _certificate_names(context))
                    caller.serve(who)
                    structlog.contextvars.bind_contextvars(caller=who.name)
                    if entry:
                        entry.who = who
                    guard.check(method, who)
                yield entry

    return admit


@contextlib.contextmanager
def _outcome(entry: audit.Entry | None, context: grpc.aio.ServicerContext) -> Iterator[None]:
    """Tells an audit entry how its call ended."""
    code = "CANCELLED"
    try:
        yield None
        code = _code_of(context)
    except errors.Error as error:
        code = _CODES[error.code]
        raise
    except Exception:
        code = _code_of(context, "INTERNAL")
        raise
    finally:
        if entry:
            entry.code = code


def _certificate_names(context: grpc.aio.ServicerContext) -> list[str]:
    """The names in the caller's verified certificate: its alternative names, or else its common name."""
    shown = context.auth_context()
    names = shown.get("x509_subject_alternative_name") or shown.get("x509_common_name") or ()
    return [name.decode("utf-8", "replace") for name in names]


class Running:
    """Counts the calls that a server works on, but those of gRPC's own services."""

    def __init__(self) -> None:
        self.count = 0

    @contextlib.asynccontextmanager
    async def around(self, method: str, context: grpc.aio.ServicerContext) -> AsyncIterator[Watch | None]:
        """Counts one call while it lasts."""
        counted = not method.startswith("/grpc.")
        self.count += counted
        try:
            yield None
        finally:
            self.count -= counted


def standard(guard: Guard, log: audit.AuditLog, running: Running) -> list[grpc.aio.ServerInterceptor]:
    """The interceptors of every server, outermost first."""
    arounds = (running.around, traced, observe, errors_to_status, admitting(guard, log))
    return [*(AroundInterceptor(around) for around in arounds), LateReading()]
