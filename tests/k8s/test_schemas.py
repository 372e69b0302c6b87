"""Whether a cluster would take what the chart renders to."""

from __future__ import annotations

import copy
import json
import os
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.k8s import tools

PROGRAM = Path(__file__).with_name("manifests.py")
JOB = "ray.job.entrypoint=python -m train"
# Beside the examples: what they leave out.
VARIANTS = {
    "hpa": ("mi300x", "services.compiler.autoscaling.enabled=true", "services.compiler.autoscaling.kind=external"),
    "rayjob": ("cluster", JOB, "ipv6=true", "ray.job.activeDeadlineSeconds=3600"),
    "nvidia": ("mi300x", "services.profiler.gpu.vendor=nvidia", "services.profiler.gpu.count=2", "vllm.download=true"),
}


def _faults(*files: Path, versions: tuple[str, ...] = ("1.37",), crds: Path | None = None) -> str:
    command = [tools.prefix() / "venv/bin/python", PROGRAM, *files, "--versions", *versions]
    command += ["--crds", crds] if crds else []
    ended = subprocess.run(command, capture_output=True, text=True, check=False)
    assert ended.returncode in (0, 1), ended.stderr
    assert not ended.stderr, ended.stderr
    return ended.stdout.strip()


def _definitions() -> Path | None:
    """KubeRay's definitions, where somebody put them or the installer could fetch them."""
    given = os.environ.get("KERNELVAULT_KUBERAY_CRDS")
    folder = Path(given).expanduser() if given else tools.prefix() / "kuberay"
    assert folder.is_dir() or not given, f"KERNELVAULT_KUBERAY_CRDS={given} is no folder"
    return folder if folder.is_dir() else None


@pytest.fixture(scope="module")
def rendered(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    """All examples and variants as files."""
    folder = tmp_path_factory.mktemp("rendered")
    texts = {name: tools.text(name) for name in tools.EXAMPLES}
    texts |= {name: tools.text(*settings) for name, settings in VARIANTS.items()}
    for name, text in texts.items():
        (folder / f"{name}.yaml").write_text(text)
    return sorted(folder.iterdir())


@pytest.mark.slow
@pytest.mark.parametrize("version", tools.VERSIONS)
def test_every_object_is_valid(rendered: list[Path], version: str) -> None:
    """By the schemas of each Kubernetes version and of the operators, without unknown fields."""
    assert _faults(*rendered, versions=(version,)) == ""


@pytest.mark.slow
def test_ray_resources_are_valid_by_kuberays_definitions(rendered: list[Path]) -> None:
    """By KubeRay's own where they can be had; by ours, which say less of the same, everywhere."""
    files = [path for path in rendered if path.stem in ("cluster", "rayjob")]
    assert _faults(*files, crds=_definitions()) == ""
    kinds = {o["kind"] for path in files for o in yaml.safe_load_all(path.read_text()) if o}
    assert {"RayCluster", "RayJob"} <= kinds


def _misspell(o: dict[str, Any]) -> None:
    o["spec"]["replica"] = 1


def _quote_port(o: dict[str, Any]) -> None:
    o["spec"]["template"]["spec"]["containers"][0]["ports"][0]["containerPort"] = "50052"


def _misspell_in_pod(o: dict[str, Any]) -> None:
    o["spec"]["headGroupSpec"]["template"]["spec"]["containers"][0]["resource"] = {}


def _number_as_parameter(o: dict[str, Any]) -> None:
    o["spec"]["headGroupSpec"]["rayStartParams"]["num-cpus"] = 0


@pytest.mark.slow
@pytest.mark.parametrize(
    ("kind", "suffix", "damage"),
    [
        ("Deployment", "compiler", _misspell),
        ("Deployment", "compiler", _quote_port),
        ("ScaledObject", "compiler", _misspell),
        ("Certificate", "compiler", _misspell),
        ("RayCluster", "ray", _misspell),
        ("RayCluster", "ray", _misspell_in_pod),
        ("RayCluster", "ray", _number_as_parameter),
    ],
)
def test_the_check_sees_a_fault(
    tmp_path: Path, kind: str, suffix: str, damage: Callable[[dict[str, Any]], None]
) -> None:
    """A misspelt field and a wrong type are found in each family of kinds; by every definition that is there."""
    damaged = copy.deepcopy(tools.named("cluster", kind, suffix))
    damage(damaged)
    path = tmp_path / "damaged.yaml"
    path.write_text(json.dumps(damaged))
    assert _faults(path)
    definitions = _definitions()
    if kind == "RayCluster" and definitions:
        assert _faults(path, crds=definitions)
