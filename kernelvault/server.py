"""The one gRPC server that all services run: health, reflection, metrics, logs, traces, drain on SIGTERM."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import os
import signal
import sys
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import AbstractAsyncContextManager
from typing import Any, NamedTuple, TypeVar

import grpc
import structlog
from grpc_health.v1 import health, health_pb2, health_pb2_grpc
from grpc_reflection.v1alpha import reflection

from kernelvault import config, interceptors, monitoring
from kernelvault.access import exposure, tls
from kernelvault.access.audit import AuditLog
from kernelvault.access.guard import Guard
from kernelvault.channel import MAX_MESSAGE_BYTES
from kernelvault.errors import Unfit

# A name that health always says SERVING for: whether to restart the process, where "" says whether to send it calls.
LIVE = "live"
_HEALTH_PERIOD_S = 2.0
_DRAIN_STEP_S = 0.05
# For the last answers to reach their callers.
_SETTLE_S = 2.0
# Clients ping every minute while they wait for a long call; gRPC's own limit of five would end their connection.
_SHORTEST_PING_INTERVAL_MS = 30_000
_log = structlog.get_logger()
Config = TypeVar("Config", bound=config.ServerConfig)


async def _always() -> None:
    """A readiness check for a service that needs nothing else."""


class Registration(NamedTuple):
    """One gRPC service of a server.

    `ready` raises where the service cannot work now (its store is unreachable, its tool chain is gone): its health then
    says NOT_SERVING until it no longer raises.
    """

    name: str
    add: Callable[[Any, Any], None]
    servicer: Any
    ready: Callable[[], Awaitable[None]] = _always


Build = Callable[[Config], AbstractAsyncContextManager[Sequence[Registration]]]


@contextlib.asynccontextmanager
async def serving(
    registrations: Sequence[Registration], settings: config.ServerConfig, watch: monitoring.Health | None = None
) -> AsyncIterator[int]:
    """Serves until the block ends, then drains; yields the port. `watch` hears of the services' health.

    Raises ConfigError where the configuration is unsafe or its files cannot be used.
    """
    exposure.check_listening(settings)
    watch = watch or monitoring.Health()
    running = interceptors.Running()
    server = grpc.aio.server(
        interceptors=interceptors.standard(Guard.of(settings), AuditLog.to(settings.audit_file), running),
        options=[
            ("grpc.max_receive_message_length", MAX_MESSAGE_BYTES),
            ("grpc.max_send_message_length", MAX_MESSAGE_BYTES),
            ("grpc.max_connection_age_ms", round(settings.max_connection_age_seconds * 1000)),
            ("grpc.max_connection_age_grace_ms", round(settings.max_connection_age_grace_seconds * 1000)),
            ("grpc.http2.min_ping_interval_without_data_ms", _SHORTEST_PING_INTERVAL_MS),
            ("grpc.so_reuseport", 0),
        ],
    )
    checks = health.aio.HealthServicer()
    health_pb2_grpc.add_HealthServicer_to_server(checks, server)
    for registration in registrations:
        registration.add(registration.servicer, server)
    names = [registration.name for registration in registrations]
    reflection.enable_server_reflection([*names, health.SERVICE_NAME, reflection.SERVICE_NAME], server)
    port = _listen(server, settings)
    await checks.set(LIVE, health_pb2.HealthCheckResponse.SERVING)
    await _report(checks, registrations, watch)
    await server.start()
    reporter = asyncio.create_task(_keep_reporting(checks, registrations, watch))
    try:
        yield port
    finally:
        reporter.cancel()
        watch.drain()
        await checks.enter_graceful_shutdown()
        await _drain(server, running, settings.drain_seconds)


async def _drain(server: grpc.aio.Server, running: interceptors.Running, most_s: float) -> None:
    """Finishes what runs, for `most_s` seconds at most.

    A call that reached the server in the moment of its end may never be handed to us: gRPC would wait for it until the
    last second, and so would its caller. It is cut off soon after all others are finished, and tried again elsewhere.
    """
    stopping = asyncio.create_task(server.stop(grace=most_s))
    idle_s = 0.0
    while not stopping.done() and idle_s < _SETTLE_S:
        await asyncio.wait([stopping], timeout=_DRAIN_STEP_S)
        idle_s = 0.0 if running.count else idle_s + _DRAIN_STEP_S
    if not stopping.done():
        await server.stop(grace=None)
    await stopping


def _listen(server: grpc.aio.Server, settings: config.ServerConfig) -> int:
    """Opens the port, in TLS where there are certificates, which each handshake looks at; returns it."""
    pem = tls.of_server(settings)
    if pem is None:
        return int(server.add_insecure_port(settings.address))
    shown = pem.current()

    def changed() -> grpc.ServerCertificateConfiguration | None:
        """What to show from now on; None: what was shown last. Called by threads of gRPC."""
        nonlocal shown
        now = pem.current()
        if now is shown:
            return None
        shown = now
        return _certificates(now)

    credentials = grpc.dynamic_ssl_server_credentials(
        _certificates(shown), changed, require_client_authentication=shown.client_ca is not None
    )
    return int(server.add_secure_port(settings.address, credentials))


def _certificates(pem: tls.ServerPem) -> grpc.ServerCertificateConfiguration:
    return grpc.ssl_server_certificate_configuration([(pem.key, pem.chain)], pem.client_ca)


async def _keep_reporting(
    checks: health.aio.HealthServicer, registrations: Sequence[Registration], watch: monitoring.Health
) -> None:
    while True:
        await asyncio.sleep(_HEALTH_PERIOD_S)
        await _report(checks, registrations, watch)


async def _report(
    checks: health.aio.HealthServicer, registrations: Sequence[Registration], watch: monitoring.Health
) -> None:
    states = {}
    for registration in registrations:
        states[registration.name] = True
        try:
            await asyncio.wait_for(registration.ready(), _HEALTH_PERIOD_S)
        except Exception as error:
            states[registration.name] = False
            _log.warning("not ready", service=registration.name, error=str(error) or type(error).__name__)
    status = health_pb2.HealthCheckResponse
    for name, serves in {**states, "": all(states.values())}.items():
        await checks.set(name, status.SERVING if serves else status.NOT_SERVING)
    watch.report(states)


def main(kind: type[Config], build: Build[Config]) -> None:
    """Runs a service as a process: reads the environment, serves, drains on SIGTERM or SIGINT.

    Exits with 2 and one line on stderr where the configuration is wrong or the machine is unfit.
    """
    try:
        settings = config.load(kind, os.environ)
        exposure.check_listening(settings)
        configure_logs(settings)
        configure_traces(settings)
        asyncio.run(_run(build, settings))
    except (config.ConfigError, Unfit) as error:
        print(error, file=sys.stderr)
        raise SystemExit(2) from None


async def _run(build: Build[Config], settings: Config) -> None:
    stop = asyncio.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        asyncio.get_running_loop().add_signal_handler(number, stop.set)
    async with contextlib.AsyncExitStack() as stack:
        registrations = await stack.enter_async_context(build(settings))
        watch = monitoring.Health()
        try:
            port = await stack.enter_async_context(serving(registrations, settings, watch))
        except RuntimeError as error:
            raise Unfit(
                f"failed to listen on {settings.address}: the address is taken or not of this machine; "
                "set KERNELVAULT_ADDRESS to a free one, as host:port"
            ) from error
        host = settings.address.rpartition(":")[0]
        ready = f"address {host}:{port}\n" + serve_metrics(settings, watch)
        if settings.ready_file:
            write_whole(settings.ready_file, ready)
        _log.info("serving", address=f"{host}:{port}", services=[registration.name for registration in registrations])
        await stop.wait()
        _log.info("draining")


def serve_metrics(settings: config.ServerConfig, watch: monitoring.Health) -> str:
    """Serves metrics where they are wanted; returns their line of the ready file. Raises Unfit."""
    if settings.metrics_port < 0:
        return ""
    host = settings.address.rpartition(":")[0].strip("[]") or "127.0.0.1"
    try:
        port = monitoring.serve(host, settings.metrics_port, watch)
    except OSError as error:
        raise Unfit(f"failed to serve metrics on port {settings.metrics_port}: {error}") from error
    return f"metrics {host}:{port}\n"


def write_whole(path: str, text: str) -> None:
    """Writes a file that nobody sees half written."""
    temporary = f"{path}.{os.getpid()}"
    with open(temporary, "w", encoding="utf-8") as file:
        file.write(text)
    os.replace(temporary, path)


def configure_logs(settings: config.ServerConfig) -> None:
    """Logs to stderr as the settings say; raises ConfigError."""
    level = logging.getLevelNamesMapping().get(settings.log_level.upper())
    if level is None:
        raise config.ConfigError(
            f"failed to read the configuration: KERNELVAULT_LOG_LEVEL={settings.log_level!r} is no level"
        )
    renderer: Any = structlog.processors.JSONRenderer()
    if settings.log_format == "console":
        renderer = structlog.dev.ConsoleRenderer()
    structlog.configure(
        processors=[
            structlog.contextvars.merge_contextvars,
            structlog.processors.add_log_level,
            structlog.processors.TimeStamper(fmt="iso", utc=True),
            structlog.processors.format_exc_info,
            renderer,
        ],
        wrapper_class=structlog.make_filtering_bound_logger(level),
        logger_factory=structlog.PrintLoggerFactory(sys.stderr),
        cache_logger_on_first_use=True,
    )


def configure_traces(settings: config.ServerConfig) -> None:
    """Exports traces where they are wanted; raises ConfigError."""
    if not settings.otlp_endpoint:
        return
    plain = exposure.check_tracing(settings)
    from opentelemetry import trace
    from opentelemetry.exporter.otlp.proto.grpc.trace_exporter import OTLPSpanExporter
    from opentelemetry.sdk.resources import Resource
    from opentelemetry.sdk.trace import TracerProvider
    from opentelemetry.sdk.trace.export import BatchSpanProcessor

    name = os.path.basename(os.path.dirname(sys.argv[0])) or "kernelvault"
    provider = TracerProvider(resource=Resource.create({"service.name": name}))
    provider.add_span_processor(BatchSpanProcessor(OTLPSpanExporter(endpoint=settings.otlp_endpoint, insecure=plain)))
    trace.set_tracer_provider(provider)
