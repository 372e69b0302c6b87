"""The CPU images, really run: health, calls, verdicts of real kernels, SIGTERM, and what is and is not in them."""

from __future__ import annotations

import json
import subprocess
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.images.containers import ROOT, Container, inspect, missing, once

COMPONENTS = ("corpus", "compiler", "orchestrator", "gateway")
TOKEN = {"AWS_ACCESS_KEY_ID": "tests", "AWS_SECRET_ACCESS_KEY": "not-a-secret"}
PORTS = {"corpus": 50054, "compiler": 50052, "profiler": 50053}
ADDRESSES = {f"KERNELVAULT_{name.upper()}_ADDRESS": f"127.0.0.1:{port}" for name, port in PORTS.items()}
EXAMPLES = (f"--volume={ROOT}/examples:/examples:ro",)
HEALTH = """
import sys, grpc
from grpc_health.v1.health_pb2 import HealthCheckRequest, HealthCheckResponse
from grpc_health.v1.health_pb2_grpc import HealthStub
for port in sys.argv[1:]:
    answer = HealthStub(grpc.insecure_channel(f"127.0.0.1:{port}")).Check(HealthCheckRequest(), timeout=10)
    print(HealthCheckResponse.ServingStatus.Name(answer.status))
"""

pytestmark = [pytest.mark.slow, pytest.mark.timeout(300)]


@pytest.fixture(scope="module", autouse=True)
def built() -> None:
    """`make images-test` builds them first; other runs of the tests may do without."""
    if why := missing():
        pytest.skip(why)


def serving(service: str, **settings: str) -> dict[str, str]:
    """A server's environment."""
    settings |= {"ADDRESS": f"127.0.0.1:{PORTS[service]}", "DRAIN_SECONDS": "5"}
    if service != "corpus":
        settings |= {"CACHE_DIR": "/var/cache/kernelvault", "CORPUS_ADDRESS": f"127.0.0.1:{PORTS['corpus']}"}
    return {f"KERNELVAULT_{name}": value for name, value in settings.items()}


@pytest.fixture(scope="module")
def stack() -> Iterator[dict[str, Container]]:
    """An S3 server, a corpus, a compiler and a profiler that share a loopback interface and no other."""
    weed = "weed mini -dir=/tmp/data -ip=127.0.0.1 -ip.bind=127.0.0.1 -s3.port=8333 -webdav=false -admin.ui=false"
    s3 = {
        "S3_ENDPOINT": "127.0.0.1:8333",
        "S3_SECURE": "false",
        "S3_BUCKET": "kernelvault",
        "S3_ACCESS_KEY": "tests",
        "S3_SECRET_KEY": "not-a-secret",
    }
    tools = {"TOOLCHAIN": "/opt/kernelvault/toolchain", "CASE_SECRET": "a secret of the tests"}
    command = f"{weed} -master.telemetry=false -bucket=kernelvault"
    with Container("orchestrator", "none", {**TOKEN, "HOME": "/tmp"}, command=command) as store:
        network = store.network
        with (
            Container("corpus", network, serving("corpus", **s3)) as corpus,
            Container("compiler", network, serving("compiler", **tools)) as compiler,
            # All code is in each image; the profiler needs what the compiler has.
            Container("compiler", network, serving("profiler"), command="python -m svc_profiler") as profiler,
        ):
            started = {"s3": store, "corpus": corpus, "compiler": compiler, "profiler": profiler}
            for name in PORTS:
                started[name].wait('"serving"')
            yield started


def command(stack: dict[str, Container], *arguments: str) -> subprocess.CompletedProcess[str]:
    """`kernelvault` in the orchestrator's image."""
    return once("orchestrator", stack["s3"].network, ADDRESSES, *arguments, options=EXAMPLES)


@pytest.fixture(scope="module")
def programs() -> dict[str, list[str]]:
    """All that can be executed, and all Python files, by component."""
    find = ("-xdev", "(", "-name", "*.py", "-o", "-type", "f", "-perm", "-1", "-o", "-type", "l", ")")
    return {
        component: once(component, "none", {}, "/", *find, options=("--entrypoint=find",)).stdout.splitlines()
        for component in COMPONENTS
    }


@pytest.mark.parametrize("kernel", ["add.hip", "add_triton.py"])
def test_a_kernel_is_verified(stack: dict[str, Container], kernel: str) -> None:
    """A real HIP and a real Triton candidate are PASSED by the compiler's image, without privileges or a network."""
    done = command(stack, "verify", "/examples/add.py", f"/examples/{kernel}", "--fresh", "--json")

    assert done.returncode == 0, done.stdout + done.stderr + stack["compiler"].log()[-3000:]
    report = json.loads(done.stdout)
    assert report["verdict"] == "PASSED"
    assert report["compiled_targets"] == ["gfx942"]


def test_a_wrong_kernel_is_refused(stack: dict[str, Container], tmp_path: Path) -> None:
    """The verdict is made: an off-by-one is UNSAFE, with its line."""
    wrong = (ROOT / "examples" / "add.hip").read_text().replace("i < n", "i <= n")
    (tmp_path / "wrong.hip").write_text(wrong)
    tmp_path.chmod(0o755)
    done = once(
        "orchestrator", stack["s3"].network, ADDRESSES, "verify", "/examples/add.py", "/wrong/wrong.hip",
        options=(*EXAMPLES, f"--volume={tmp_path}:/wrong:ro"),
    )  # fmt: skip

    assert done.returncode == 1, done.stderr
    assert "UNSAFE" in done.stdout
    assert "wrong.hip:" in done.stdout


def test_health_and_a_call(stack: dict[str, Container]) -> None:
    """Probes of all servers answer; the corpus answers a call of the command."""
    ports = [str(port) for port in PORTS.values()]
    health = stack["corpus"].run("python", "-c", HEALTH, *ports)
    stats = command(stack, "corpus", "stats")

    assert health.stdout.split() == ["SERVING"] * len(PORTS)
    assert stats.returncode == 0, stats.stderr
    assert "samples" in stats.stdout


def test_the_gateway(stack: dict[str, Container]) -> None:
    """It is healthy when its services are, and stops at SIGTERM."""
    environment = {**ADDRESSES, "KERNELVAULT_ADDRESS": "127.0.0.1:8080", "KERNELVAULT_DRAIN_SECONDS": "5"}
    ask = "import urllib.request as r; print(r.urlopen('http://127.0.0.1:8080/health', timeout=20).read().decode())"
    with Container("gateway", stack["s3"].network, environment) as gateway:
        gateway.wait('"serving"')
        answer = json.loads(gateway.run("python", "-c", ask).stdout)
        status = gateway.stop()

    assert answer["available"] is True
    assert status == 0


def test_servers_have_no_privilege(stack: dict[str, Container]) -> None:
    """User 10001, no capability, seccomp, and a root that cannot be written."""
    for name in PORTS:
        status = stack[name].run("sh", "-c", "cat /proc/[0-9]*/status; touch /opt/x /usr/x", check=False)
        found = {
            tuple(line.split()) for line in status.stdout.splitlines() if line.startswith(("Uid", "CapEff", "CapBnd"))
        }
        assert {row for row in found if row[0] != "Uid:"} == {("CapEff:", "0" * 16), ("CapBnd:", "0" * 16)}, name
        assert {row for row in found if row[0] == "Uid:"} == {("Uid:", "10001", "10001", "10001", "10001")}, name
        assert status.stderr.count("Read-only file system") == 2, name


def test_only_the_compiler_has_a_compiler(programs: dict[str, list[str]]) -> None:
    """Nor has any image an installer of Python's packages where it serves from."""
    compilers = {"cc", "gcc", "g++", "clang", "clang-22", "clang++-22", "ld", "as"}
    for component, files in programs.items():
        names = {Path(file).name for file in files}
        assert "serve" in names
        assert bool(names & compilers) == (component == "compiler"), component
        assert not any(file.startswith("/opt/kernelvault/lib/") and "/pip/" in file for file in files), component


@pytest.mark.parametrize("component", COMPONENTS)
def test_what_an_image_says_of_itself(component: str) -> None:
    """The user, the entry point below an init, and OCI's labels with the commit it was built of."""
    told = inspect(component)
    labels = told["Labels"]
    prefix = "org.opencontainers.image."
    version = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["version"]

    assert told["Config"]["User"] == "10001:10001"
    assert told["Config"]["Entrypoint"] == ["tini", "--", "serve"]
    assert labels[f"{prefix}title"] == f"kernelvault-{component}"
    assert labels[f"{prefix}version"] == version
    assert len(labels[f"{prefix}revision"]) == 40
    assert labels[f"{prefix}licenses"] == "Apache-2.0"
    assert {f"{prefix}{key}" for key in ("description", "created", "source", "base.name")} <= set(labels)


@pytest.mark.parametrize("component", COMPONENTS)
def test_the_bill_of_materials(component: str) -> None:
    """It lists each package of the lock that the component needs, of that version, and the compiler's tool chain."""
    bill: Any = json.loads((ROOT / "build" / "images" / f"{component}.cdx.json").read_text())
    listed = {(one["name"].lower().replace("_", "-"), one.get("version", "")) for one in bill["components"]}
    locked = subprocess.run(
        [ROOT / "scripts" / "locked", component], capture_output=True, text=True, check=True
    ).stdout.splitlines()
    pins = [line.split(" ")[0].split("==") for line in locked if "==" in line]

    assert bill["bomFormat"] == "CycloneDX"
    assert len(pins) > 10
    assert {(name.lower(), version) for name, version in pins} <= listed
    assert ("clang-22" in {name for name, _ in listed}) == (component == "compiler")


def test_sigterm(stack: dict[str, Container]) -> None:
    """Servers end by themselves, with 0. Last: it ends what the other tests use."""
    assert {name: stack[name].stop() for name in PORTS} == dict.fromkeys(PORTS, 0)
