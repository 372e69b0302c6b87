"""The main job over the starter suite: what `make demo` promises."""

import pytest

from orchestrator import suite
from tests.cluster import Cluster

pytestmark = [pytest.mark.slow, pytest.mark.timeout(1500)]

LEAST_PASSED = 60
LEAST_IMPORTED = 10
LEAST_IN_TRITON = 25


def test_rules_solve_the_suite(cluster: Cluster) -> None:
    """One attempt of `rules` passes most tasks, imported ones among them; a second run adds no sample."""
    result = cluster.json("run", "--run", "suite", "--attempts", "1", "--concurrency", "3")
    passed = {row["task"].split("/")[1].rpartition("-")[0] for row in result["tasks"] if row["verdict"] == "PASSED"}
    sources = {suite.title(path): suite.read(path).provenance.source for path in suite.tasks()}
    imported = {title for title, source in sources.items() if source.startswith(("transformers", "torch "))}
    count = cluster.json("corpus", "stats")["sample_count"]
    again = cluster.json("run", "--run", "suite-again", "--attempts", "1", "--concurrency", "3")

    assert len(passed) >= LEAST_PASSED
    assert len(passed & imported) >= LEAST_IMPORTED
    assert [row["verdict"] for row in again["tasks"]] == [row["verdict"] for row in result["tasks"]]
    assert cluster.json("corpus", "stats")["sample_count"] == count


def test_rules_solve_single_operators_in_triton(cluster: Cluster) -> None:
    """What TorchInductor writes, offline, passes the whole loop, from generation to a modelled time."""
    options = ("--language", "triton", "--level", "1", "--attempts", "1", "--concurrency", "3")
    result = cluster.json("run", "--run", "triton", *options)
    passed = [row for row in result["tasks"] if row["verdict"] == "PASSED"]

    assert len(passed) >= LEAST_IN_TRITON
    assert all(row["time_ns"] > 0 for row in passed)
