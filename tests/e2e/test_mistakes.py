"""What a user gets wrong: one line that says what to do, exit code 2, never a traceback."""

from pathlib import Path

import pytest

from tests.cluster import Cluster
from tests.usage import children_cpu_seconds

EXAMPLES = Path(__file__).parents[2] / "examples"
REFERENCE, KERNEL = EXAMPLES / "add.py", EXAMPLES / "add.hip"


def test_help_takes_little_work(stopped: Cluster) -> None:
    """Nobody waits for a list of commands."""
    stopped.command("--help")
    before = children_cpu_seconds()
    ended = stopped.command("--help")

    assert children_cpu_seconds() - before < 0.5
    assert "verify" in ended.stdout


@pytest.fixture
def huge(tmp_path: Path) -> Path:
    """A candidate of 10 MB."""
    path = tmp_path / "huge.hip"
    path.write_bytes(b"// \n" * 2_500_000)
    return path


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("verify", "missing.py", KERNEL), "failed to read 'missing.py': there is no such file"),
        (("verify", REFERENCE, "missing.hip"), "failed to read 'missing.hip': there is no such file"),
        (("verify", REFERENCE, EXAMPLES), "is a folder"),
        (("verify", "sofmax", KERNEL), "did you mean softmax"),
        (("verify", REFERENCE, KERNEL, "--target", "gfx900"), "unknown target 'gfx900': known are"),
        (("verify", REFERENCE, KERNEL, "--format", "cuda"), "unknown format 'cuda': known are"),
        (("verify", REFERENCE, KERNEL, "--timeout", "nan"), "--timeout nan is no time limit"),
        (("profile", REFERENCE, KERNEL, "--device", "H100"), "'H100' is unknown; known are MI300X"),
        (("run", "--device", "H100"), "'H100' is unknown; known are MI300X"),
        (("run", "--timeout", "-1"), "--timeout -1 is no time limit"),
        (("verify", REFERENCE, KERNEL), "start the services with `kernelvault up`"),
        (("run", "--tasks", "nonsense"), "no task matches"),
        (("run", "--run", "../x"), "cannot name a run"),
        (("run", "--language", "cuda"), "unknown language 'cuda': known are hip, triton"),
        (("run", "--language", "triton", "--format", "hip-abi"), "--format hip-abi is written in hip, not in triton"),
        (("run", REFERENCE, "--seed-kernel", "missing.cu"), "failed to read 'missing.cu': there is no such file"),
        (("run", REFERENCE, "--seed-kernel", REFERENCE), "failed to find a kernel in"),
        (("run", REFERENCE, "--seed-license", "MIT"), "--seed-license is of a seed kernel: give --seed-kernel too"),
        (("run", "--seed-kernel", KERNEL), "a seed kernel is of one task"),
        (("run", REFERENCE, "--optimize", "missing.hip"), "failed to read 'missing.hip': there is no such file"),
        (("run", REFERENCE, "--kernel", "add"), "--kernel is of a file that is made faster: give --optimize too"),
        (("run", "--optimize", KERNEL), "a kernel to make faster is of one task"),
        (("run", REFERENCE, "--optimize", KERNEL, "--seed-kernel", KERNEL), "leave out --seed-kernel or --optimize"),
        (("run",), "start the services with `kernelvault up`"),
        (("corpus", "stats"), "start the services with `kernelvault up`"),
        (("corpus", "show", "softmax"), "names neither a sample"),
        (("corpus", "search", "x", "--verdict", "fine"), "unknown verdict 'fine': known are PASSED"),
        (("rewards", "s", "--formula", "fair"), "unknown formula 'fair': known are"),
        (("frobnicate",), "No such command"),
    ],
    ids=lambda value: " ".join(str(part) for part in value) if isinstance(value, tuple) else "",
)
def test_a_mistake_is_explained(stopped: Cluster, arguments: tuple[str, ...], message: str) -> None:
    """The message names what is wrong, and what to do."""
    ended = stopped.command(*arguments)

    assert ended.returncode == 2
    assert message in ended.stderr
    assert "Traceback" not in ended.stderr


def test_a_candidate_of_ten_megabytes_is_refused(stopped: Cluster, huge: Path) -> None:
    """It is not even sent."""
    ended = stopped.command("verify", REFERENCE, huge)

    assert (ended.returncode, "10000000 bytes are above the limit" in ended.stderr) == (2, True)


def test_a_damaged_state_folder_is_explained(stopped: Cluster) -> None:
    """A broken file is named."""
    (stopped.folder / "services.json").write_text("{")

    ended = stopped.command("status")

    assert (ended.returncode, "services.json" in ended.stderr) == (2, True)
