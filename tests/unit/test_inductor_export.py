"""What Inductor wrote is read and rewritten: kernels, host code, dtypes."""

from __future__ import annotations

import ast

import pytest

from svc_generator.rules.graph import NotLowerable
from svc_generator.rules.inductor import casts, kernels, merge, request, wrapper
from svc_generator.rules.inductor.names import Names

HOST = """
def call(args):
    arg0_1, arg1_1 = args
    args.clear()
    s3 = arg0_1
    with torch.cuda._DeviceGuard(0):
        buf0 = empty_strided_cuda((s3, 8), (8, 1), torch.float32)
        {line}
        del arg1_1
    return (buf0, )
"""
KERNEL = """
@triton_heuristics.pointwise(
    size_hints={'x': 64},
    triton_meta={'signature': {'in_ptr0': '*fp16', 'out_ptr0': '*fp16', 'ks0': 'i64', 'xnumel': 'i32', 'XBLOCK': 'constexpr'}},
    inductor_meta={'grid_type': 'Grid1D'},
)
@triton.jit
def triton_poi_fused_0(in_ptr0, out_ptr0, ks0, xnumel, XBLOCK : tl.constexpr):
    xindex = tl.program_id(0) * XBLOCK + tl.arange(0, XBLOCK)[:]
    xmask = xindex < xnumel
    unused = xindex + 1
    tmp0 = tl.load(in_ptr0 + (xindex), xmask).to(tl.float32)
    tmp1 = (ks0).to(tl.float32)
    tmp2 = tmp0 * tmp1 + zf7
    tl.store(out_ptr0 + (xindex), triton_helpers.relu(tmp2), xmask)
"""  # noqa: E501


def _function(text: str) -> ast.FunctionDef:
    [function] = ast.parse(text).body
    assert isinstance(function, ast.FunctionDef)
    return function


def test_host_code_of_allocations_is_read() -> None:
    """Inputs get their names; what is returned is known."""
    program = wrapper.read(HOST.format(line="pass_through = 2*s3"), ["rows", "x"])
    [allocation, number] = program.steps
    assert isinstance(allocation, wrapper.Allocation)
    assert isinstance(number, wrapper.Number)
    assert [ast.unparse(size) for size in allocation.sizes] == ["rows", "8"]
    assert ast.unparse(number.value) == "2 * rows"
    assert program.returned == ["buf0"]


@pytest.mark.parametrize("line", ["extern_kernels.mm(arg1_1, arg1_1, out=buf0)", "buf0 = extern_kernels.mm(arg1_1)"])
def test_host_code_that_computes_is_refused_by_name(line: str) -> None:
    """A call of a library is no allocation and no launch."""
    with pytest.raises(NotLowerable) as raised:
        wrapper.read(HOST.format(line=line), ["rows", "x"])
    assert raised.value.operator == "mm"


def test_kernels_lose_what_only_inductor_needs() -> None:
    """No decorator, no unused definition, helpers by name, numbers from nowhere as parameters."""
    kernel = kernels.parse(KERNEL)
    text = ast.unparse(kernel.function)
    assert kernel.parameters == ["in_ptr0", "out_ptr0", "ks0", "xnumel", "zf7", "XBLOCK"]
    assert (kernel.floats, kernel.helpers, kernel.grid) == (["zf7"], {"relu"}, "Grid1D")
    assert "unused" not in text
    assert "triton_helpers" not in text
    assert "[:]" not in text


def test_sizes_are_converted_in_a_way_that_holds_for_constants() -> None:
    """Triton makes a constant of a size that is 1, and constants have no methods."""
    assert "tl.cast(ks0, tl.float32)" in ast.unparse(kernels.parse(KERNEL).function)


def test_operands_of_products_stay_narrow() -> None:
    """What goes from float16 to float32 into a product is multiplied as float16, without a mask that loads have."""
    function = _function(
        "def f(a_ptr, b_ptr):\n"
        "    t0 = tl.load(a_ptr, m, other=0.0).to(tl.float32)\n"
        "    t1 = tl.load(b_ptr, m & n, other=0.0).to(tl.float32)\n"
        "    t2 = tl.where(m, t0, 0)\n"
        "    t3 = tl.where(m, t1, 0)\n"
        "    t4 = tl.dot(tl.reshape(t2, [X, R]), tl.trans(t3))\n"
    )
    casts.simplify(function, {"a_ptr": "*fp16", "b_ptr": "*fp16"})
    assert [ast.unparse(statement) for statement in function.body] == [
        "t0 = tl.load(a_ptr, m, other=0.0)",
        "t1 = tl.load(b_ptr, m & n, other=0.0)",
        "t4 = tl.dot(tl.reshape(t0, [X, R]), tl.trans(t1))",
    ]


def test_mixed_operands_of_products_stay_wide() -> None:
    """A float32 operand keeps the product in float32."""
    text = (
        "def f(a_ptr, b_ptr):\n"
        "    t0 = tl.load(a_ptr, m).to(tl.float32)\n"
        "    t1 = tl.load(b_ptr, m)\n"
        "    t2 = tl.dot(t0, t1)"
    )
    function = _function(text)
    casts.simplify(function, {"a_ptr": "*fp16", "b_ptr": "*fp32"})
    assert ast.unparse(function) == text


def test_trees_of_several_dtypes_become_one() -> None:
    """A conversion that float32 lacks is one to itself; a dtype that differs is asked for."""
    trees = [ast.parse("f(x, torch.float32)"), ast.parse("f(x.to(tl.float32), torch.float16)")]
    merged = merge.merge(trees, lambda dtypes: ast.Name("_".join(dtypes), ast.Load()), wide=[True, False])
    assert ast.unparse(merged) == "f(x.to(tl.float32), float32_float16)"


def test_trees_that_differ_in_more_do_not_merge() -> None:
    """Another operator is another kernel."""
    with pytest.raises(merge.Different):
        merge.merge([ast.parse("a + b"), ast.parse("a - b")], lambda _: None, wide=[True, False])


def test_parameters_get_names_that_python_and_kernels_leave_free() -> None:
    """Names of the task are kept where they can be."""
    names = Names(["net.weight", "lambda", "tmp0", "x"], ["eps"], {"s0": "t3_1", "s1": "c0", "s2": "t3_1 // 2"})
    assert names.tensors == ["net_weight", "lambda_", "tmp0_", "x"]
    assert names.symbols == {"s0": "x_size1", "s1": "eps", "s2": "size"}
    assert names.definitions == {"x_size1": "x.size(1)", "size": "x.size(1) // 2"}


def test_sizes_that_are_products_are_no_symbols() -> None:
    """Heads times width is known by its factors."""
    assert request._product_of((8, 30), [(2, 3), (4, 10)])
    assert not request._product_of((8, 31), [(2, 3), (4, 10)])
    assert request._rest((8, 30), {(4, 10)}) == (2, 3)
