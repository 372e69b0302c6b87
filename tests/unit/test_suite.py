"""The starter suite: every task loads, runs and varies."""

from __future__ import annotations

import importlib.util
import inspect
from pathlib import Path
from types import ModuleType

import pytest

from kernelvault import errors
from orchestrator import suite

TASKS = suite.tasks()
LARGEST_CASE_ELEMENTS = 64 * 1024


def _load(path: Path) -> ModuleType:
    spec = importlib.util.spec_from_file_location(f"suite_{path.stem}", path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def _given(function: object, case: dict[str, object]) -> dict[str, object]:
    names = inspect.signature(function).parameters  # type: ignore[arg-type]
    return {name: value for name, value in case.items() if name in names}


def test_suite_has_three_levels_of_tasks_with_distinct_titles() -> None:
    """The suite holds at least 44 tasks, each with a title of its own, in levels one to three."""
    titles = {suite.title(path) for path in TASKS}
    assert len(titles) == len(TASKS) >= 44
    assert {suite.level(path) for path in TASKS} == {1, 2, 3}


def test_read_fills_what_the_file_says() -> None:
    """A task's level, family, licence and instructions come from its file."""
    task = suite.read(next(path for path in TASKS if path.stem.endswith("qwen3_mlp")))
    assert (task.title, task.level, task.family) == ("qwen3_mlp", 3, "mlp")
    assert task.provenance.license == "Apache-2.0"
    assert task.provenance.source.startswith("transformers")
    assert task.instructions == "Qwen3's SwiGLU feed-forward network."


def test_ten_tasks_import_their_reference_from_a_library() -> None:
    """At least ten references are a library's own code."""
    sources = [suite.read(path).provenance.source for path in TASKS]
    assert sum(source.startswith(("torch ", "transformers ")) for source in sources) >= 10


def test_read_names_a_missing_file(tmp_path: Path) -> None:
    """A path without a file is the caller's mistake."""
    with pytest.raises(errors.InvalidArgument, match=r"failed to read '.*absent\.py'"):
        suite.read(tmp_path / "absent.py")


@pytest.mark.slow
@pytest.mark.parametrize("path", TASKS, ids=lambda path: path.stem)
def test_task_runs_in_all_its_cases(path: Path) -> None:
    """Every correctness case builds and runs, and is small; performance cases build without memory."""
    import torch
    from torch._subclasses.fake_tensor import FakeTensorMode

    module = _load(path)
    cases = module.get_cases()
    kinds = [case.pop("kind", "correctness") for case in cases]
    assert kinds.count("performance") == 3
    assert kinds.count("correctness") >= 10
    assert len({case.pop("id") for case in cases}) == len(cases)
    shapes = set()
    for kind, case in zip(kinds, cases, strict=True):
        case.pop("distributions", None)
        with torch.no_grad(), FakeTensorMode() if kind == "performance" else torch.random.fork_rng():
            inputs = module.get_inputs(**_given(module.get_inputs, case))
            model = module.Model(*module.get_init_inputs(**_given(module.get_init_inputs, case)))
            dtype = next((x.dtype for x in inputs if x.is_floating_point()), torch.float32)
            weights = {name: value.to(dtype) for name, value in model.state_dict().items() if value.is_floating_point()}
            result = torch.func.functional_call(model, weights, tuple(inputs))
        shapes.add(tuple(tuple(x.shape) for x in inputs))
        outputs = result if isinstance(result, tuple | list) else [result]
        assert all(isinstance(output, torch.Tensor) for output in outputs)
        if kind == "correctness":
            assert sum(x.numel() for x in inputs) <= LARGEST_CASE_ELEMENTS
    assert len(shapes) >= 8
