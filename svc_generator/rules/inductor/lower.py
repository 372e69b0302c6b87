"""Inductor's own code generation, with choices that make its output plain."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Any
from unittest import mock

import sympy  # type: ignore[import-untyped]
import torch
import torch._inductor.config as inductor_config
import torch._inductor.lowering
from torch._inductor.choices import InductorChoices
from torch._inductor.codegen.triton import TritonKernel
from torch._inductor.debug import DebugContext
from torch._inductor.graph import GraphLowering
from torch._inductor.virtualized import V

from svc_generator.rules.inductor.kernels import UNKNOWN_BLOCK
from svc_generator.rules.inductor.rebuild import Rebuilt

_MAX_INT32 = (1 << 31) - 1
_CONFIG: dict[str, Any] = {
    "max_autotune": False,
    "compile_threads": 1,
    "fx_graph_cache": False,
    "size_asserts": False,
    "nan_asserts": False,
    "alignment_asserts": False,
    "assert_indirect_indexing": False,
    "allow_buffer_reuse": False,
    "inplace_buffers": False,
    "comprehensive_padding": False,
    "layout_optimization": False,
    "memory_planning": False,
    "graph_partition": False,
    "combo_kernels": False,
    "implicit_fallbacks": False,
    "triton.native_matmul": True,
    "triton.unique_kernel_names": True,
    "triton.descriptive_names": "original_aten",
    "triton.multi_kernel": 0,
    "triton.cooperative_reductions": False,
    "triton.cudagraphs": False,
    "triton.codegen_upcast_to_fp32": True,
}


@dataclasses.dataclass
class Lowered:
    """Inductor's Python and what it assumed."""

    text: str
    # Relations of Inductor's symbols that its code relies on.
    guards: list[Any]


def lower(rebuilt: Rebuilt, values: dict[str, list[int]], longest: int = 0) -> Lowered:
    """The text of Inductor's module; raises what Inductor raises.

    Rows of up to `longest` elements in every case are folded at once; `values` are the request's symbols.
    """
    _fuse_into_products()
    symbols = {symbol: values[name] for symbol, name in rebuilt.names.items() if name in values}
    with (
        rebuilt.mode,
        torch.no_grad(),
        inductor_config.patch(_CONFIG),
        V.set_choices_handler(_Choices(symbols, longest)),
        mock.patch.object(TritonKernel, "_get_persistent_RBLOCK", staticmethod(_row_block)),
    ):
        graph = GraphLowering(
            rebuilt.module, example_inputs=rebuilt.inputs, shape_env=rebuilt.shapes, is_inference=True
        )
        with (
            V.set_fake_mode(rebuilt.mode),
            V.set_debug_handler(DebugContext()),
            V.set_graph_handler(graph),
            V.set_extern_kernel_nodes([]),
        ):
            graph.run(*rebuilt.inputs)
            code = graph.codegen()
    text = code[0].value if hasattr(code[0], "value") else str(code[0])
    return Lowered(text, [guard.expr for guard in rebuilt.shapes.guards])


class _Choices(InductorChoices):
    """Folds a row in one block where it is short in all cases."""

    def __init__(self, symbols: dict[str, list[int]], longest: int) -> None:
        super().__init__()
        count = len(next(iter(symbols.values()), [0]))
        self.cases = [{sympy.Symbol(name): values[case] for name, values in symbols.items()} for case in range(count)]
        self.longest = longest

    def should_use_persistent_reduction(self, features: Any, cooperative_reduction: bool) -> bool:  # type: ignore[override]
        """Never for products, whose rows are never short for sure."""
        if any(features.contains_op(name) for name in ("dot",)):
            return False
        length = sympy.sympify(features.reduction_numel)
        named = length.subs({symbol: sympy.Symbol(symbol.name) for symbol in length.free_symbols})
        return all(named.subs(case) <= self.longest for case in self.cases)


def _row_block(length: Any) -> int:
    """The power of 2 above a known length."""
    known = V.graph.sizevars.simplify(length)
    if isinstance(known, sympy.Integer | int):
        return 1 << (int(known) - 1).bit_length()
    return UNKNOWN_BLOCK


def broken(lowered: Lowered, rebuilt: Rebuilt, graph: Mapping[str, Any]) -> str:
    """A relation that the code relies on and that does not hold in a case; empty where all hold.

    Sizes of 1 are left out: what they change (broadcasting, strides that nobody reads) is the same in the graphs of
    all cases. So are the bounds of 32-bit indices, which Inductor takes of whole iteration spaces.
    """
    values = graph["symbols"] | graph["floats"]
    symbols = {symbol: values[name] for symbol, name in rebuilt.names.items()}
    for guard in lowered.guards:
        if guard.has(sympy.Integer(_MAX_INT32)):
            continue
        for case in range(len(graph["nodes"][0]["dtypes"])):
            sizes = {symbol: symbols[symbol.name][case] for symbol in guard.free_symbols}
            if guard.subs(sizes) != sympy.true and not _degenerate(guard, sizes):
                return f"{guard} does not hold for the sizes {list(sizes.values())}"
    return ""


def _degenerate(guard: Any, sizes: Mapping[Any, int]) -> bool:
    """Whether a part of the relation is 0 or 1 in this case."""
    parts = [part for part in sympy.preorder_traversal(guard) if part.free_symbols and not part.is_Relational]
    return any(part.subs(sizes) in (0, 1) for part in parts)


def _fuse_into_products() -> None:
    """Operands of products need not be in memory: `tl.dot` takes what was computed."""
    for packet in (torch.ops.aten.mm, torch.ops.aten.bmm):
        torch._inductor.lowering.needs_realized_inputs -= {packet, *packet.op_overloads()}  # type: ignore[no-untyped-call]
