"""Seeds are secret and stable, and cases are checked before anyone acts on them."""

from __future__ import annotations

import pytest

from kernelvault import errors
from kernelvault.replay import cases
from kernelvault.v1 import kernel_pb2


def test_seeds_follow_from_secret_task_and_case() -> None:
    """The same three give the same seed; another of any gives another."""
    key = cases.task_key(b"secret", "ab" * 32)
    seed = cases.seed(key, "given")
    assert seed == cases.seed(cases.task_key(b"secret", "ab" * 32), "given")
    assert 0 <= seed < 1 << 63
    others = [
        cases.seed(key, "large"),
        cases.seed(cases.task_key(b"other", "ab" * 32), "given"),
        cases.seed(cases.task_key(b"secret", "cd" * 32), "given"),
    ]
    assert len({seed, *others}) == 4


@pytest.mark.parametrize("case_id", ["", "../x", "a b", "x" * 101, "\n"])
def test_ids_that_are_no_names_are_refused(case_id: str) -> None:
    """A case's id goes into messages and keys: it is a plain name."""
    with pytest.raises(errors.InvalidArgument, match=r"^cases\[0\].id: "):
        cases.check_all([kernel_pb2.Case(id=case_id)], "cases")


def test_two_cases_of_one_id_are_refused() -> None:
    """Two cases with one id would have one seed."""
    with pytest.raises(errors.InvalidArgument, match="'a' stands twice; give each case its own id"):
        cases.check_all([kernel_pb2.Case(id="a"), kernel_pb2.Case(id="a")], "cases")


def test_a_case_with_an_impossible_view_is_refused() -> None:
    """A dtype or a size that no tensor has is named with its place."""
    view = kernel_pb2.TensorView(dtype="float32", dims=[-1], strides=[1])
    case = kernel_pb2.Case(id="a", parameters=[kernel_pb2.Parameter(name="x", tensor=view)])
    with pytest.raises(errors.InvalidArgument, match=r"cases\[0\].parameters\[0\]: the tensor.dims is no number"):
        cases.check_all([case], "cases")
