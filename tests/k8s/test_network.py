"""Who may talk to whom: the policies, evaluated, against the call graph of the design."""

from __future__ import annotations

from typing import Any

import pytest

from tests.k8s import tools

SERVICES = ("corpus", "compiler", "profiler", "generator", "trainer")
GATEWAY = ("services.gateway.enabled=true",)
# docs/architecture.md: the orchestrator calls all; compiler, profiler and generator call the corpus; the trainer all.
GRAPH = {
    *(("orchestrator", service) for service in SERVICES),
    *((caller, "corpus") for caller in ("compiler", "profiler", "generator")),
    *(("trainer", service) for service in SERVICES if service != "trainer"),
}
BACKUP = ("backup.enabled=true", "backup.bucket=other")
PORTS = {"generator": 50051, "compiler": 50052, "profiler": 50053, "corpus": 50054, "trainer": 50055}


def _labels(component: str) -> dict[str, str]:
    return {
        "app.kubernetes.io/name": "kernelvault",
        "app.kubernetes.io/instance": tools.RELEASE,
        "app.kubernetes.io/component": component,
    }


def _selects(selector: dict[str, Any], labels: dict[str, str]) -> bool:
    return all(labels.get(name) == value for name, value in selector.get("matchLabels", {}).items())


def _allows(example: str, way: str, of: str, peer: str, port: int | str, *settings: str) -> bool:
    """Whether the policies of a pod allow traffic with a peer in the same namespace; `way`: ingress or egress."""
    side = {"ingress": "from", "egress": "to"}[way]
    for policy in tools.objects(example, "NetworkPolicy", *settings):
        spec = policy["spec"]
        if way.capitalize() not in spec["policyTypes"] or not _selects(spec["podSelector"], _labels(of)):
            continue
        for rule in spec.get(way) or []:
            ports = [entry["port"] for entry in rule.get("ports", [])]
            same_namespace = [p for p in rule[side] if set(p) == {"podSelector"}]
            peers = any(_selects(p["podSelector"], _labels(peer)) for p in same_namespace)
            if peers and (not ports or port in ports):
                return True
    return False


def _reaches(example: str, caller: str, callee: str, port: int | str, *settings: str) -> bool:
    ways = (("egress", caller, callee), ("ingress", callee, caller))
    return all(_allows(example, way, of, peer, port, *settings) for way, of, peer in ways)


@pytest.mark.parametrize("example", tools.EXAMPLES)
def test_the_call_graph_is_what_the_policies_allow(example: str) -> None:
    """Each call of the design, on both ends, and no other call between services."""
    components = ("orchestrator", *SERVICES)
    allowed = {
        (caller, callee)
        for caller in components
        for callee in SERVICES
        if caller != callee and _reaches(example, caller, callee, "grpc")
    }
    assert allowed == GRAPH


@pytest.mark.parametrize("example", tools.EXAMPLES)
def test_every_pod_is_under_the_default_policy(example: str) -> None:
    """Nothing in, and out only questions to DNS and traces, unless another policy says so."""
    policy = tools.named(example, "NetworkPolicy", "default")["spec"]
    assert (policy["policyTypes"], policy["ingress"]) == (["Ingress", "Egress"], [])
    assert {entry["port"] for rule in policy["egress"] for entry in rule["ports"]} <= {53, 4317}
    for document in tools.objects(example):
        for labels in _pod_labels(document):
            assert _selects(policy["podSelector"], labels), document["metadata"]["name"]


def _pod_labels(value: Any) -> list[dict[str, str]]:
    if isinstance(value, dict):
        found = [value["metadata"]["labels"]] if value.get("kind") == "Pod" or _is_template(value) else []
        return found + [labels for inner in value.values() for labels in _pod_labels(inner)]
    return [labels for inner in value for labels in _pod_labels(inner)] if isinstance(value, list) else []


def _is_template(value: dict[str, Any]) -> bool:
    return "kind" not in value and "containers" in value.get("spec", {}) and "metadata" in value


def test_only_the_corpus_reaches_s3() -> None:
    """In the release, or at the addresses and the port that values name."""
    callers = ("orchestrator", "backup", *SERVICES)
    reach = {c for c in callers if _reaches("laptop", c, "seaweedfs", "s3")}
    with_backup = {c for c in callers if _reaches("laptop", c, "seaweedfs", "s3", *BACKUP)}
    assert (reach, with_backup) == ({"corpus"}, {"corpus", "backup"})

    def outside(component: str) -> list[Any]:
        spec = tools.named("mi300x", "NetworkPolicy", component)["spec"]
        return [rule for rule in spec["egress"] if any("ipBlock" in peer for peer in rule["to"])]

    assert outside("corpus") == [{"to": [{"ipBlock": {"cidr": "192.0.2.0/24"}}], "ports": [{"port": 9000}]}]
    assert [outside(component) for component in ("compiler", "profiler", "trainer")] == [[], [], []]


def test_a_compiler_has_no_way_out() -> None:
    """Foreign code runs in its pods: beside the corpus, DNS and traces there is nothing that they could reach."""
    for example in tools.EXAMPLES:
        egress = tools.named(example, "NetworkPolicy", "compiler")["spec"]["egress"]
        assert egress == [{"to": [{"podSelector": {"matchLabels": _labels("corpus")}}], "ports": [{"port": "grpc"}]}]


def test_only_the_generator_reaches_the_model() -> None:
    """vLLM's API knows no tokens."""
    reach = {c for c in ("orchestrator", "ray", *SERVICES) if _reaches("cluster", c, "vllm", "http")}
    assert reach == {"generator"}


def test_ray_calls_what_the_trainer_may_call() -> None:
    """Training loops run there; only the trainer and the operator submit jobs to it."""
    callees = {service for service in SERVICES if _reaches("cluster", "ray", service, "grpc")}
    submitters = {c for c in ("orchestrator", *SERVICES) if _reaches("cluster", c, "ray", 8265)}
    assert (callees, submitters) == ({"corpus", "compiler", "profiler", "generator"}, {"trainer"})


def test_clients_are_let_in_by_name() -> None:
    """Other teams' namespaces reach the services' calls, not their metrics; Prometheus the other way round."""
    for service in SERVICES:
        calls, metrics = tools.named("mi300x", "NetworkPolicy", service)["spec"]["ingress"]
        client = {"namespaceSelector": {"matchLabels": {"kernelvault.example/client": "true"}}}
        assert (client in calls["from"], client in metrics["from"]) == (True, False)
        assert (calls["ports"], metrics["ports"]) == ([{"port": "grpc"}], [{"port": "metrics"}])


@pytest.mark.parametrize("example", tools.EXAMPLES)
def test_the_gateway_calls_what_judges(example: str) -> None:
    """The compiler, the profiler and the corpus; none of the release calls it."""
    called = {callee for callee in SERVICES if _reaches(example, "gateway", callee, "grpc", *GATEWAY)}
    callers = {c for c in ("orchestrator", *SERVICES) if _allows(example, "ingress", "gateway", c, "http", *GATEWAY)}
    assert (called, callers) == ({"compiler", "profiler", "corpus"}, set())


def test_a_gateway_without_clients_lets_nobody_in() -> None:
    """A rule without peers would let everybody in. Clients that are named reach its calls."""
    [metrics] = tools.named("laptop", "NetworkPolicy", "gateway", *GATEWAY)["spec"]["ingress"]
    calls, _ = tools.named("cluster", "NetworkPolicy", "gateway")["spec"]["ingress"]
    client = {"namespaceSelector": {"matchLabels": {"kernelvault.example/client": "true"}}}
    assert metrics["ports"] == [{"port": "metrics"}]
    assert calls == {"from": [client], "ports": [{"port": "http"}]}


def test_the_gateway_is_an_ordinary_http_service() -> None:
    """One address for all pods: each request is a connection's own."""
    service = tools.named("cluster", "Service", "gateway")["spec"]
    assert "clusterIP" not in service
    assert {port["name"]: port["appProtocol"] for port in service["ports"]} == {"http": "http", "metrics": "http"}
    pod = tools.named("laptop", "Deployment", "gateway", *GATEWAY)["spec"]["template"]["spec"]
    probe = pod["containers"][0]["readinessProbe"]
    assert probe["httpGet"] == {"path": "/readyz", "port": "metrics"}


def test_ports_that_policies_name_exist() -> None:
    """A policy that names a port which no container has allows nothing."""
    for service in SERVICES:
        pod = tools.named("cluster", "Deployment", service)["spec"]["template"]["spec"]
        ports = {port["name"]: port["containerPort"] for port in pod["containers"][0]["ports"]}
        assert ports == {"grpc": PORTS[service], "metrics": 9464}
