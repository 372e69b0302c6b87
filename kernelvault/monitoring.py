"""Metrics and health over plain HTTP: for Prometheus, and for probes that cannot speak gRPC with TLS."""

from __future__ import annotations

import socket
import socketserver
import threading
import time
from collections.abc import Callable, Iterable
from typing import Any
from wsgiref.simple_server import WSGIRequestHandler, WSGIServer, make_server

import prometheus_client

# Far beyond the time between two reports: a loop that is silent for so long hangs.
_STALE_S = 60.0
_serving = prometheus_client.Gauge("kernelvault_serving", "1 where the service can work, 0 where not", ["service"])


class Health:
    """What probes are told. The server's event loop writes it, the threads of the HTTP server read it."""

    def __init__(self, now: Callable[[], float] = time.monotonic) -> None:
        self._now = now
        self._reported = now()
        self._ready = False
        self._draining = False

    def report(self, states: dict[str, bool]) -> None:
        """Takes the state of each service of this process; to be called every few seconds."""
        for service, serves in states.items():
            _serving.labels(service).set(serves)
        self._reported = self._now()
        self._ready = all(states.values())

    def drain(self) -> None:
        """From now on the process is alive and takes no more work."""
        self._draining = True

    def live(self) -> bool:
        """Whether the event loop turns."""
        return self._draining or self._now() - self._reported < _STALE_S

    def ready(self) -> bool:
        """Whether calls should be sent here."""
        return self._ready and self.live() and not self._draining


def serve(host: str, port: int, health: Health) -> int:
    """Serves `/metrics`, `/livez` and `/readyz` from threads of its own; returns the port. Raises OSError."""
    kind = _ServerV6 if ":" in host else _Server
    server: _Server = make_server(host, port, _application(health), kind, handler_class=_SilentHandler)
    threading.Thread(target=server.serve_forever, name="metrics", daemon=True).start()
    return int(server.server_port)


class _Server(socketserver.ThreadingMixIn, WSGIServer):
    daemon_threads = True


class _ServerV6(_Server):
    address_family = socket.AF_INET6


class _SilentHandler(WSGIRequestHandler):
    def log_message(self, format: str, *args: Any) -> None:
        """Scrapes are no news."""


def _application(health: Health) -> Callable[[dict[str, Any], Any], Iterable[bytes]]:
    metrics = prometheus_client.make_wsgi_app()
    checks = {"/livez": health.live, "/readyz": health.ready}

    def respond(environment: dict[str, Any], start: Any) -> Iterable[bytes]:
        check = checks.get(environment["PATH_INFO"])
        if check is None:
            answer: Iterable[bytes] = metrics(environment, start)
            return answer
        well = check()
        start("200 OK" if well else "503 Service Unavailable", [("Content-Type", "text/plain; charset=utf-8")])
        return [b"ok\n" if well else b"unavailable\n"]

    return respond
