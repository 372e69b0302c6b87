"""The choice among configurations follows the numbers of the worst target, then the author's order."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from kernelvault.v1 import compiler_pb2, plan_pb2
from svc_compiler.refusal import Refused
from svc_compiler.triton import ranking
from svc_compiler.triton.compile import TritonBuild

# Spilled registers and resident waves.
Numbers = tuple[int, float]


def build(target: str, numbers: Mapping[str, Numbers]) -> TritonBuild:
    """A build in which these kernels compiled."""
    made = TritonBuild(compiler_pb2.TargetBuild(target=target, compiled=True))
    for name, (spilled, waves) in numbers.items():
        image = made.images[name] = plan_pb2.Image(target=target)
        image.resources.spilled_registers = spilled
        image.resources.occupancy_waves = waves
    return made


def plan(*launches: str) -> plan_pb2.LaunchPlan:
    """Launches of kernels by one-letter names: the first of a word, with the others as alternatives."""
    made = plan_pb2.LaunchPlan()
    letters = sorted(set("".join(launches)))
    for letter in letters:
        made.kernels.add(name=letter)
    for word in launches:
        launch = made.operations.add().launch
        launch.kernel = letters.index(word[0])
        for letter in word[1:]:
            launch.alternatives.add(kernel=letters.index(letter))
    return made


def order(made: plan_pb2.LaunchPlan) -> list[str]:
    """The words of `plan` again."""
    launches = [operation.launch for operation in made.operations]
    return ["".join(made.kernels[one.kernel].name for one in (launch, *launch.alternatives)) for launch in launches]


@pytest.mark.parametrize(
    ("numbers", "expected"),
    [
        ({"a": (0, 2), "b": (0, 8), "c": (0, 4)}, "bca"),
        ({"a": (9, 8), "b": (0, 1), "c": (3, 8)}, "bca"),
        ({"a": (0, 4), "b": (0, 4), "c": (0, 4)}, "abc"),
        ({"b": (0, 1), "c": (0, 2)}, "cb"),
        ({"c": (99, 0)}, "c"),
    ],
)
def test_spills_then_waves_then_order(numbers: dict[str, Numbers], expected: str) -> None:
    """One that does not compile is dropped."""
    made = plan("abc")
    ranking.choose(made, [build("gfx942", numbers)])
    assert order(made) == [expected]


def test_worst_target_counts() -> None:
    """A configuration that is best on one target only is not chosen."""
    made = plan("ab")
    ranking.choose(made, [build("gfx90a", {"a": (0, 1), "b": (0, 3)}), build("gfx950", {"a": (0, 8), "b": (0, 4)})])
    assert order(made) == ["ba"]


def test_all_targets_must_compile() -> None:
    """What fails on one target is dropped for all."""
    made = plan("ab")
    ranking.choose(made, [build("gfx90a", {"a": (0, 8), "b": (0, 1)}), build("gfx950", {"b": (0, 1)})])
    assert order(made) == ["b"]


def test_kernels_without_a_launch_leave() -> None:
    """The others keep their launches, whatever their new index is."""
    made = plan("d", "abc", "e")
    ranking.choose(made, [build("gfx942", dict.fromkeys("cde", (0, 8)))])
    assert order(made) == ["d", "c", "e"]
    assert [kernel.name for kernel in made.kernels] == ["c", "d", "e"]


def test_plan_without_alternatives_stays() -> None:
    """A kernel that does not compile is for others to refuse."""
    made = plan("ab"[:1], "b")
    before = plan_pb2.LaunchPlan.FromString(made.SerializeToString())
    ranking.choose(made, [])
    assert made == before


def test_none_compiles() -> None:
    """Is refused."""
    with pytest.raises(Refused, match="COMPILE_FAILED: None of the 2 configurations of a compiles for all targets"):
        ranking.choose(plan("ab"), [build("gfx942", {})])


def test_dispensable_variants() -> None:
    """A variant that some plan launches without alternatives is needed."""
    assert ranking.alternatives([plan("abc", "d"), plan("b")]) == {"a", "c"}
