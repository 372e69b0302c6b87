"""Where tasks and candidates come from."""

from pathlib import Path

import pytest

from kernelvault.v1.kernel_pb2 import Candidate
from orchestrator import candidates, suite, tasks
from orchestrator.mistake import Mistake

REFERENCE = "import torch\n\n\nclass Model(torch.nn.Module):\n    pass\n\n\ndef get_inputs():\n    return []\n"


@pytest.fixture
def kernelbench(tmp_path: Path) -> Path:
    """A folder in KernelBench's layout, with a file that is no reference."""
    for name in ("level1/23_Softmax.py", "level1/1_Square_matrix.py", "level2/40_Softmax.py"):
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(REFERENCE)
    (tmp_path / "helper.py").write_text("class Other:\n    pass\n")
    return tmp_path


def test_a_folder_in_kernelbenchs_layout_is_read_by_level(kernelbench: Path) -> None:
    """Titles come from file names, levels from folders; what defines no Model is left out."""
    found = [tasks.read(path) for path in tasks.collect([kernelbench])]

    assert [(task.title, task.level) for task in found] == [("square_matrix", 1), ("softmax", 1), ("softmax", 2)]


def test_a_folder_without_references_is_a_mistake(tmp_path: Path) -> None:
    """The message says what was looked for."""
    with pytest.raises(Mistake, match="defines `class Model`"):
        tasks.collect([tmp_path])


def test_tasks_are_selected_by_pattern_and_level(kernelbench: Path) -> None:
    """`--tasks soft* --level 2` leaves one."""
    found = [tasks.read(path) for path in tasks.collect([kernelbench])]

    assert [task.level for task in tasks.select(found, titles="soft*", level=2)] == [2]


def test_selecting_nothing_is_a_mistake() -> None:
    """A run over nothing is never what was meant."""
    with pytest.raises(Mistake, match="no task matches"):
        tasks.select([tasks.read(suite.tasks()[0])], titles="nonsense", level=0)


def test_a_task_of_the_suite_is_found_by_its_title() -> None:
    """`softmax` is a task of the starter suite."""
    assert tasks.find("softmax") in suite.tasks()


def test_a_misspelt_task_gets_a_hint() -> None:
    """The nearest titles are offered."""
    with pytest.raises(Mistake, match=r"did you mean .*softmax"):
        tasks.find("sofmax")


@pytest.mark.parametrize(
    ("contents", "message"), [(None, "no such file"), (b"", "it is empty"), (bytes(10_000_000), "above the limit")]
)
def test_a_file_that_cannot_be_used_is_a_mistake(tmp_path: Path, contents: bytes | None, message: str) -> None:
    """A missing, empty or huge file is refused before anything is sent."""
    path = tmp_path / "kernel.hip"
    if contents is not None:
        path.write_bytes(contents)

    with pytest.raises(Mistake, match=message):
        candidates.read(path, format_=None, entry_point="")


@pytest.mark.parametrize(
    ("name", "source", "format_"),
    [
        ("k.hip", b'extern "C" void run() {}', Candidate.HIP_ABI),
        ("k.cpp", b"#include <torch/extension.h>\nPYBIND11_MODULE(a, m) {}", Candidate.HIP_TORCH),
        ("k.py", b"import triton", Candidate.TRITON_MODULE),
    ],
)
def test_the_format_is_found_out(tmp_path: Path, name: str, source: bytes, format_: Candidate.Format) -> None:
    """Nobody has to say what can be seen."""
    path = tmp_path / name
    path.write_bytes(source)

    assert candidates.read(path, format_=None, entry_point="").format == format_


def test_an_unknown_target_is_refused_with_the_known_ones() -> None:
    """`gfx900` is no target of ours."""
    with pytest.raises(Mistake, match="unknown target 'gfx900': known are gfx90a, gfx942, gfx950"):
        candidates.targets("gfx942,gfx900")
