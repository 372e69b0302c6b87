"""What schemas do not see: names that are too long, and references to what is not there."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import pytest
import yaml

from tests.k8s import tools

NAME = re.compile(r"[a-z0-9]([-a-z0-9]*[a-z0-9])?")
LABEL = re.compile(r"([A-Za-z0-9]([-A-Za-z0-9_.]*[A-Za-z0-9])?)?")
# What an operator makes before, or another operator for the release; and what KubeRay derives from a cluster's name.
GIVEN_SECRETS = {"kernelvault-s3", "kernelvault-case-secret", "kernelvault-tokens"}
GIVEN_CLAIMS = {"models", "kernelbench"}


def _labels(value: Any) -> Iterator[tuple[str, str]]:
    if isinstance(value, dict):
        for key, inner in value.items():
            if key in ("labels", "matchLabels") and isinstance(inner, dict):
                yield from inner.items()
            else:
                yield from _labels(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from _labels(inner)


def _check_names(documents: list[dict[str, Any]]) -> None:
    for document in documents:
        name, kind = document["metadata"]["name"], document["kind"]
        longest = {"RayCluster": 47, "RayJob": 47, "Job": 59, "CronJob": 52}.get(kind, 63)
        assert NAME.fullmatch(name) and len(name) <= longest, f"{kind}/{name}"
        for key, value in _labels(document):
            assert LABEL.fullmatch(value) and len(value) <= 63, f"{kind}/{name}: {key}={value}"


@pytest.mark.parametrize("example", tools.EXAMPLES)
def test_names_and_labels_are_ones(example: str) -> None:
    """Of the right letters, and short enough for what is derived from them."""
    _check_names(tools.objects(example))


def test_a_long_release_name_is_cut() -> None:
    """So far that the longest name of an object is still one."""
    longest = ("--set", f"campaign.name={'c' * 16},ray.job.entrypoint=x,ray.job.name={'r' * 10}")
    ended = tools.run("helm", "template", "r" * 53, tools.CHART, *tools.values("cluster"), *longest)
    assert ended.returncode == 0, ended.stderr
    _check_names([document for document in yaml.safe_load_all(ended.stdout) if document])


@pytest.mark.parametrize("example", tools.EXAMPLES)
def test_no_object_is_rendered_twice(example: str) -> None:
    """Helm would apply the last one only."""
    found = [(o["kind"], o["metadata"]["name"]) for o in tools.objects(example)]
    assert len(found) == len(set(found))
    assert all(o["metadata"]["namespace"] == tools.NAMESPACE for o in tools.objects(example))


@pytest.mark.parametrize("example", tools.EXAMPLES)
def test_pods_refer_to_what_is_there(example: str) -> None:
    """Mounts to volumes, volumes to objects, accounts, ports of probes."""
    there = {(o["kind"], o["metadata"]["name"]) for o in tools.objects(example)}
    secrets = GIVEN_SECRETS | {o["spec"]["secretName"] for o in tools.objects(example, "Certificate")}
    for name, pod in tools.pods(example):
        assert ("ServiceAccount", pod["serviceAccountName"]) in there, name
        volumes = {volume["name"] for volume in pod["volumes"]}
        for volume in pod["volumes"]:
            claim = volume.get("persistentVolumeClaim", {}).get("claimName")
            assert claim is None or claim in GIVEN_CLAIMS or ("PersistentVolumeClaim", claim) in there, name
            assert "configMap" not in volume or ("ConfigMap", volume["configMap"]["name"]) in there, name
            assert "secret" not in volume or volume["secret"]["secretName"] in secrets, name
        templates = {"data"} if name.startswith("StatefulSet") else set()
        for container in pod["containers"]:
            assert {mount["name"] for mount in container["volumeMounts"]} <= volumes | templates, name
            paths = [mount["mountPath"] for mount in container["volumeMounts"]]
            assert len(paths) == len(set(paths)), name
            ports = {port["name"] for port in container.get("ports", [])}
            assert all(len(port) <= 15 for port in ports)
            for probe in ("startupProbe", "livenessProbe", "readinessProbe"):
                port = container.get(probe, {}).get("httpGet", {}).get("port")
                assert port is None or port in ports, f"{name}: {probe}"


@pytest.mark.parametrize("example", tools.EXAMPLES)
def test_selectors_find_their_pods(example: str) -> None:
    """Those of services, workloads and budgets; none holds what an upgrade changes."""
    labels = [
        o["spec"]["template"]["metadata"]["labels"]
        for kind in ("Deployment", "StatefulSet")
        for o in tools.objects(example, kind)
    ]
    for kind in ("Service", "Deployment", "StatefulSet", "PodDisruptionBudget"):
        for document in tools.objects(example, kind):
            selector = document["spec"]["selector"]
            wanted = selector if kind == "Service" else selector["matchLabels"]
            matching = [found for found in labels if wanted.items() <= found.items()]
            assert len(matching) == 1, document["metadata"]["name"]
            assert set(wanted) == {f"app.kubernetes.io/{part}" for part in ("name", "instance", "component")}


@pytest.mark.parametrize("example", tools.EXAMPLES)
def test_services_lead_to_ports(example: str) -> None:
    """Each port of a Service is one of the pods that it selects."""
    workloads = tools.objects(example, "Deployment") + tools.objects(example, "StatefulSet")
    for service in tools.objects(example, "Service"):
        (pod,) = (
            o["spec"]["template"]["spec"]
            for o in workloads
            if service["spec"]["selector"].items() <= o["spec"]["template"]["metadata"]["labels"].items()
        )
        named = {p["name"]: p["containerPort"] for c in pod["containers"] for p in c.get("ports", [])}
        for port in service["spec"]["ports"]:
            assert named[port["targetPort"]] == port["port"], service["metadata"]["name"]


@pytest.mark.parametrize("example", tools.EXAMPLES)
def test_autoscalers_scale_what_is_there(example: str) -> None:
    """By its name."""
    there = {o["metadata"]["name"] for o in tools.objects(example, "Deployment")}
    for kind in ("HorizontalPodAutoscaler", "ScaledObject"):
        for document in tools.objects(example, kind):
            assert document["spec"]["scaleTargetRef"]["name"] in there
