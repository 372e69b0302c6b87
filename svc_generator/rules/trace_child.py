"""Traces a task in the sandbox: each case becomes a graph of ATen operators with the sizes that it has.

Nothing is computed: the module runs on fake tensors, so that performance cases cost no memory.
"""

from __future__ import annotations

import functools
import json
import math
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import torch
from torch._subclasses.fake_tensor import FakeTensorMode
from torch.fx.experimental.proxy_tensor import make_fx

from kernelvault.replay.reference_draw import is_number
from kernelvault.replay.reference_module import Module, decode_arguments, sets_training_mode

RESULT = "trace.json"
_IRRELEVANT = {"device", "layout", "pin_memory", "memory_format", "generator", "requires_grad"}
_DECOMPOSED = (
    "native_layer_norm native_group_norm native_batch_norm _native_batch_norm_legit_no_training _softmax "
    "_log_softmax gelu silu hardswish hardsigmoid hardtanh softplus leaky_relu elu mish celu selu addmm baddbmm "
    "addbmm addmv addcmul addcdiv lerp logsumexp mse_loss smooth_l1_loss huber_loss l1_loss binary_cross_entropy "
    "binary_cross_entropy_with_logits nll_loss_forward nll_loss2d_forward masked_fill std var_mean std_mean "
    "linalg_vector_norm norm triu tril square rsub relu6 logaddexp split split_with_sizes unbind stack repeat "
    "tile index_select t transpose hardshrink softshrink threshold log_sigmoid_forward glu xlogy trace ones_like "
    "zeros_like full_like new_full new_zeros new_ones empty_like zeros ones narrow mv dot _fused_rms_norm "
    "_scaled_dot_product_flash_attention_for_cpu "
)


def main(payload: bytes, _descriptors: dict[str, int]) -> int:
    """Entry of the sandboxed job: reads the source and the cases, writes `trace.json` into the working folder."""
    request = json.loads(payload)
    traces = []
    for case in request["cases"]:
        try:
            module = Module(request["source"], Path(), case["shrunk"])
            traces.append(_trace(module, decode_arguments(case["arguments"])))
        except Exception as error:
            print(f"{type(error).__name__}: {error}"[:2000], file=sys.stderr)
            return 3
    Path(RESULT).write_text(json.dumps(traces))
    return 0


def _trace(module: Module, arguments: Mapping[str, Any]) -> dict[str, Any]:
    """One case's graph, on fake tensors; its inputs are those of the call signature."""
    with FakeTensorMode(allow_non_fake_inputs=True), torch.no_grad():
        init = module.call("get_init_inputs", arguments)
        model = module.model_class(**init) if isinstance(init, dict) else module.model_class(*init)
        if not sets_training_mode(module.source):
            model = model.eval()
        inputs = module.call("get_inputs", arguments)
        values = list(inputs.values()) if isinstance(inputs, dict) else list(inputs)
        state = _state(model, values)
        tensors = [value for value in values if isinstance(value, torch.Tensor)]

        def call(*flat: torch.Tensor) -> Any:
            given = iter(flat)
            filled = [next(given) if isinstance(value, torch.Tensor) else value for value in values]
            state_given = dict(zip(state, given, strict=True))
            if isinstance(inputs, dict):
                return torch.func.functional_call(model, state_given, (), dict(zip(inputs, filled, strict=True)))
            return torch.func.functional_call(model, state_given, tuple(filled))

        graph = traced(call, [*tensors, *state.values()])
    numbers = values + list(init.values() if isinstance(init, dict) else init)
    return _encode(graph) | {"scalars": [value for value in numbers if is_number(value)]}


def traced(function: Callable[..., Any], tensors: list[torch.Tensor]) -> torch.fx.Graph:
    """The graph of core operators that a function of fake tensors calls."""
    with torch.nn.attention.sdpa_kernel(torch.nn.attention.SDPBackend.MATH):
        module = make_fx(torch.func.functionalize(function), decomposition_table=_decompositions())(*tensors)
    module.graph.eliminate_dead_code()
    return module.graph


def _state(model: torch.nn.Module, inputs: list[Any]) -> dict[str, torch.Tensor]:
    """Parameters and buffers, in the dtype of the first floating-point input as the reference has them."""
    dtype = next((x.dtype for x in inputs if isinstance(x, torch.Tensor) and x.is_floating_point()), None)
    saved = {name: value for name, value in model.state_dict().items() if isinstance(value, torch.Tensor)}
    others = {name: value for name, value in model.named_buffers() if name not in saved}
    return {
        name: value.to(dtype) if dtype and value.is_floating_point() else value
        for name, value in (saved | others).items()
    }


@functools.cache
def _decompositions() -> dict[Any, Callable[..., Any]]:
    """Core ATen, and below it what the lowering would rather see as elementwise operators and reductions."""
    packets = [getattr(torch.ops.aten, name) for name in _DECOMPOSED.split() if hasattr(torch.ops.aten, name)]
    ours = {
        torch.ops.aten.native_group_norm.default: _group_norm,
        torch.ops.aten._fused_rms_norm.default: _rms_norm,
        torch.ops.aten.linalg_vector_norm.default: _vector_norm,
    }
    return {**torch._decomp.core_aten_decompositions(), **torch._decomp.get_decompositions(packets), **ours}


def _working(x: torch.Tensor) -> torch.Tensor:
    """torch computes norms of narrow types in float32."""
    return x.float() if x.dtype in (torch.float16, torch.bfloat16) else x


def _group_norm(
    x: torch.Tensor, weight: torch.Tensor | None, bias: torch.Tensor | None, *numbers: Any
) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    """Without the strides that torch's own decomposition makes."""
    batch, channels, _, groups, eps = numbers
    grouped = _working(x).reshape(batch, groups, -1)
    centered = grouped - grouped.mean(-1, keepdim=True)
    scale = torch.rsqrt((centered * centered).mean(-1, keepdim=True) + eps)
    result = (centered * scale).reshape(x.shape)
    affine = (1, channels, *([1] * (x.dim() - 2)))
    result = result if weight is None else result * weight.reshape(affine)
    result = result if bias is None else result + bias.reshape(affine)
    return result.to(x.dtype), x, x


def _rms_norm(
    x: torch.Tensor, shape: list[int], weight: torch.Tensor | None, eps: float | None
) -> tuple[torch.Tensor, torch.Tensor]:
    """Without the operators in place of torch's own decomposition."""
    wide = _working(x)
    dims = list(range(x.dim() - len(shape), x.dim()))
    epsilon = torch.finfo(x.dtype).eps if eps is None else eps
    result = wide * torch.rsqrt((wide * wide).mean(dims, keepdim=True) + epsilon)
    return (result if weight is None else result * weight).to(x.dtype), x


def _vector_norm(
    x: torch.Tensor,
    ord: float = 2,
    dim: list[int] | None = None,
    keepdim: bool = False,
    *,
    dtype: torch.dtype | None = None,
) -> torch.Tensor:
    """The same graph for every size, where torch has a short cut for rows of one element."""
    dims = list(range(x.dim())) if dim is None else list(dim)
    wide = _working(x.to(dtype or x.dtype))
    if ord == 2:
        result = (wide * wide).sum(dims, keepdim=keepdim).sqrt()
    elif ord == float("inf"):
        result = wide.abs().amax(dims, keepdim=keepdim)
    else:
        result = wide.abs().pow(ord).sum(dims, keepdim=keepdim).pow(1 / ord)
    return result.to(dtype or x.dtype)


def _encode(graph: torch.fx.Graph) -> dict[str, Any]:
    """The graph as JSON: operators with their arguments by the names of their schemas."""
    numbers: dict[torch.fx.Node, int] = {}
    nodes: list[dict[str, Any]] = []
    outputs: Any = None
    for node in graph.nodes:
        if node.op == "output":
            outputs = node.args[0]
            continue
        numbers[node] = len(nodes)
        nodes.append(
            {"op": _operator(node), "args": _arguments(node, numbers), "values": _values(node.meta.get("val"))}
        )
    sequence = isinstance(outputs, list | tuple)
    return {"nodes": nodes, "outputs": _value(outputs if sequence else [outputs], numbers), "sequence": sequence}


def _operator(node: torch.fx.Node) -> str:
    if node.op == "placeholder":
        return "input"
    if node.op == "get_attr":
        return "constant"
    if isinstance(node.target, torch._ops.OpOverload):
        return str(node.target)
    return getattr(node.target, "__name__", str(node.target))


def _arguments(node: torch.fx.Node, numbers: Mapping[torch.fx.Node, int]) -> dict[str, Any]:
    if not isinstance(node.target, torch._ops.OpOverload):
        given = {str(position): value for position, value in enumerate(node.args)} if node.op == "call_function" else {}
        return {name: _value(value, numbers) for name, value in given.items()}
    schema = node.target._schema.arguments
    given = {a.name: a.default_value for a in schema if a.has_default_value()}
    given.update({a.name: value for a, value in zip(schema, node.args, strict=False)})
    given.update(node.kwargs)
    return {name: _value(value, numbers) for name, value in given.items() if name not in _IRRELEVANT}


def _value(value: Any, numbers: Mapping[torch.fx.Node, int]) -> Any:
    if isinstance(value, torch.fx.Node):
        return {"node": numbers[value]}
    if isinstance(value, list | tuple):
        return [_value(item, numbers) for item in value]
    if isinstance(value, torch.dtype):
        return {"dtype": str(value).removeprefix("torch.")}
    if isinstance(value, float) and not math.isfinite(value):
        return {"float": str(value)}
    if value is None or isinstance(value, bool | int | float | str):
        return value
    return {"other": type(value).__name__}


def _values(result: Any) -> list[dict[str, Any]]:
    """What a node gives: one tensor, or several."""
    items = result if isinstance(result, list | tuple) else [result]
    return [
        {"dtype": str(item.dtype).removeprefix("torch."), "dims": list(item.shape)}
        for item in items
        if isinstance(item, torch.Tensor)
    ]
