"""The services as a user starts them."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from orchestrator import processes
from tests.cluster import Cluster

pytestmark = pytest.mark.slow

GRPCURL = Path(sys.executable).with_name("grpcurl")
SERVICES = {
    "generator": ["kernelvault.v1.Generator"],
    "compiler": ["kernelvault.v1.Compiler"],
    "profiler": ["kernelvault.v1.Profiler"],
    "corpus": ["kernelvault.v1.ActionCache", "kernelvault.v1.BlobStore", "kernelvault.v1.Corpus"],
    "trainer": ["kernelvault.v1.Trainer"],
}


def test_status_shows_that_all_serve(cluster: Cluster) -> None:
    """Five services and their S3 server."""
    states = {name: row["state"] for name, row in cluster.json("status").items()}

    assert states == dict.fromkeys(["s3", *SERVICES], "SERVING")


@pytest.mark.parametrize("service", SERVICES)
def test_grpcurl_lists_what_a_service_serves(cluster: Cluster, service: str) -> None:
    """Reflection and health are on every server."""
    address = cluster.records()[service]["address"]

    listed = subprocess.check_output([GRPCURL, "-plaintext", address, "list"], text=True).split()

    assert (
        sorted(set(listed) - {"grpc.health.v1.Health", "grpc.reflection.v1alpha.ServerReflection"}) == SERVICES[service]
    )


def test_up_again_changes_nothing(cluster: Cluster) -> None:
    """What runs well is left alone."""
    before = cluster.records()

    assert cluster.command("up").returncode == 0
    assert cluster.records() == before


def test_up_brings_back_what_died_at_its_address(cluster: Cluster) -> None:
    """The others find it where it was."""
    before = cluster.records()
    os.kill(before["trainer"]["pid"], signal.SIGKILL)

    assert cluster.command("up").returncode == 0
    after = cluster.records()
    assert after["trainer"]["address"] == before["trainer"]["address"]
    assert after["trainer"]["pid"] != before["trainer"]["pid"]
    assert {name: after[name] for name in after if name != "trainer"} == {
        name: before[name] for name in before if name != "trainer"
    }


def test_down_leaves_nothing(tmp_path: Path) -> None:
    """Neither processes nor ports; the corpus stays."""
    own = Cluster(tmp_path / "state")
    assert own.command("up").returncode == 0
    pids = [record["pid"] for record in own.records().values()]
    families = [pid for parent in pids for pid in processes.family(parent)]

    assert own.command("down").returncode == 0

    assert [pid for pid in families if processes.identity(pid)] == []
    assert own.command("status").returncode == 1
    assert (own.folder / "s3" / "data").is_dir()
