"""The HTTP endpoints: who may ask, how much at once, and what each answers."""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections.abc import Awaitable, Callable, Coroutine
from typing import Any

import structlog
from prometheus_client import Counter, Histogram
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from kernelvault import Client, errors
from kernelvault.access import caller, outgoing
from kernelvault.access.guard import HEADER, Guard
from kernelvault.admission import Admission
from orchestrator.gateway import answers, fields, orders, patience, refusals
from orchestrator.gateway.evaluation import Evaluator, Judgement, Order
from orchestrator.gateway.settings import GatewayConfig

SERVICES = ("compiler", "profiler", "corpus")
_BODY_S = 60.0
_GONE = 499
_log = structlog.get_logger()
_requests = Counter("kernelvault_gateway_requests_total", "Finished HTTP requests", ["path", "status"])
_seconds = Histogram(
    "kernelvault_gateway_seconds",
    "Duration of HTTP requests",
    ["path"],
    buckets=(0.1, 0.5, 1, 5, 10, 30, 60, 300, 1800),
)
# What an endpoint makes of a body, for the caller of an `authorization` header.
Work = Callable[[bytes, str], Coroutine[Any, Any, Any]]


class Gateway:
    """The endpoints over one client, whose calls carry their callers' tokens and never its own."""

    def __init__(self, client: Client, guard: Guard, settings: GatewayConfig) -> None:
        self._client = client
        self._guard = guard
        self._settings = settings
        self._evaluator = Evaluator(client, settings)
        self._admission = Admission("requests", workers=settings.max_requests)

    def application(self) -> Starlette:
        """The ASGI application."""
        posts: dict[str, Work] = {
            "/run_code": self._run_code,
            "/run_code_batch": self._run_code_batch,
            "/evaluate": self._evaluate,
        }
        routes = [Route(path, self._endpoint(path, work), methods=["POST"]) for path, work in posts.items()]
        return Starlette(
            routes=[*routes, Route("/health", self._health, methods=["GET"])],
            exception_handlers={HTTPException: _unknown},
        )

    async def health(self) -> dict[str, str]:
        """The state of each service that is needed."""
        states = await asyncio.gather(*(self._client.health(service) for service in SERVICES))
        return dict(zip(SERVICES, states, strict=True))

    async def _health(self, request: Request) -> Response:
        services = await self.health()
        well = all(state == "SERVING" for state in services.values())
        content = {"status": "healthy" if well else "unhealthy", "available": well, "services": services}
        return JSONResponse(content, 200 if well else 503)

    async def _run_code(self, body: bytes, authorization: str) -> Any:
        request = fields.read(fields.ONE, body)
        return (await self._judged([request], authorization, one=True))[0]

    async def _run_code_batch(self, body: bytes, authorization: str) -> Any:
        began = time.monotonic()
        requests = fields.read(fields.BATCH, body)
        if len(requests) > self._settings.max_batch:
            raise fields.malformed(
                [], f"has {len(requests)} entries; send at most {self._settings.max_batch}", "too_long"
            )
        responses = await self._judged(requests, authorization)
        return {
            "responses": responses,
            "total_time": round(time.monotonic() - began, 4),
            "batch_size": len(requests),
        }

    async def _judged(
        self, requests: list[fields.RunCode], authorization: str, *, one: bool = False
    ) -> list[dict[str, Any]]:
        """The responses in order; the first fault of the platform ends all, those of the request are told together."""
        locations: list[list[str | int]] = [[] if one else [index] for index in range(len(requests))]
        wanted = [
            orders.of_run_code(request, location, authorization)
            for request, location in zip(requests, locations, strict=True)
        ]
        async with asyncio.TaskGroup() as group:
            tasks = [
                group.create_task(self._one(order, request, location))
                for order, request, location in zip(wanted, requests, locations, strict=True)
            ]
        ended = [task.result() for task in tasks]
        details = [detail for found in ended if isinstance(found, fields.Malformed) for detail in found.detail]
        if details:
            raise fields.Malformed(details)
        judgements = [found for found in ended if isinstance(found, Judgement)]
        self._check_judged(judgements)
        return [answers.run_code(request, found) for request, found in zip(requests, judgements, strict=True)]

    async def _evaluate(self, body: bytes, authorization: str) -> Any:
        root = self._settings.references_dir
        if root is None:
            raise HTTPException(404, "there is no folder of references: set KERNELVAULT_REFERENCES_DIR for the gateway")
        request = fields.read(fields.EVALUATE, body)
        found = await self._one(orders.of_evaluate(request, root, authorization), request, [])
        if isinstance(found, fields.Malformed):
            raise found
        self._check_judged([found])
        return answers.evaluate(found)

    async def _one(
        self, order: Order, request: fields.RunCode | fields.Evaluate, location: list[str | int]
    ) -> Judgement | fields.Malformed:
        """The judgement, or what is wrong with the request."""
        try:
            return await self._evaluator.judge(order)
        except errors.Error as error:
            blamed = fields.blamed(error, request, location)
            if blamed is None:
                raise
            return blamed

    def _check_judged(self, judgements: list[Judgement]) -> None:
        if self._settings.unjudged == "null":
            return
        found = {index: answers.reason(one) for index, one in enumerate(judgements) if answers.unjudged(one)}
        if found:
            raise refusals.Unjudged(found)

    def _endpoint(self, path: str, work: Work) -> Callable[[Request], Awaitable[Response]]:
        async def respond(request: Request) -> Response:
            request_id = caller.adopt_request_id(request.headers.get(caller.REQUEST_ID))
            structlog.contextvars.bind_contextvars(request_id=request_id)
            began = time.monotonic()
            response = await self._answered(request, work)
            response.headers[caller.REQUEST_ID] = request_id
            seconds = time.monotonic() - began
            _requests.labels(path, str(response.status_code)).inc()
            _seconds.labels(path).observe(seconds)
            _log.info("request", path=path, status=response.status_code, seconds=round(seconds, 4))
            return response

        return respond

    async def _answered(self, request: Request, work: Work) -> Response:
        try:
            return await self._admitted(request, work)
        except HTTPException:
            raise
        except ClientDisconnect:
            return Response(status_code=_GONE)
        except Exception as error:
            first = _first(error)
            if not isinstance(first, refusals.EXPECTED):
                _log.exception("request failed")
            return refusals.answer(first)

    async def _admitted(self, request: Request, work: Work) -> Response:
        """Strangers are refused before their bodies are read, and so is what is too much at once."""
        shown = [(HEADER, value) for value in request.headers.getlist(HEADER)]
        if any(not value.isascii() or not value.isprintable() for _, value in shown):
            raise errors.Unauthenticated("MALFORMED_TOKEN", "the authorization header is not one `Bearer TOKEN`")
        caller.serve(self._guard.identify(shown, []))
        async with self._admission.turn():
            body = await _body(request, self._settings.max_body_bytes)
            patience.begin(self._settings.patience_seconds)
            authorization = shown[0][1] if shown else ""
            with outgoing.on_behalf_of(authorization):
                async with asyncio.timeout(self._settings.request_timeout_seconds):
                    return JSONResponse(await _unless_gone(request, work(body, authorization)))


async def _body(request: Request, limit: int) -> bytes:
    """The body; raises TooLarge as soon as it is known to be above `limit` bytes."""
    if int(request.headers.get("content-length") or 0) > limit:
        raise refusals.TooLarge(limit)
    body = bytearray()
    try:
        async with asyncio.timeout(_BODY_S):
            async for chunk in request.stream():
                body += chunk
                if len(body) > limit:
                    raise refusals.TooLarge(limit)
    except TimeoutError:
        raise refusals.TooSlow from None
    return bytes(body)


async def _unless_gone(request: Request, work: Coroutine[Any, Any, Any]) -> Any:
    """What `work` gives; where the caller leaves first it is cancelled, with what it has begun at the services."""
    working = asyncio.ensure_future(work)
    leaving = asyncio.ensure_future(_gone(request))
    try:
        await asyncio.wait([working, leaving], return_when=asyncio.FIRST_COMPLETED)
        if not working.done():
            raise ClientDisconnect
        return working.result()
    finally:
        for task in (working, leaving):
            task.cancel()
        await asyncio.gather(working, leaving, return_exceptions=True)


async def _gone(request: Request) -> None:
    while (await request.receive())["type"] != "http.disconnect":
        pass


def _first(error: Exception) -> Exception:
    """The error itself, or the one that ended a group of tasks."""
    return _first(error.exceptions[0]) if isinstance(error, ExceptionGroup) else error


async def _unknown(request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    with contextlib.suppress(RuntimeError):
        await request.close()
    return JSONResponse({"detail": error.detail}, error.status_code, error.headers)
