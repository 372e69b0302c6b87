"""The main job, by the command line, with all services."""

from pathlib import Path

import pytest

from tests.cluster import Cluster

pytestmark = pytest.mark.slow

EXAMPLES = Path(__file__).parents[2] / "examples"
REFERENCE, KERNEL = EXAMPLES / "add.py", EXAMPLES / "add.hip"
TASKS = "vector_add,relu,softmax"


def test_a_right_kernel_passes(cluster: Cluster) -> None:
    """Exit code 0 and a report for programs."""
    ended = cluster.command("verify", REFERENCE, KERNEL)
    report = cluster.json("verify", REFERENCE, KERNEL)

    assert ended.returncode == 0, ended.stdout + ended.stderr
    assert report["verdict"] == "PASSED"
    assert [result["case_id"] for result in report["case_results"] if not result["passed"]] == []


def test_a_wrong_kernel_does_not_pass(cluster: Cluster, tmp_path: Path) -> None:
    """Exit code 1, and the report says where it went wrong."""
    wrong = tmp_path / "wrong.hip"
    wrong.write_text(KERNEL.read_text().replace("a[i] + b[i]", "a[i] - b[i]"))

    ended = cluster.command("verify", REFERENCE, wrong)

    assert (ended.returncode, "MISMATCHED" in ended.stdout) == (1, True)


def test_a_kernel_that_does_not_compile_gets_its_diagnostics(cluster: Cluster, tmp_path: Path) -> None:
    """File, line and message, as a compiler says them."""
    wrong = tmp_path / "wrong.hip"
    wrong.write_text(KERNEL.read_text().replace("a[i] + b[i]", "a[i] + c[i]"))

    ended = cluster.command("verify", REFERENCE, wrong)

    assert ended.returncode == 1
    assert "wrong.hip:7:" in ended.stdout
    assert "undeclared identifier 'c'" in ended.stdout


def test_a_task_without_a_model_is_refused(cluster: Cluster, tmp_path: Path) -> None:
    """A reference is a module with `Model`."""
    task = tmp_path / "empty.py"
    task.write_text("import torch\n")

    ended = cluster.command("verify", task, KERNEL)

    assert ended.returncode == 2
    assert "Model" in ended.stderr
    assert "Traceback" not in ended.stderr


def test_a_profile_says_what_bounds_a_kernel(cluster: Cluster) -> None:
    """A vector add is bound by memory."""
    made = cluster.json("profile", REFERENCE, KERNEL, "--device", "MI300X")["profile"]

    assert made["method_label"] == "cpu-model"
    assert {kernel["bound"] for case in made["cases"] for kernel in case["kernels"]} == {"memory"}


def test_a_run_fills_the_corpus_and_again_adds_nothing(cluster: Cluster) -> None:
    """Generated, verified, profiled, kept; then answered from the cache."""
    first = cluster.json("run", "--run", "small", "--tasks", TASKS)
    count = cluster.json("corpus", "stats")["sample_count"]
    second = cluster.json("run", "--run", "small", "--tasks", TASKS)

    assert [row["verdict"] for row in first["tasks"]] == ["PASSED"] * 3
    assert [row["samples"] for row in second["tasks"]] == [row["samples"] for row in first["tasks"]]
    assert cluster.json("corpus", "stats")["sample_count"] == count


def test_what_was_kept_can_be_found_exported_and_rewarded(cluster: Cluster, tmp_path: Path) -> None:
    """From the corpus to training signals."""
    cluster.json("run", "--run", "kept", "--tasks", "relu")
    found = cluster.json("corpus", "search", "relu")
    assert cluster.command("corpus", "snapshot", "first").returncode == 0
    rewards = cluster.json("rewards", "first")
    exported = cluster.command("corpus", "export", tmp_path / "out", "--snapshot", "first")

    assert any(response["sample"]["task"].startswith("tasks/relu-") for response in found)
    assert exported.returncode == 0, exported.stderr
    assert len((tmp_path / "out" / "samples.jsonl").read_text().splitlines()) == len(rewards)
    assert list((tmp_path / "out" / "sources").rglob("*.hip"))


def test_a_folder_in_kernelbenchs_layout_runs(cluster: Cluster, tmp_path: Path) -> None:
    """Tasks of one's own, by path."""
    path = tmp_path / "level1" / "1_Twice.py"
    path.parent.mkdir()
    path.write_text(
        "import torch\n\n\nclass Model(torch.nn.Module):\n    def forward(self, x):\n        return x * 2\n\n\n"
        "def get_inputs():\n    return [torch.randn(32, 64)]\n\n\ndef get_init_inputs():\n    return []\n"
    )

    result = cluster.json("run", tmp_path, "--run", "own")

    assert [(row["task"].split("-")[0], row["verdict"]) for row in result["tasks"]] == [("tasks/twice", "PASSED")]
