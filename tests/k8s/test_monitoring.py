"""Alerts and dashboards: their queries, and whether the running services have what they ask for."""

from __future__ import annotations

import json
import re
import urllib.request
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.cluster import Cluster
from tests.k8s import tools

ALERTS = tools.CHART / "alerts" / "kernelvault.yaml"
DASHBOARDS = sorted((tools.CHART / "dashboards").glob("*.json"))
# Prometheus makes it; the others must come from the services. The last is there once a server has TLS or tokens.
NOT_SCRAPED = {"up"}
WITH_CREDENTIALS = {"kernelvault_credentials_stale"}


def _rules() -> list[dict[str, Any]]:
    return [rule for group in yaml.safe_load(ALERTS.read_text())["groups"] for rule in group["rules"]]


def _queries(path: Path) -> list[str]:
    """A dashboard's queries with its variables filled in, as Grafana does."""
    board = json.loads(path.read_text())
    found = [target["expr"] for panel in board["panels"] for target in panel["targets"]]
    names = {variable["name"] for variable in board["templating"]["list"]}
    used = set(re.findall(r"\$(\w+)", " ".join(found)))
    assert used - {"__rate_interval"} <= names
    return [
        query.replace("$__rate_interval", "5m").replace("$namespace", ".*").replace("$component", ".*")
        for query in found
    ]


def _metrics(query: str) -> set[str]:
    """The metrics that a query names."""
    bare = re.sub(r'"[^"]*"', '""', query)
    return set(re.findall(r"\b(kernelvault_\w+|process_\w+|python_\w+|up)\b", bare))


def test_alerts_are_sound() -> None:
    """By Prometheus's own check."""
    ended = tools.run("promtool", "check", "rules", "--lint-fatal", ALERTS)
    assert ended.returncode == 0, ended.stdout + ended.stderr


def test_alerts_fire_when_they_should() -> None:
    """And not when they should not: k8s/tests/alerts_test.yaml has a history for each."""
    path = tools.K8S / "tests" / "alerts_test.yaml"
    ended = tools.run("promtool", "test", "rules", path)
    assert ended.returncode == 0, ended.stdout + ended.stderr
    tested = {t["alertname"] for case in yaml.safe_load(path.read_text())["tests"] for t in case["alert_rule_test"]}
    assert tested == {rule["alert"] for rule in _rules()}


def test_every_alert_has_a_section_in_the_runbook() -> None:
    """Its annotation names it, and no section is about an alert that is gone."""
    sections = re.findall(r"^## (Kernelvault\w+)$", (tools.ROOT / "docs" / "runbook.md").read_text(), re.M)
    assert sections == [rule["alert"] for rule in _rules()]
    for rule in _rules():
        assert rule["annotations"]["runbook"] == f"docs/runbook.md#{rule['alert'].lower()}"


def test_the_rules_object_is_what_promtool_checked() -> None:
    """Helm takes the file as it is: `{{ $labels }}` is Prometheus's, not Helm's."""
    rendered = tools.named_whole("cluster", "PrometheusRule")["spec"]
    assert rendered == yaml.safe_load(ALERTS.read_text())


def test_kedas_query_is_promql(tmp_path: Path) -> None:
    """Prometheus parses it."""
    _check_promql(
        [tools.named("cluster", "ScaledObject", "compiler")["spec"]["triggers"][0]["metadata"]["query"]], tmp_path
    )


@pytest.mark.parametrize("path", DASHBOARDS, ids=lambda path: path.stem)
def test_a_dashboards_queries_are_promql(tmp_path: Path, path: Path) -> None:
    """Prometheus parses each."""
    _check_promql(_queries(path), tmp_path)


def _check_promql(queries: list[str], folder: Path) -> None:
    rules = [{"record": f"query_{index}", "expr": query} for index, query in enumerate(queries)]
    file = folder / "rules.yaml"
    file.write_text(yaml.safe_dump({"groups": [{"name": "queries", "rules": rules}]}))
    ended = tools.run("promtool", "check", "rules", file)
    assert ended.returncode == 0, ended.stdout + ended.stderr
    assert f"{len(rules)} rules found" in ended.stdout


@pytest.mark.parametrize("path", DASHBOARDS, ids=lambda path: path.stem)
def test_grafana_gets_the_dashboard(path: Path) -> None:
    """As a ConfigMap that its sidecar looks for, whole."""
    data = tools.named("cluster", "ConfigMap", f"dashboard-{path.stem}")
    assert json.loads(data["data"][path.name]) == json.loads(path.read_text())
    assert data["metadata"]["labels"]["grafana_dashboard"] == "1"


@pytest.mark.slow
def test_every_metric_is_in_a_scrape_of_the_running_services(cluster: Cluster) -> None:
    """What alerts, dashboards and autoscalers ask for is there, with the labels that they ask by."""
    assert cluster.command("verify", tools.ROOT / "examples/add.py", tools.ROOT / "examples/add.hip").returncode == 0
    scrape = ""
    for name, record in cluster.records().items():
        if name != "s3":
            with urllib.request.urlopen(f"http://{record['metrics']}/metrics", timeout=10) as response:
                scrape += response.read().decode()
    there = set(re.findall(r"^([a-z_]+)(?:\{| )", scrape, re.M))

    queries = [rule["expr"] for rule in _rules()] + [query for path in DASHBOARDS for query in _queries(path)]
    asked = set().union(*map(_metrics, queries)) - NOT_SCRAPED - WITH_CREDENTIALS
    assert asked - there == set()
    for kind in ("verifications", "profiles", "calls"):
        assert f'kernelvault_queue_depth{{kind="{kind}"}} 0.0' in scrape
    for method in ("Compiler/VerifyCandidate", "ActionCache/", "Compiler/PrepareTask"):
        assert f'method="/kernelvault.v1.{method}' in scrape


def test_autoscalers_ask_for_the_queue() -> None:
    """By a metric of each pod, by one from outside, or by KEDA's query."""
    pods = tools.named("cluster", "HorizontalPodAutoscaler", "generator")["spec"]["metrics"][0]
    keda = tools.named("cluster", "ScaledObject", "compiler")["spec"]["triggers"][0]
    on = ("services.compiler.autoscaling.enabled=true", "services.compiler.autoscaling.kind=external")
    external = tools.named("mi300x", "HorizontalPodAutoscaler", "compiler", *on)["spec"]["metrics"][0]
    assert (pods["type"], pods["pods"]["metric"]) == (
        "Pods",
        {"name": "kernelvault_queue_depth", "selector": {"matchLabels": {"kind": "calls"}}},
    )
    assert keda["metadata"]["query"].startswith("sum(kernelvault_queue_depth{")
    assert external["external"]["metric"]["selector"]["matchLabels"] == {
        "kind": "verifications",
        "component": "compiler",
    }
    # Whoever scales must not be undone by each upgrade.
    assert "replicas" not in tools.named("cluster", "Deployment", "compiler")["spec"]
