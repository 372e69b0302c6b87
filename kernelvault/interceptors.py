"""What happens around every call of a server: errors become statuses; logs, metrics and traces are written."""

from __future__ import annotations

import asyncio
import contextlib
import contextvars
import time
from collections.abc import AsyncIterator, Callable
from typing import Any

import grpc
import structlog
from grpc_status import rpc_status
from opentelemetry import context as otel_context
from opentelemetry import propagate, trace
from prometheus_client import Counter, Gauge, Histogram

from kernelvault import errors

Around = Callable[[str, grpc.aio.ServicerContext], contextlib.AbstractAsyncContextManager[None]]

_log = structlog.get_logger()
_calls = Counter("kernelvault_rpc_total", "Finished calls", ["method", "code"])
_seconds = Histogram(
    "kernelvault_rpc_seconds",
    "Duration of calls",
    ["method"],
    buckets=(0.005, 0.02, 0.1, 0.5, 1, 2, 5, 10, 30, 60, 300),
)
_running = Gauge("kernelvault_rpc_running", "Calls that are running", ["method"])

# The monotonic time by which the call that is being served must end; None: no deadline.
_deadline: contextvars.ContextVar[float | None] = contextvars.ContextVar("deadline", default=None)


def remaining_s() -> float | None:
    """Seconds left to the call that is being served, for the calls made for it to inherit; None: no deadline."""
    deadline = _deadline.get()
    return None if deadline is None else max(0.0, deadline - time.monotonic())


class AroundInterceptor(grpc.aio.ServerInterceptor):  # type: ignore[misc]
    """Runs each call inside a context manager, whatever its streaming kind."""

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
            async with around(method, context):
                return await inner(request, context)

        async def stream(request: Any, context: grpc.aio.ServicerContext) -> AsyncIterator[Any]:
            async with around(method, context), contextlib.aclosing(inner(request, context)) as responses:
                async for response in responses:
                    yield response

        make = getattr(grpc, f"{name}_rpc_method_handler")
        behaviour = stream if handler.response_streaming else respond
        return make(behaviour, handler.request_deserializer, handler.response_serializer)


@contextlib.asynccontextmanager
async def errors_to_status(method: str, context: grpc.aio.ServicerContext) -> AsyncIterator[None]:
    """Turns errors raised on purpose into their status and any other exception into INTERNAL without its text."""
    try:
        yield
    except errors.Error as error:
        await context.abort_with_status(rpc_status.to_status(error.to_status()))
    except (grpc.aio.AbortError, grpc.aio.BaseError):
        raise
    except Exception:
        _log.exception("call failed", method=method)
        fault = errors.Internal("INTERNAL", f"{method} failed: an unexpected error, see the server's log")
        await context.abort_with_status(rpc_status.to_status(fault.to_status()))


@contextlib.asynccontextmanager
async def observe(method: str, context: grpc.aio.ServicerContext) -> AsyncIterator[None]:
    """Logs and counts the call, and keeps its deadline for `remaining_s`."""
    started = time.monotonic()
    left = context.time_remaining()
    token = _deadline.set(None if left is None else started + left)
    _running.labels(method).inc()
    code = "CANCELLED"
    try:
        yield
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
    names = {member.value[0]: member.name for member in grpc.StatusCode}
    return names.get(code, default) if code else default


@contextlib.asynccontextmanager
async def traced(method: str, context: grpc.aio.ServicerContext) -> AsyncIterator[None]:
    """Continues the caller's trace (W3C traceparent)."""
    headers = {key: value for key, value in context.invocation_metadata() or () if isinstance(value, str)}
    tracer = trace.get_tracer("kernelvault")
    span = tracer.start_span(method.lstrip("/"), propagate.extract(headers), kind=trace.SpanKind.SERVER)
    home = asyncio.current_task()
    token = otel_context.attach(trace.set_span_in_context(span))
    try:
        yield
    finally:
        span.end()
        # A stream that its caller left is closed by another task, which never had this context.
        if asyncio.current_task() is home:
            otel_context.detach(token)


def standard() -> list[AroundInterceptor]:
    """The interceptors of every server, outermost first."""
    return [AroundInterceptor(around) for around in (traced, observe, errors_to_status)]
