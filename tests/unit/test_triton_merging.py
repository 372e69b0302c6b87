"""Programs of several cases become one."""

from __future__ import annotations

from kernelvault.replay.triton import program as programs
from kernelvault.v1 import triton_pb2
from svc_compiler.triton.merging import merge

Program = triton_pb2.TritonProgram


def program(size: int, *, helper: str = "x + 1", spare: bool = False) -> triton_pb2.TritonProgram:
    """A kernel of one block size that calls a helper; `spare` puts another function before them."""
    made = Program()
    if spare:
        made.functions.add(name="spare", file="k.py", line=20, source="def spare(x):\n    return x\n")
    made.functions.add(name="helper", file="k.py", line=1, source=f"def helper(x):\n    return {helper}\n")
    kernel = made.functions.add(name="k", file="k.py", line=5, source="def k(x, BLOCK, f):\n    f(helper(x))\n")
    kernel.globals["helper"].function = len(made.functions) - 2
    variant = made.variants.add(function=len(made.functions) - 1)
    variant.parameters.add(name="x", type="*fp32")
    variant.parameters.add(name="BLOCK").constant.integer = size
    variant.parameters.add(name="f").constant.tuple.values.add(function=len(made.functions) - 2)
    variant.name = programs.variant_name(made, variant)
    programs.check(made)
    return made


def test_equal_kernels_are_one() -> None:
    """What two cases share stands there once, with names as before."""
    merged = merge([program(64), program(128, spare=True), program(64)])
    programs.check(merged)
    assert [function.name for function in merged.functions] == ["helper", "k", "spare"]
    assert [variant.name for variant in merged.variants] == [program(size).variants[0].name for size in (64, 128)]


def test_equal_names_are_not_enough() -> None:
    """A function that differs stays apart, with all that refer to it."""
    merged = merge([program(64), program(64, helper="x + 2")])
    programs.check(merged)
    assert [function.name for function in merged.functions] == ["helper", "k", "helper", "k"]
    assert [variant.function for variant in merged.variants] == [1, 3]


def test_nothing_merges_to_nothing() -> None:
    """A candidate may launch no kernel."""
    assert merge([]) == Program()
