"""What pods may do, which secrets they see, and what scanners say of it."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.k8s import tools

EXPLANATIONS = tools.K8S / "tests" / "checkov.yaml"
# Of Pod Security "restricted", version 1.30.
VOLUMES = {"configMap", "csi", "downwardAPI", "emptyDir", "ephemeral", "persistentVolumeClaim", "projected", "secret"}


def _violations(pod: dict[str, Any]) -> list[str]:
    """What Pod Security *restricted* forbids of a pod."""
    found = [f"{name}: true" for name in ("hostNetwork", "hostPID", "hostIPC") if pod.get(name)]
    for volume in pod.get("volumes", []):
        found += [f"volume {kind}" for kind in set(volume) - {"name"} - VOLUMES]
    common = pod.get("securityContext", {})
    for container in pod["containers"] + pod.get("initContainers", []):
        own = container.get("securityContext", {})
        effective = {**common, **own}
        wanted = {
            "privileged": not own.get("privileged"),
            "allowPrivilegeEscalation": own.get("allowPrivilegeEscalation") is False,
            "capabilities": own.get("capabilities") == {"drop": ["ALL"]},
            "runAsNonRoot": effective.get("runAsNonRoot") is True and effective.get("runAsUser") != 0,
            "seccompProfile": effective.get("seccompProfile", {}).get("type") in ("RuntimeDefault", "Localhost"),
            "procMount": "procMount" not in own,
            "hostPort": not any(port.get("hostPort") for port in container.get("ports", [])),
        }
        found += [f"{container['name']}: {name}" for name, well in wanted.items() if not well]
    return found


@pytest.mark.parametrize("example", tools.EXAMPLES)
def test_every_pod_is_restricted(example: str) -> None:
    """Pods with GPUs too: their plugins bring the device files, and groups of the host are no privilege."""
    assert {name: _violations(pod) for name, pod in tools.pods(example) if _violations(pod)} == {}


@pytest.mark.parametrize("example", tools.EXAMPLES)
def test_every_container_is_one_of_ours(example: str) -> None:
    """User 10001, a root file system that cannot be written, bounded memory, no token of the cluster."""
    for name, pod in tools.pods(example):
        assert pod["securityContext"]["runAsUser"] == 10001, name
        assert pod["automountServiceAccountToken"] is False, name
        for container in pod["containers"]:
            assert container["securityContext"]["readOnlyRootFilesystem"] is True, name
            assert container["resources"]["limits"]["memory"], name
            assert container["resources"]["requests"]["cpu"], name
    for account in tools.objects(example, "ServiceAccount"):
        assert account["automountServiceAccountToken"] is False


@pytest.mark.parametrize("example", tools.EXAMPLES)
def test_no_secret_is_inlined(example: str) -> None:
    """The chart makes no Secret, and gives no secret by value: each is a file or a reference."""
    assert tools.objects(example, "Secret") == []
    for name, pod in tools.pods(example):
        for container in pod["containers"]:
            for entry in container["env"]:
                secret = re.search(r"(SECRET|KEY|TOKEN|PASSWORD)(_ID)?$", entry["name"])
                assert not secret or "value" not in entry, f"{name}: {entry['name']}"


def test_only_the_corpus_sees_the_keys_of_s3() -> None:
    """And the S3 server, where the release has one; only the compiler sees the secret of the cases."""

    def holders(secret: str) -> set[str]:
        return {name.split("/")[1] for name, pod in tools.pods("laptop") if f'"{secret}"' in json.dumps(pod)}

    assert holders("kernelvault-s3") == {"kernelvault-corpus", "kernelvault-seaweedfs"}
    assert holders("kernelvault-case-secret") == {"kernelvault-compiler"}


def test_a_gpu_pod_asks_for_gpus_and_for_their_nodes() -> None:
    """As many as given, of the products given, on nodes that are tainted for them; of either vendor."""

    def gpus(*settings: str) -> tuple[Any, ...]:
        pod = tools.named("mi300x", "Deployment", "profiler", *settings)["spec"]["template"]["spec"]
        limits = pod["containers"][0]["resources"]["limits"]
        (term,) = pod["affinity"]["nodeAffinity"]["requiredDuringSchedulingIgnoredDuringExecution"]["nodeSelectorTerms"]
        (wanted,) = term["matchExpressions"]
        (toleration,) = pod["tolerations"]
        resource = {name: count for name, count in limits.items() if "/" in name}
        return (
            resource,
            (wanted["key"], wanted["values"]),
            toleration["key"],
            pod["securityContext"]["supplementalGroups"],
        )

    gpu = "services.profiler.gpu"
    nvidia = (f"{gpu}.vendor=nvidia", f"{gpu}.count=2", f"{gpu}.products={{NVIDIA-H200}}")
    assert [gpus(), gpus(*nvidia)] == [
        ({"amd.com/gpu": 1}, ("amd.com/gpu.product-name", ["AMD_Instinct_MI300X_OAM"]), "amd.com/gpu", [44, 109]),
        ({"nvidia.com/gpu": 2}, ("nvidia.com/gpu.product", ["NVIDIA-H200"]), "nvidia.com/gpu", [44, 109]),
    ]


def test_images_can_be_pinned_by_digest() -> None:
    """Instead of by a tag, for one component."""
    digest = "sha256:" + "0" * 64
    compiler = tools.named("mi300x", "Deployment", "compiler", f"services.compiler.image.digest={digest}")
    image = compiler["spec"]["template"]["spec"]["containers"][0]["image"]
    assert image == f"ghcr.io/example/kernelvault-compiler@{digest}"


@pytest.mark.slow
def test_every_finding_of_checkov_is_explained(tmp_path: Path) -> None:
    """k8s/tests/checkov.yaml says why each check that fails does not matter here; none that passes is excused."""
    explained = yaml.safe_load(EXPLANATIONS.read_text())
    for example in tools.EXAMPLES:
        (tmp_path / f"{example}.yaml").write_text(tools.text(example))
    options = ["--directory", tmp_path, "--framework", "kubernetes", "--skip-download", "--compact", "--output", "json"]
    ended = tools.run("checkov", *options, cwd=tmp_path)
    assert ended.stdout, ended.stderr
    report = json.loads(ended.stdout)
    assert report["summary"]["parsing_errors"] == 0
    assert report["summary"]["passed"] > 1000

    failed: dict[str, set[str]] = {}
    for finding in report["results"]["failed_checks"]:
        failed.setdefault(finding["check_id"], set()).add(finding["resource"].removeprefix("Pod."))
    unexplained = {
        check: sorted(resource for resource in resources if not _matches(explained.get(check, {}), resource))
        for check, resources in failed.items()
    }
    assert {check: resources for check, resources in unexplained.items() if resources} == {}
    assert set(explained) - set(failed) == set(), "no longer found: remove the explanation"


def _matches(explanation: dict[str, str], resource: str) -> bool:
    return bool(explanation) and re.search(explanation.get("only", ""), resource) is not None
