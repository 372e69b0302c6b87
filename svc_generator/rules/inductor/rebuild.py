"""The graph of a request, executed on fake tensors with symbolic sizes: what Inductor lowers."""

from __future__ import annotations

import dataclasses
import operator
from collections.abc import Sequence
from typing import Any

import torch
from torch._dispatch.python import enable_python_dispatcher
from torch._dynamo.source import ConstantSource
from torch._inductor.decomposition import select_decomp_table
from torch._subclasses.fake_tensor import FakeTensorMode
from torch.fx.experimental.proxy_tensor import make_fx
from torch.fx.experimental.symbolic_shapes import DimDynamic, ShapeEnv

from svc_generator.rules.graph import NotLowerable
from svc_generator.rules.inductor import products

DEVICE = torch.device("cuda", 0)
_NAMES = {"int": int, "float": torch.sym_float, "pow": operator.pow, "inf": float("inf"), "__builtins__": {}}


@dataclasses.dataclass
class Rebuilt:
    """A graph for Inductor with the inputs that it was traced on."""

    module: torch.fx.GraphModule
    inputs: list[Any]
    # The names of the inputs that are numbers, which come first.
    scalars: list[str]
    mode: FakeTensorMode
    shapes: ShapeEnv
    # The request's name of each symbol.
    names: dict[str, str]


def rebuild(request: dict[str, Any], case: int, hint: int) -> Rebuilt:
    """Traces the graph with the dtypes of one case, and with the sizes of another where a value is asked for."""
    shapes = ShapeEnv(duck_shape=False)
    mode = FakeTensorMode(allow_non_fake_inputs=True, shape_env=shapes)
    scalars = {name: _symbol(shapes, name, per_case[hint]) for name, per_case in request["symbols"].items()}
    scalars |= {name: _symbol(shapes, name, per_case[hint]) for name, per_case in request["floats"].items()}
    names = {str(value.node.expr): name for name, value in scalars.items()}
    nodes = [node for node in request["nodes"] if node["op"] == "input"]
    with mode, torch.no_grad():
        tensors = []
        for dims, node in zip(request["inputs"], nodes, strict=True):
            sizes = [evaluate(dim, scalars) for dim in dims]
            tensors.append(torch.empty(sizes, dtype=_dtype(node["dtypes"][case]), device=DEVICE))
        inputs = [*scalars.values(), *tensors]

        def call(*flat: Any) -> list[torch.Tensor]:
            given = dict(zip(scalars, flat, strict=False))
            return _Interpreter(request, case, given, flat[len(scalars) :]).run()

        with enable_python_dispatcher():
            module = make_fx(call, decomposition_table=select_decomp_table(), tracing_mode="real")(*inputs)
    module.graph.eliminate_dead_code()
    for node in module.graph.nodes:
        if isinstance(node.target, torch._ops.OpOverload):
            # Inductor names kernels after it.
            node.meta["original_aten"] = node.target
    return Rebuilt(module, inputs, list(scalars), mode, shapes, names)


def _symbol(shapes: ShapeEnv, name: str, hint: float) -> Any:
    source = ConstantSource(name)
    symbol = shapes.create_symbol(
        hint,
        source,
        DimDynamic.DYNAMIC,
        None,
        positive=None if isinstance(hint, float) else True,
        do_not_specialize_zero_one=isinstance(hint, int) and hint < 2,
    )
    if isinstance(hint, float):
        return shapes.create_symfloatnode(symbol, hint=hint, source=source)
    return shapes.create_symintnode(symbol, hint=hint, source=source)


def evaluate(value: Any, names: dict[str, Any]) -> Any:
    """A number of the request, or its expression's value."""
    if isinstance(value, dict):
        return eval(value["expression"], _NAMES | names)
    return value


class _Interpreter:
    """Executes a request's nodes with the dtypes of one case."""

    def __init__(self, request: dict[str, Any], case: int, scalars: dict[str, Any], tensors: Sequence[Any]) -> None:
        self.request = request
        self.case = case
        self.scalars = scalars
        self.tensors = iter(tensors)
        self.results: list[Any] = []

    def run(self) -> list[torch.Tensor]:
        """What the graph returns, contiguous and in memory of its own."""
        for node in self.request["nodes"]:
            self.results.append(next(self.tensors) if node["op"] == "input" else self._apply(node))
        outputs = [self._value(output) for output in self.request["outputs"]]
        return [torch.ops.aten.clone.default(o, memory_format=torch.contiguous_format) for o in outputs]

    def _apply(self, node: dict[str, Any]) -> Any:
        op, args = node["op"], {name: self._value(value) for name, value in node["args"].items()}
        if op == "getitem":
            return args["0"][args["1"]]
        if op == "constant":
            raise NotLowerable("a constant tensor", "its values are not known to the rules")
        if op in ("reshape", "expand"):
            return getattr(args["self"], op)(args["size"])
        if node["target"].startswith("aten.mul.") and type(args["other"]) in (int, float) and args["other"] == 1:
            return args["self"]
        rule = products.RULES.get(node["target"])
        result = self._call(node, args) if rule is None else rule(**args)
        dtype = _dtype(node["dtypes"][self.case])
        if isinstance(result, torch.Tensor) and result.dtype != dtype:
            result = _convert(result, dtype)
        return result

    def _call(self, node: dict[str, Any], args: dict[str, Any]) -> Any:
        overload = _overload(node["target"])
        for argument in overload._schema.arguments:
            if argument.name in args and "ScalarType" in str(argument.real_type):
                self._give_dtype(args, argument.name, node["dtypes"][self.case])
            elif argument.name == "device":
                args["device"] = DEVICE
            elif argument.has_default_value() and _is(args.get(argument.name), argument.default_value):
                # Decompositions take fewer arguments than their operators' schemas.
                args.pop(argument.name, None)
        return overload(**args)

    @staticmethod
    def _give_dtype(args: dict[str, Any], name: str, result: str) -> None:
        """A dtype that differs between the cases is the result's; one that the operands have too is left out."""
        if args[name] is not None:
            args[name] = _dtype(args[name])
        elif any(isinstance(value, torch.Tensor) and value.dtype == _dtype(result) for value in args.values()):
            del args[name]
        else:
            args[name] = _dtype(result)

    def _value(self, value: Any) -> Any:
        if isinstance(value, list):
            return [self._value(item) for item in value]
        if not isinstance(value, dict):
            return value
        if "expression" in value:
            return evaluate(value, self.scalars)
        result = self.results[value["node"]]
        for dtype in value["casts"][self.case]:
            result = _convert(result, _dtype(dtype))
        return result


def _is(value: Any, default: Any) -> bool:
    return type(value) is type(default) and isinstance(value, int | float | None | str) and value == default


def _overload(target: str) -> Any:
    space, name, overload = target.split(".")
    packet = getattr(getattr(torch.ops, space), name.removesuffix("_") if not name.startswith("_") else name)
    return getattr(packet, overload)


def _convert(tensor: torch.Tensor, dtype: torch.dtype) -> torch.Tensor:
    result: torch.Tensor = torch.ops.prims.convert_element_type.default(tensor, dtype)
    return result


def _dtype(name: str) -> torch.dtype:
    dtype = getattr(torch, name, None)
    if not isinstance(dtype, torch.dtype):
        raise NotLowerable(f"dtype {name[:40]}", "torch has none of that name")
    return dtype
