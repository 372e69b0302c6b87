"""Traces a module with torch.fx down to functions, on the meta device; inside the sandboxed child."""

from __future__ import annotations

import contextlib
import functools
import inspect
import operator
import traceback
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from unittest import mock

import torch
import torch.fx

from kernelvault.replay import reference_draw
from kernelvault.replay import reference_faults as faults
from kernelvault.replay.reference_module import Module

_FACTORIES = ("arange", "ones", "zeros", "full", "empty", "eye", "linspace", "tensor", "rand", "randn")


@dataclass(frozen=True)
class Trace:
    """The graph of one case, and the call that it stands for (its tensors without values)."""

    case_id: str
    call: reference_draw.Call
    nodes: list[torch.fx.Node]


class _Proxy(torch.fx.Proxy):
    """A traced value that knows its length where that does not depend on data."""

    def __len__(self) -> int:
        """The length of a shape, or of a tensor's first dimension."""
        value = self.node.meta.get("value")
        if value is None:
            raise faults.NotTraceable(f"the length of {self.node.name} is not known")
        return len(value)


class _Tracer(torch.fx.Tracer):
    """Follows every module, torch.nn's own included, so that only functions and methods remain.

    Values are computed along on the meta device, so that code may ask for ranks and loop over shapes. What is decided
    so for one case is compared with what is decided for the others.
    """

    values: dict[tuple[str, str], Any]

    def is_leaf_module(self, m: torch.nn.Module, module_qualified_name: str) -> bool:
        """No module is a leaf."""
        return False

    def proxy(self, node: torch.fx.Node) -> torch.fx.Proxy:
        """A proxy that knows its length."""
        return _Proxy(node, self)

    def create_node(self, kind: str, target: Any, args: Any, kwargs: Any, *more: Any, **named: Any) -> torch.fx.Node:
        """The node, with its value on the meta device where there is one."""
        node = super().create_node(kind, target, args, kwargs, *more, **named)
        with contextlib.suppress(Exception), torch.device("meta"):
            node.meta["value"] = self._value(node)
        return node

    def iter(self, obj: torch.fx.Proxy) -> Iterator[Any]:
        """Element by element where the length is known."""
        value = obj.node.meta.get("value")
        return (
            super().iter(obj) if value is None else iter([operator.getitem(obj, index) for index in range(len(value))])
        )

    def to_bool(self, obj: torch.fx.Proxy) -> bool:
        """The truth of what depends on shapes and dtypes alone."""
        value = obj.node.meta.get("value")
        return bool(value) if isinstance(value, bool | int) else super().to_bool(obj)

    def _value(self, node: torch.fx.Node) -> Any:
        args, kwargs = torch.fx.node.map_arg((node.args, node.kwargs), lambda n: n.meta["value"])
        if node.op == "call_function":
            return node.target(*args, **kwargs)  # type: ignore[operator]
        if node.op == "call_method":
            return getattr(args[0], str(node.target))(*args[1:], **kwargs)
        return self.values[(node.op, str(node.target))]


def trace(module: Module, arguments: Mapping[str, Any], case_id: str) -> Trace:
    """The graph of one case; raises NotTraceable with the line that torch.fx cannot follow."""
    with torch.device("meta"):
        call = reference_draw.construct(module, arguments, 0)
    given = [name for name, _ in call.arguments]
    defaults = {name: value for name, value in _defaults(call.model).items() if name not in given}
    others = {name: value for name, value in call.arguments if not _is_traced(value)}
    tracer = _Tracer(autowrap_functions=())
    tracer.values = {("placeholder", name): value for name, value in call.arguments}
    tracer.values |= {("get_attr", name): value for name, value in call.state()}
    try:
        with _factories_traced(tracer), torch.no_grad():
            graph = tracer.trace(call.model, concrete_args={**defaults, **others})
    except Exception as error:
        raise faults.NotTraceable(f"torch.fx cannot trace it: {_why(error, module.path)}") from error
    _drop_assertions(graph)
    graph.eliminate_dead_code()
    return Trace(case_id, call, list(graph.nodes))


def _drop_assertions(graph: torch.fx.Graph) -> None:
    """Takes out what torch.fx adds for arguments of a fixed value."""
    for node in reversed(graph.nodes):
        if getattr(node.target, "__name__", "") in ("_assert", "_assert_is_none"):
            graph.erase_node(node)


def _is_traced(value: Any) -> bool:
    return isinstance(value, torch.Tensor) or reference_draw.is_number(value)


def _defaults(model: torch.nn.Module) -> dict[str, Any]:
    parameters = inspect.signature(type(model).forward).parameters.values()
    if any(p.kind in (p.VAR_POSITIONAL, p.VAR_KEYWORD) for p in parameters):
        raise faults.NotTraceable("Model.forward takes * or ** arguments; name each of them")
    return {p.name: p.default for p in parameters if p.default is not p.empty}


@contextlib.contextmanager
def _factories_traced(tracer: torch.fx.Tracer) -> Iterator[None]:
    """Lets functions that make tensors take traced sizes: torch itself dispatches on tensors only."""

    def traced(function: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(function)
        def call(*args: Any, **kwargs: Any) -> Any:
            leaves: list[Any] = []
            torch.fx.node.map_aggregate((args, kwargs), leaves.append)
            if any(isinstance(leaf, torch.fx.Proxy) for leaf in leaves):
                return tracer.create_proxy("call_function", function, args, kwargs)
            return function(*args, **kwargs)

        return call

    with contextlib.ExitStack() as stack:
        for name in _FACTORIES:
            stack.enter_context(mock.patch.object(torch, name, traced(getattr(torch, name))))
        yield


def _why(error: Exception, path: Path) -> str:
    """The cause and the innermost line that is not torch.fx's own."""
    frames = [f for f in traceback.extract_tb(error.__traceback__) if "/torch/" not in f.filename]
    inner = [f for f in frames if "kernelvault/replay" not in f.filename] or frames
    text = f"{type(error).__name__}: {str(error).strip().splitlines()[0] if str(error).strip() else ''}"
    if not inner:
        return text
    where = "" if inner[-1].filename == str(path) else f" of {Path(inner[-1].filename).name}"
    return f"{text} at `{inner[-1].line}` (line {inner[-1].lineno}{where})"
