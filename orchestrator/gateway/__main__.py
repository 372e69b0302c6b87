"""`python -m orchestrator.gateway`: the gateway as a process. Wiring only."""

from __future__ import annotations

import asyncio
import contextlib
import dataclasses
import os
import signal
import socket
import ssl
import sys
from collections.abc import Iterator

import structlog
import uvicorn
from starlette.applications import Starlette

from kernelvault import Client, config, monitoring, server
from kernelvault.access import exposure, tls
from kernelvault.access.guard import Guard
from kernelvault.errors import Unfit
from orchestrator.gateway import patience
from orchestrator.gateway.application import SERVICES, Gateway
from orchestrator.gateway.settings import GatewayConfig

_PERIOD_S = 2.0
_BACKLOG = 1024
_log = structlog.get_logger()


def main() -> None:
    """Serves until SIGTERM or SIGINT, then drains. Exits with 2 and one line where the configuration is wrong."""
    try:
        # `addresses` reads where `kernelvault up` keeps its state.
        others = {name: value for name, value in os.environ.items() if name != "KERNELVAULT_STATE"}
        settings = config.load(GatewayConfig, others)
        exposure.check_listening(settings)
        server.configure_logs(settings)
        server.configure_traces(settings)
        asyncio.run(_run(settings))
    except (config.ConfigError, Unfit) as error:
        print(error, file=sys.stderr)
        raise SystemExit(2) from None


class _Server(uvicorn.Server):
    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Signals are ours: uvicorn would raise them again at its end."""
        yield


async def _run(settings: GatewayConfig) -> None:
    where = {name: given for name in SERVICES if (given := getattr(settings, f"{name}_address"))}
    # A token of the gateway's own would lend its rights to whoever has none.
    own = dataclasses.replace(settings, token="", token_file=None)
    timeout_s = settings.request_timeout_seconds
    async with Client(where, timeout_s=timeout_s, on_wait=patience.on_wait, settings=own) as client:
        for service in SERVICES:
            exposure.check_dialling(client.addresses[service], settings)
        gateway = Gateway(client, Guard.of(settings), settings)
        http = _Server(_http(gateway.application(), settings))
        http.config.load()
        for number in (signal.SIGTERM, signal.SIGINT):
            asyncio.get_running_loop().add_signal_handler(number, setattr, http, "should_exit", True)
        watch = monitoring.Health()
        with _listen(settings.address) as listening:
            reporter = asyncio.create_task(_keep_reporting(gateway, watch, http.config, settings))
            _announce(listening, settings, watch)
            try:
                await http.serve([listening])
            finally:
                watch.drain()
                reporter.cancel()


def _http(application: Starlette, settings: GatewayConfig) -> uvicorn.Config:
    """Uvicorn's settings; raises ConfigError where the certificates cannot be used."""
    tls.of_server(settings)
    asks = settings.tls_client_ca_file
    return uvicorn.Config(
        application,
        http="h11",
        ws="none",
        lifespan="off",
        loop="asyncio",
        log_config=None,
        access_log=False,
        server_header=False,
        proxy_headers=False,
        timeout_graceful_shutdown=max(1, round(settings.drain_seconds)),
        ssl_certfile=settings.tls_cert_file,
        ssl_keyfile=settings.tls_key_file,
        ssl_ca_certs=str(asks) if asks else None,
        ssl_cert_reqs=ssl.CERT_REQUIRED if asks else ssl.CERT_NONE,
    )


def _announce(listening: socket.socket, settings: GatewayConfig, watch: monitoring.Health) -> None:
    """Says where the server listens."""
    where = f"{settings.address.rpartition(':')[0]}:{listening.getsockname()[1]}"
    ready = f"address {where}\n" + server.serve_metrics(settings, watch)
    if settings.ready_file:
        server.write_whole(settings.ready_file, ready)
    _log.info("serving", address=where)


def _listen(address: str) -> socket.socket:
    host, _, port = address.rpartition(":")
    host = host.strip("[]")
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    made = socket.socket(family, socket.SOCK_STREAM)
    try:
        made.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        made.bind((host, int(port)))
        made.listen(_BACKLOG)
    except (OSError, ValueError) as error:
        made.close()
        raise Unfit(
            f"failed to listen on {address}: {error}; set KERNELVAULT_ADDRESS to a free one, as host:port"
        ) from error
    return made


async def _keep_reporting(
    gateway: Gateway, watch: monitoring.Health, http: uvicorn.Config, settings: GatewayConfig
) -> None:
    """Tells probes of the services' health, and shows a new certificate from the next handshake on."""
    pem = tls.of_server(settings)
    shown = pem.current() if pem else None
    while True:
        states = await gateway.health()
        watch.report({"gateway": all(state == "SERVING" for state in states.values())})
        if pem and http.ssl and shown is not pem.current():
            shown = pem.current()
            http.ssl.load_cert_chain(settings.tls_cert_file or "", settings.tls_key_file)
        await asyncio.sleep(_PERIOD_S)


if __name__ == "__main__":
    main()
