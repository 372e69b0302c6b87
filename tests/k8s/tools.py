"""Helm and the checkers, as scripts/install-k8s-tools installs them, and what the chart renders to."""

from __future__ import annotations

import functools
import os
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import yaml

ROOT = Path(__file__).parents[2]
K8S = ROOT / "k8s"
CHART = K8S / "chart"
EXAMPLES = ("laptop", "mi300x", "cluster")
# The oldest that the chart takes, one between, the newest.
VERSIONS = ("1.30", "1.33", "1.37")
RELEASE = NAMESPACE = "kernelvault"


@functools.cache
def prefix() -> Path:
    """Where the tools are; installs them where they are not. Raises CalledProcessError with the remedy on stderr."""
    folder = Path(os.environ.get("KERNELVAULT_K8S_TOOLS") or "~/.cache/kernelvault/k8s-tools").expanduser()
    subprocess.run([ROOT / "scripts" / "install-k8s-tools", folder], check=True)
    return folder


def run(tool: str, *arguments: str | Path, **options: Any) -> subprocess.CompletedProcess[str]:
    """Runs a tool to its end."""
    command = [prefix() / "bin" / tool, *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=False, **options)


def values(example: str) -> list[str | Path]:
    """Helm's option for an example's values."""
    return ["--values", K8S / "examples" / f"{example}.yaml"]


def template(*options: str | Path) -> subprocess.CompletedProcess[str]:
    """`helm template` of the chart."""
    return run("helm", "template", RELEASE, CHART, "--namespace", NAMESPACE, *options)


@functools.cache
def text(example: str, *settings: str) -> str:
    """What an example renders to, with further settings: `name=text`, or `name:=json`."""
    options = [("--set-json", s.replace(":=", "=", 1)) if ":=" in s else ("--set", s) for s in settings]
    ended = template(*values(example), *(part for option in options for part in option))
    assert ended.returncode == 0, ended.stderr
    return ended.stdout


@functools.cache
def _documents(example: str, *settings: str) -> list[dict[str, Any]]:
    return [document for document in yaml.safe_load_all(text(example, *settings)) if document]


def objects(example: str, kind: str = "", *settings: str) -> list[dict[str, Any]]:
    """The objects of an example, of one kind or of all."""
    return [o for o in _documents(example, *settings) if kind in ("", o["kind"])]


def named(example: str, kind: str, suffix: str, *settings: str) -> dict[str, Any]:
    """The one object of that kind whose name ends so."""
    (found,) = (o for o in objects(example, kind, *settings) if o["metadata"]["name"] == f"{RELEASE}-{suffix}")
    return found


def named_whole(example: str, kind: str) -> dict[str, Any]:
    """The one object of that kind that is called as the release."""
    (found,) = (o for o in objects(example, kind) if o["metadata"]["name"] == RELEASE)
    return found


def pods(example: str, *settings: str) -> Iterator[tuple[str, dict[str, Any]]]:
    """The pod specs of an example, those inside of custom resources and hooks too, each with a name."""
    for document in _documents(example, *settings):
        name = f"{document['kind']}/{document['metadata']['name']}"
        if document["kind"] == "Pod":
            yield name, document["spec"]
        for template in _templates(document):
            yield name, template["spec"]


def _templates(value: Any) -> Iterator[dict[str, Any]]:
    if isinstance(value, dict):
        for key, inner in value.items():
            if key == "template" and "containers" in inner.get("spec", {}):
                yield inner
            else:
                yield from _templates(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from _templates(inner)
