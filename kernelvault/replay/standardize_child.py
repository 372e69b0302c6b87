"""Makes and checks functional forms; inside the sandboxed child."""

from __future__ import annotations

import ast
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch

from kernelvault.replay import cases, reference_draw, reference_module, reference_run, tolerance
from kernelvault.replay import reference_faults as faults
from kernelvault.replay import reference_tensors as tensors
from kernelvault.replay.reference_module import Module
from kernelvault.replay.standardize_emit import Emitter
from kernelvault.replay.standardize_rewrite import rewrite
from kernelvault.replay.standardize_trace import trace
from kernelvault.v1 import kernel_pb2

_NAME = "functional.py"
_MAX_TRACES = 32


def run(request: dict[str, Any], folder: Path) -> None:
    """Writes the checked functional form to `functional.py`; raises a fault."""
    source = request["source"]
    wanted = [kernel_pb2.Case.FromString(bytes.fromhex(text)) for text in request["cases"]]
    functional = request.get("functional") or make(source, wanted, folder)
    for case in wanted:
        if case.kind != kernel_pb2.Case.PERFORMANCE:
            _Check(request, functional, case, folder).run()
    (folder / _NAME).write_text(functional, encoding="utf-8")


def make(source: str, wanted: list[kernel_pb2.Case], folder: Path) -> str:
    """The functional form of a module, unchecked; raises NotTraceable."""
    traces = []
    for case in wanted[:_MAX_TRACES]:
        module = Module(source, folder, dict(case.shrunk))
        traces.append(trace(module, reference_module.decode_arguments(case.arguments_json), case.id))
    emitter = Emitter(traces)
    return rewrite(source, emitter.function(), traces[0].call)


class _Check:
    """The check of one case: equal results, by default and injected, and a function that is really called."""

    def __init__(self, request: dict[str, Any], functional: str, case: kernel_pb2.Case, folder: Path) -> None:
        arguments = reference_module.decode_arguments(case.arguments_json)
        replaced, seed = dict(case.shrunk), cases.seed(bytes.fromhex(request["key"]), case.id)
        absolute, relative = request["stated"]
        self._case = case
        self._stated = kernel_pb2.Tolerance(absolute=absolute, relative=relative)
        self._original = reference_draw.prepare(Module(request["source"], folder, replaced), arguments, case, seed)
        self._module = _functional_module(functional, folder, replaced)
        self._form = reference_draw.construct(self._module, arguments, seed)
        self._copy_state()

    def run(self) -> None:
        """Raises NotEquivalent with the difference."""
        expected = reference_run.run(self._original)
        self._exact = reference_run.run_exact(self._original, expected)
        self._expect_equal(self._call(), expected, "the default call")
        module_fn = self._module.attribute("module_fn")
        calls = []

        def counting(*args: Any, **kwargs: Any) -> Any:
            calls.append(1)
            return module_fn(*args, **kwargs)

        self._expect_equal(self._call(fn=counting), expected, "a call with an injected fn")
        if not calls:
            raise faults.NotEquivalent(f"{self._where()}Model.forward does not call the fn that it is given")
        changed = self._call(fn=lambda *args, **kwargs: _altered(module_fn(*args, **kwargs)))
        for (name, one), (_, other) in zip(expected.outputs, changed, strict=True):
            if one.numel() and tensors.same_bits(one, other):
                raise faults.NotEquivalent(
                    f"{self._where()}{name} does not change when fn returns something else; return what fn returns"
                )

    def _call(self, **fn: Callable[..., Any]) -> list[tensors.Named]:
        def action() -> Any:
            with torch.no_grad():
                original = self._original
                return reference_draw.invoke(self._form.model, original.arguments, original.keywords, **fn)

        try:
            flat, _ = tensors.flatten(self._module.guard("the functional Model.forward", action))
        except faults.Unfit as error:
            raise faults.NotEquivalent(f"{self._where()}{error}") from error
        return flat

    def _expect_equal(self, actual: list[tensors.Named], expected: reference_run.Result, what: str) -> None:
        if len(actual) != len(expected.outputs):
            raise faults.NotEquivalent(
                f"{self._where()}{what} gives {len(actual)} outputs, the module {len(expected.outputs)}"
            )
        for (name, ours), (_, theirs), (_, exact) in zip(actual, expected.outputs, self._exact.outputs, strict=True):
            if ours.shape != theirs.shape or ours.dtype != theirs.dtype:
                raise faults.NotEquivalent(
                    f"{self._where()}{what} gives {name} as {list(ours.shape)} {ours.dtype}, "
                    f"the module {list(theirs.shape)} {theirs.dtype}"
                )
            self._expect_close(ours, theirs, exact, f"{self._where()}{what} gives other values of {name}")

    def _expect_close(self, ours: torch.Tensor, theirs: torch.Tensor, exact: torch.Tensor, message: str) -> None:
        dtype = tensors.dtype_name(theirs.dtype)
        precise, working = tensors.to_numpy(exact), tensors.to_numpy(theirs)
        bound = tolerance.derive(dtype, precise, working, accumulation=self._exact.accumulation, stated=self._stated)
        right = tolerance.accepted(tensors.to_numpy(ours.contiguous()), precise, working, bound, dtype)
        if not right.all():
            raise faults.NotEquivalent(f"{message}: {int((~right).sum())} of {right.size} elements differ")

    def _copy_state(self) -> None:
        try:
            self._form.model.load_state_dict(self._original.model.state_dict())
        except RuntimeError as error:
            raise faults.NotEquivalent(f"{self._where()}its parameters are others: {str(error)[:300]}") from error

    def _where(self) -> str:
        return f"case {self._case.id}: "


def _functional_module(functional: str, folder: Path, replaced: dict[str, int]) -> Module:
    module = Module(functional, folder, replaced)
    if not callable(module.attribute("module_fn")):
        raise faults.NotEquivalent("the functional form defines no function module_fn")
    names = {node.name for node in ast.parse(functional).body if isinstance(node, ast.FunctionDef)}
    if "module_fn" not in names:
        raise faults.NotEquivalent("module_fn is no function of the module itself; write it with def")
    return module


def _altered(value: Any) -> Any:
    """The same structure with other values."""
    if isinstance(value, torch.Tensor):
        if value.dtype == torch.bool:
            return ~value
        if not value.is_floating_point():
            return value + 1
        return torch.where(value == 0, torch.ones_like(value), -value)
    if isinstance(value, dict):
        return type(value)({key: _altered(item) for key, item in value.items()})
    if isinstance(value, tuple | list):
        return type(value)(_altered(item) for item in value)
    return value
