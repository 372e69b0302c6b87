"""A release as processes of this machine: with the environment, the files, the probes and the test of its pods."""

from __future__ import annotations

import contextlib
import os
import shutil
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests import s3 as s3_server
from tests.certificates import Authority
from tests.k8s import tools
from tests.s3 import S3Server

EXAMPLE = "mi300x"
# In the order of their start.
SERVICES = ("corpus", "compiler", "profiler", "generator", "trainer")
TOOLCHAIN = Path(os.environ.get("KERNELVAULT_TOOLCHAIN") or "~/.cache/kernelvault/toolchain").expanduser()
# docs/kubernetes.md
TOKENS = "".join(
    f"{name} {roles} certificate:kernelvault-{name}.kernelvault.svc\n"
    for name, roles in (
        ("compiler", "service"),
        ("profiler", "service"),
        ("generator", "service"),
        ("trainer", "train"),
        ("orchestrator", "submit"),
    )
)


class Release:
    """Pods by component, each in a folder that stands for its volumes; ports stand for its addresses."""

    def __init__(self, folder: Path, s3: S3Server) -> None:
        self._folder = folder
        self._authority = Authority(folder)
        free = s3_server._free_ports(2 * len(SERVICES))
        self._ports = dict(zip(SERVICES, free[::2], strict=True))
        self._metrics = dict(zip(SERVICES, free[1::2], strict=True))
        self._s3 = s3
        self.processes: dict[str, subprocess.Popen[bytes]] = {}

    def start(self, component: str) -> None:
        """Starts a service as its container would be; returns when its startup probe succeeds."""
        pod = tools.named(EXAMPLE, "Deployment", component)["spec"]["template"]["spec"]
        environment = self.environment(component, pod)
        with (self._folder / f"{component}.log").open("wb") as log:
            self.processes[component] = subprocess.Popen(
                [sys.executable, "-m", f"svc_{component}"], env=environment, stdout=log, stderr=log, cwd="/"
            )
        deadline = time.monotonic() + 60
        while not self.probe(component, "startup"):
            assert self.processes[component].poll() is None and time.monotonic() < deadline, self.log(component)
            time.sleep(0.1)

    def probe(self, component: str, kind: str) -> bool:
        """What the kubelet would find: a 2xx answer or not."""
        container = tools.named(EXAMPLE, "Deployment", component)["spec"]["template"]["spec"]["containers"][0]
        probe = container[f"{kind}Probe"]["httpGet"]
        assert probe["port"] == "metrics"
        try:
            url = f"http://127.0.0.1:{self._metrics[component]}{probe['path']}"
            with urllib.request.urlopen(url, timeout=5) as response:
                return bool(response.status == 200)
        except (urllib.error.HTTPError, OSError):
            return False

    def log(self, component: str) -> str:
        """What a process wrote, or the end of it."""
        return (self._folder / f"{component}.log").read_text(errors="replace")[-4000:]

    def environment(self, component: str, pod: dict[str, Any]) -> dict[str, str]:
        """A container's variables, with folders for mounts and loopback addresses for those of the cluster."""
        home = self._folder / component
        self._mount(component, pod, home)
        made = {"PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}"}
        for entry in pod["containers"][0]["env"]:
            value = entry["value"]
            made[entry["name"]] = f"{home}{value}" if value.startswith(("/etc/", "/var/", "/tmp")) else value
        prefix = "KERNELVAULT_"
        for name, port in self._ports.items():
            if f"{prefix}{name.upper()}_ADDRESS" in made:
                made[f"{prefix}{name.upper()}_ADDRESS"] = f"dns:///127.0.0.1:{port}"
        if component in self._ports:
            made[f"{prefix}ADDRESS"] = f"127.0.0.1:{self._ports[component]}"
            made[f"{prefix}METRICS_PORT"] = str(self._metrics[component])
        if component == "compiler":
            made[f"{prefix}TOOLCHAIN"] = str(TOOLCHAIN)
        if component == "corpus":
            made |= {f"{prefix}S3_ENDPOINT": self._s3.endpoint, f"{prefix}S3_SECURE": "false"}
        return made

    def _mount(self, component: str, pod: dict[str, Any], home: Path) -> None:
        """Fills the folders of the pod's volumes from its Secrets and from the release's certificates."""
        volumes = {volume["name"]: volume for volume in pod["volumes"]}
        for mount in pod["containers"][0]["volumeMounts"]:
            folder = home / mount["mountPath"].lstrip("/")
            folder.mkdir(parents=True, exist_ok=True)
            source = volumes[mount["name"]]
            if "secret" in source:
                self._fill(folder, component, source["secret"]["secretName"])
            elif "configMap" in source:
                name = source["configMap"]["name"].removeprefix(f"{tools.RELEASE}-")
                for file, text in tools.named(EXAMPLE, "ConfigMap", name)["data"].items():
                    (folder / file).write_text(text)

    def _fill(self, folder: Path, component: str, secret: str) -> None:
        contents = {
            "kernelvault-s3": {"access-key": s3_server.ACCESS_KEY, "secret-key": s3_server.SECRET_KEY},
            "kernelvault-case-secret": {"secret": "0123456789abcdef"},
            "kernelvault-tokens": {"tokens": TOKENS},
        }
        for name, text in contents.get(secret, {}).items():
            (folder / name).write_text(text)
        if secret not in contents:
            certificate = tools.named(EXAMPLE, "Certificate", component)["spec"]
            assert certificate["secretName"] == secret
            pair = self._authority.issue(component, [*certificate["dnsNames"], "127.0.0.1"])
            for source, name in ((pair.cert, "tls.crt"), (pair.key, "tls.key"), (self._authority.ca, "ca.crt")):
                shutil.copy(source, folder / name)


@pytest.fixture(scope="module")
def release(tmp_path_factory: pytest.TempPathFactory, s3: S3Server) -> Iterator[Release]:
    """All services of the example with mutual TLS and roles."""
    started = Release(tmp_path_factory.mktemp("release"), s3)
    with contextlib.ExitStack() as stack:
        for name in SERVICES:
            stack.callback(lambda name=name: name in started.processes and _end(started.processes[name]))
            started.start(name)
        yield started


def _end(process: subprocess.Popen[bytes]) -> None:
    process.kill()
    process.wait()


@pytest.mark.slow
def test_every_pod_becomes_ready(release: Release) -> None:
    """By its own probes."""
    deadline = time.monotonic() + 30
    while missing := [name for name in SERVICES if not release.probe(name, "readiness")]:
        assert time.monotonic() < deadline, [release.log(name) for name in missing]
        time.sleep(0.2)
    assert all(release.probe(name, "liveness") for name in SERVICES)


@pytest.mark.slow
def test_the_releases_test_passes(release: Release) -> None:
    """`helm test`'s command, environment and files: a kernel is verified over mutual TLS, each caller with its role."""
    pod = tools.named(EXAMPLE, "Pod", "test")["spec"]
    environment = release.environment("orchestrator", pod)
    home = environment["HOME"].removesuffix("/tmp")
    command = [
        f"{home}{word}" if word.startswith("/verification") else word for word in pod["containers"][0]["command"]
    ]
    ended = subprocess.run(command, env=environment, capture_output=True, text=True, check=False, timeout=170)
    logs = [release.log(name) for name in ("compiler", "corpus")]
    assert ended.returncode == 0, (ended.stdout, ended.stderr, *logs)
    assert "PASSED" in ended.stdout


@pytest.mark.slow
def test_a_pod_ends_by_itself(release: Release) -> None:
    """After SIGTERM, before the time at which it would be killed."""
    process = release.processes["trainer"]
    process.terminate()
    pod = tools.named(EXAMPLE, "Deployment", "trainer")["spec"]["template"]["spec"]
    assert process.wait(pod["terminationGracePeriodSeconds"]) == 0
