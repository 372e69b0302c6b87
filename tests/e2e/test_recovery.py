"""kill -9 of any one process in the middle of a run."""

import json
import os
import signal
import time

import pytest

from tests.cluster import Cluster

pytestmark = [pytest.mark.slow, pytest.mark.timeout(600)]

TASKS = ("vector_add", "relu", "gelu", "silu", "softmax", "rms_norm")
KILLED = ("s3", "corpus", "compiler", "generator", "profiler")


@pytest.mark.parametrize("service", KILLED)
def test_a_run_survives_the_death_of_a_service(cluster: Cluster, service: str) -> None:
    """After `up`, the run completes; nothing acknowledged is lost; no verdict blames a kernel for it."""
    name = f"killed-{service}"
    # A timeout of its own makes each run's actions new: nothing is answered from the cache.
    timeout = str(60 + KILLED.index(service) + 1)
    run = cluster.begin("run", "--run", name, "--tasks", ",".join(TASKS), "--timeout", timeout, "--json")
    while run.poll() is None and not [line for line in cluster.journal(name) if "sample" in line]:
        time.sleep(0.05)
    acknowledged = [line["sample"] for line in cluster.journal(name) if "sample" in line]
    assert run.poll() is None, "the run was over before anything could be killed"
    os.kill(cluster.records()[service]["pid"], signal.SIGKILL)
    assert cluster.command("up").returncode == 0
    output, errors = run.communicate(timeout=400)

    assert run.returncode == 0, errors
    result = json.loads(output)
    assert {row["task"].split("/")[1].rpartition("-")[0]: row["verdict"] for row in result["tasks"]} == dict.fromkeys(
        TASKS, "PASSED"
    )
    assert set(acknowledged) <= {sample for row in result["tasks"] for sample in row["samples"]}
    for sample in acknowledged:
        assert cluster.json("corpus", "show", sample)["report"]["verdict"] == "PASSED"


def test_a_run_that_was_killed_goes_on(cluster: Cluster) -> None:
    """The run itself may die too: the next one with its name finishes it."""
    arguments = ("run", "--run", "killed-run", "--tasks", ",".join(TASKS), "--timeout", "70")
    run = cluster.begin(*arguments)
    while run.poll() is None and not [line for line in cluster.journal("killed-run") if "sample" in line]:
        time.sleep(0.05)
    run.send_signal(signal.SIGKILL)
    run.communicate()
    acknowledged = [line["sample"] for line in cluster.journal("killed-run") if "sample" in line]

    result = cluster.json(*arguments)

    assert {row["verdict"] for row in result["tasks"]} == {"PASSED"}
    assert set(acknowledged) <= {sample for row in result["tasks"] for sample in row["samples"]}


def test_ctrl_c_ends_a_run_at_once(cluster: Cluster) -> None:
    """Exit code 130, no traceback, and the journal is whole."""
    run = cluster.begin("run", "--run", "interrupted", "--tasks", ",".join(TASKS), "--timeout", "71")
    while run.poll() is None and not cluster.journal("interrupted"):
        time.sleep(0.05)
    time.sleep(1)
    run.send_signal(signal.SIGINT)
    _, errors = run.communicate(timeout=10)

    assert run.returncode == 130
    assert "Traceback" not in errors
