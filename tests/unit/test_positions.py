"""What the CPU model is told of where lanes of a wave are."""

from __future__ import annotations

import itertools

from svc_compiler.hip.positions import number

BALLOT = "  %1 = call i64 @__builtin_amdgcn_ballot_w64(i1 %c)\n"


def function(name: str, *lines: str) -> str:
    """A function's text."""
    return f"define void @{name}() {{\nentry:\n{''.join(lines)}  ret void\n}}\n"


def told(module: str) -> list[str]:
    """The calls of the runtime that were put in, with what follows each."""
    lines = number(module)[0].splitlines()
    return [f"{a.strip()} / {b.strip()}" for a, b in itertools.pairwise(lines) if "@kvd_" in a]


def test_code_without_waits_stays_as_it_is() -> None:
    """Nothing is put into a module whose lanes never wait, loops or not."""
    module = function("k", "  br label %again\n", "again:\n", "  br label %again\n")
    assert number(module) == (module, [])


def test_matrix_instructions_alone_part_nobody() -> None:
    """Neither they nor the fences of a barrier are reason to number anything."""
    fence = "  call void (i32, ptr, ...) @__builtin_amdgcn_fence(i32 noundef 3, ptr @scope)\n"
    product = "  %d = call <4 x float> @__builtin_amdgcn_mfma_f32_16x16x4f32(float %a, float %b)\n"
    module = function("k", "  br label %again\n", "again:\n", fence, product, "  br label %again\n")
    assert number(module) == (module, [])
    assert told(module.replace("noundef 3", "noundef 5"))


def test_waits_are_numbered_in_order() -> None:
    """Of two places the later one has the higher number; a branch backwards ends a loop."""
    loop = ["  br label %again\n", "again:\n", BALLOT, "  %v = load volatile i32, ptr %p\n", "  br label %again\n"]
    sites = told(function("k", *loop))
    assert [text.partition(" / ")[0].partition("(")[0] for text in sites] == [
        "call void @kvd_site",
        "call void @kvd_site",
        "call void @kvd_lap",
    ]
    numbers = [int(text.partition("i32 ")[2].partition(")")[0]) for text in sites]
    assert numbers == sorted(set(numbers))
    assert sites[2].endswith("br label %again")


def test_a_loop_has_one_end() -> None:
    """`continue` and the end of the body are laps of one loop."""
    back = "  br label %again\n"
    loop = [back, "again:\n", BALLOT, "  br i1 %c, label %skip, label %rest\n", "skip:\n", back, "rest:\n", back]
    laps = [text.partition(" / ")[0] for text in told(function("k", *loop)) if "kvd_lap" in text]
    assert len(laps) == 2 and len(set(laps)) == 1


def test_straight_lines_are_places_of_their_callers() -> None:
    """A call of a straight-line function with waits is a place; nothing is put into that function."""
    module = function("wrap", BALLOT) + function(
        "k", "  br i1 %c, label %a, label %b\n", "a:\n", "  call void @wrap()\n", "  br label %b\n", "b:\n"
    )
    [site] = told(module)
    assert site.startswith("call void @kvd_site(") and site.endswith("/ call void @wrap()")


def test_branching_functions_are_entered() -> None:
    """A call of a function with branches and waits, or by a pointer, is entered and left."""
    waiting = function("f", "  br i1 %c, label %a, label %b\n", "a:\n", BALLOT, "  br label %b\n", "b:\n")
    module = waiting + function("k", "  call void @f()\n", "  %2 = call i32 %fp(i32 1)\n")
    assert [text.partition(" / ")[0].partition("(")[0].rpartition("@")[2] for text in told(module)] == [
        *("kvd_site", "kvd_enter", "kvd_leave", "kvd_enter", "kvd_leave")
    ]


def test_recursion_is_entered() -> None:
    """A function that calls itself is no straight line, even without a branch of its own."""
    module = function("f", BALLOT, "  call void @f()\n")
    assert [text.partition("(")[0].rpartition("@")[2] for text in told(module)] == [
        *("kvd_site", "kvd_enter", "kvd_leave")
    ]
