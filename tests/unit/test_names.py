"""Names of tasks and samples: derived from content, and lasting."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from kernelvault import digest
from kernelvault.v1 import kernel_pb2
from tests import messages


def test_a_tasks_name_lasts() -> None:
    """The name of a given content never changes: stored samples refer to it."""
    assert digest.task_name(messages.task()) == "tasks/softmax-1d774924c426"


def _reference(task: kernel_pb2.Task) -> None:
    task.reference.contents += b"#"


def _case(task: kernel_pb2.Task) -> None:
    task.cases[0].strided = True


def _split(task: kernel_pb2.Task) -> None:
    task.cases.add(strided=True)


def _shrunk(task: kernel_pb2.Task) -> None:
    task.cases[1].shrunk["N"] = 65


def _tolerance(task: kernel_pb2.Task) -> None:
    task.tolerance.absolute = 1e-3


def _operators(task: kernel_pb2.Task) -> None:
    task.allowed_operators.append("aten::empty")


def _outputs(task: kernel_pb2.Task) -> None:
    task.cases[0].outputs.add(name="out").tensor.dims.append(3)


@pytest.mark.parametrize("change", [_reference, _case, _split, _shrunk, _tolerance, _operators, _outputs])
def test_every_field_of_a_task_is_in_its_name(change: Callable[[kernel_pb2.Task], None]) -> None:
    """A task that differs anywhere is another task."""
    task = messages.task()
    change(task)
    assert digest.task_name(task) != digest.task_name(messages.task())


def test_name_and_time_are_not_in_a_tasks_name() -> None:
    """A stored task has the name of the one that was sent."""
    task = messages.task()
    task.name = "tasks/other"
    task.create_time.GetCurrentTime()
    assert digest.task_name(task) == digest.task_name(messages.task())


def test_a_field_moves_between_cases_only_with_the_name() -> None:
    """Values of one case are not taken for those of the next."""
    one, other = kernel_pb2.Task(title="t"), kernel_pb2.Task(title="t")
    one.cases.add(id="a", strided=True)
    one.cases.add()
    other.cases.add(id="a")
    other.cases.add(strided=True)
    assert digest.task_name(one) != digest.task_name(other)


def test_a_sample_is_named_by_what_was_found_out() -> None:
    """Another verdict, device or method is another sample; another time, run or explanation is not."""
    sample = messages.sample("tasks/softmax-0123456789ab", "kernel")
    name = digest.sample_name(sample)
    assert name.startswith("samples/")
    sample.lineage.run, sample.report.explanation, sample.profile.time_ns = "other", "other", 1.0
    assert digest.sample_name(sample) == name
    sample.profile.device = "MI325X"
    assert digest.sample_name(sample) != name
