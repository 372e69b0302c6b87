"""Inductor's own code generation, with choices that make its output plain."""

from __future__ import annotations

import dataclasses
from typing import Any

import torch
import torch._inductor.config as inductor_config
import torch._inductor.lowering
from torch._inductor.debug import DebugContext
from torch._inductor.graph import GraphLowering
from torch._inductor.virtualized import V

from svc_generator.rules.inductor.rebuild import Rebuilt

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


def lower(rebuilt: Rebuilt, options: dict[str, Any]) -> Lowered:
    """The text of Inductor's module; raises what Inductor raises."""
    _fuse_into_products()
    with rebuilt.mode, torch.no_grad(), inductor_config.patch({**_CONFIG, **options}):
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


def _fuse_into_products() -> None:
    """Operands of products need not be in memory: `tl.dot` takes what was computed."""
    for packet in (torch.ops.aten.mm, torch.ops.aten.bmm):
        torch._inductor.lowering.needs_realized_inputs -= {packet, *packet.op_overloads()}  # type: ignore[no-untyped-call]
