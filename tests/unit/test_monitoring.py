"""What Prometheus and HTTP probes are told."""

from __future__ import annotations

import urllib.error
import urllib.request

import prometheus_client
import pytest
from grpc_health.v1 import health_pb2, health_pb2_grpc

from kernelvault import client, config, errors, monitoring, server
from kernelvault.admission import Admission
from kernelvault.monitoring import Health


class Clock:
    """Time that passes when told to."""

    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


def test_a_server_is_ready_while_all_its_services_are() -> None:
    """One service that cannot work takes the whole process out of the balancing, and does not restart it."""
    health = Health()
    seen = []
    for states in ({"a": True, "b": True}, {"a": True, "b": False}, {"a": True, "b": True}):
        health.report(states)
        seen.append((health.live(), health.ready()))
    assert seen == [(True, True), (True, False), (True, True)]


def test_a_loop_that_hangs_is_not_alive() -> None:
    """The probe restarts a process whose event loop has said nothing for a minute."""
    clock = Clock()
    health = Health(clock)
    health.report({"a": True})
    clock.now = 59.0
    before = (health.live(), health.ready())
    clock.now = 61.0
    assert [before, (health.live(), health.ready())] == [(True, True), (False, False)]


def test_a_draining_server_is_alive_and_takes_no_calls() -> None:
    """However long running calls take to end."""
    clock = Clock()
    health = Health(clock)
    health.report({"a": True})
    health.drain()
    clock.now = 600.0
    assert (health.live(), health.ready()) == (True, False)


@pytest.mark.parametrize("host", ["127.0.0.1", "::1"])
def test_probes_and_metrics_share_a_port(host: str) -> None:
    """`/readyz` and `/livez` answer by status, `/metrics` as Prometheus reads it; over IPv6 too."""
    health = Health()
    health.report({"kernelvault.v1.Some": False})
    port = monitoring.serve(host, 0, health)
    base = f"http://{f'[{host}]' if ':' in host else host}:{port}"
    answers = {path: _status(base + path) for path in ("/livez", "/readyz", "/metrics")}
    assert answers == {"/livez": 200, "/readyz": 503, "/metrics": 200}
    with urllib.request.urlopen(f"{base}/metrics", timeout=5) as response:
        assert 'kernelvault_serving{service="kernelvault.v1.Some"} 0.0' in response.read().decode()


def test_autoscalers_see_the_depth_of_a_queue() -> None:
    """What runs and what waits counts; what was turned away is counted apart."""
    admission = Admission("tests", workers=1, queue_size=1)
    admission.enter()
    admission.enter()
    with pytest.raises(errors.Unavailable):
        admission.enter()
    admission.leave()
    names = ("depth", "workers", "capacity", "refused_total")
    found = [prometheus_client.REGISTRY.get_sample_value(f"kernelvault_queue_{n}", {"kind": "tests"}) for n in names]
    assert found == [1, 1, 2, 1]


async def test_liveness_over_grpc_is_about_the_process() -> None:
    """A service whose store is away says so, and the process is to be left alone."""

    async def away() -> None:
        raise errors.Unavailable("AWAY", "the store is away")

    registration = server.Registration("some.Service", lambda servicer, grpc_server: None, None, away)
    settings = config.ServerConfig(drain_seconds=0)
    async with server.serving([registration], settings) as port, client.channel(f"127.0.0.1:{port}") as channel:
        stub = health_pb2_grpc.HealthStub(channel)
        answers = {name: await stub.Check(health_pb2.HealthCheckRequest(service=name)) for name in ("", server.LIVE)}
    serving = health_pb2.HealthCheckResponse.ServingStatus
    assert {name: serving.Name(answer.status) for name, answer in answers.items()} == {
        "": "NOT_SERVING",
        "live": "SERVING",
    }


def _status(url: str) -> int:
    try:
        with urllib.request.urlopen(url, timeout=5) as response:
            return int(response.status)
    except urllib.error.HTTPError as error:
        return error.code
