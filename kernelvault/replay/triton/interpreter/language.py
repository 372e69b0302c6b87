"""Triton's language as interpreted kernels see it: stand-ins for its modules, whose functions know the semantic.

The real modules stay as they are, so that a process can compile and interpret.
"""

from __future__ import annotations

import builtins
import importlib
import math
from collections.abc import Callable
from types import FunctionType, ModuleType
from typing import Any

import triton.language as tl

from kernelvault.replay.triton.interpreter import quick, reductions
from kernelvault.replay.triton.interpreter.builder import Builder
from kernelvault.replay.triton.interpreter.control import Control, get_attribute, plain, static_assert, static_range
from kernelvault.replay.triton.interpreter.formats import SCALARS
from kernelvault.replay.triton.interpreter.functions import Function
from kernelvault.replay.triton.interpreter.semantic import Semantic
from kernelvault.replay.triton.interpreter.tensors import Tensor, of_array

_LIBDEVICES = ("triton.language.extra.hip.libdevice", "triton.language.extra.cuda.libdevice")
_GENERIC_LIBDEVICE = "triton.language.extra.libdevice"
# What Python's functions are to a kernel; Triton's library uses more of them.
_SAFE: tuple[str, ...] = (
    "abs",
    "all",
    "any",
    "bool",
    "enumerate",
    "float",
    "int",
    "isinstance",
    "len",
    "list",
    "slice",
    "str",
)
_SAFE += ("tuple", "zip")


# Modules in which functions are replaced.
_REPLACED = ("triton.language", "triton.language.core", "triton.language.math")


class _Constant(type):
    """`tl.constexpr`: a constant stands for itself."""

    def __call__(cls, value: Any) -> Any:
        return plain(value)

    def __instancecheck__(cls, value: object) -> bool:
        return isinstance(value, tl.constexpr | int | float | str | type(None))


class Constant(metaclass=_Constant):
    """See _Constant."""


class Module:
    """Stands for a module; what is asked for is translated once."""

    def __init__(self, module: ModuleType, language: Language) -> None:
        self._module = module
        self._language = language

    def __getattr__(self, name: str) -> Any:
        value = self._language.attribute(self._module, name)
        setattr(self, name, value)
        return value


class Language:
    """One semantic and builder with all that kernels may ask of them."""

    def __init__(self) -> None:
        self.builder = Builder()
        self.semantic = Semantic(self.builder)
        self.control = Control(self.semantic, self.builder)
        self._modules: dict[str, Module] = {}
        self._functions: dict[FunctionType, Function] = {}
        self._replacements = self._make_replacements()
        self._helpers = self.control.helpers()
        self._builtins = {name: getattr(builtins, name) for name in _SAFE} | {
            "range": self.control.range,
            "min": self._wrapped(tl.core.builtin_min),
            "max": self._wrapped(tl.core.builtin_max),
            "print": lambda *_, **__: None,
            "getattr": get_attribute,
            "hasattr": lambda value, name: not name.startswith("_") and hasattr(value, name),
        }

    def activate(self) -> None:
        """Makes this the language whose semantic and functions tensors have."""
        if Tensor.__dict__.get("semantic") is not self.semantic:
            Tensor.semantic = self.semantic
            self._give_methods()

    def function(self, python: FunctionType) -> Function:
        """A function of the device, the same for the same Python function."""
        known = self._functions.get(python)
        if known is None:
            library = python.__module__.startswith("triton.language")
            names = {**vars(builtins), "range": self.control.range} if library else self._builtins
            known = self._functions[python] = Function(python, self._helpers, self.translate, names)
        return known

    def prepare(self) -> None:
        """Makes the functions of Triton's library ready, which takes a while."""
        self.activate()
        for module in (tl.standard, tl.random):
            for value in list(vars(module).values()):
                made = self.translate(value)
                if isinstance(made, Function):
                    made.prepare()

    def module(self, module: ModuleType) -> Module:
        """What stands for a module."""
        return self._modules.setdefault(module.__name__, Module(module, self))

    def attribute(self, module: ModuleType, name: str) -> Any:
        """What a kernel finds in a module."""
        if name in self._replacements and module.__name__ in _REPLACED:
            return self._replacements[name]
        if module.__name__ == _GENERIC_LIBDEVICE:
            for target in _LIBDEVICES:
                found = getattr(importlib.import_module(target), name, None)
                if found is not None:
                    return self.translate(found)
        return self.translate(getattr(module, name))

    def translate(self, value: Any) -> Any:
        """What stands for a value that a kernel names: modules, builtins, other functions, constants."""
        if isinstance(value, ModuleType):
            return value if value is math else self.module(value)
        if isinstance(value, tl.constexpr):
            return self.translate(value.value)
        if type(value) is tl.dtype:
            return SCALARS.get(value.name, value)
        if type(value) is tuple:
            return tuple(map(self.translate, value))
        if isinstance(value, Function):
            return value
        inner = getattr(value, "fn", None)
        kind = type(value).__name__
        if isinstance(inner, FunctionType) and kind in ("JITFunction", "InterpretedFunction"):
            return self.function(inner)
        if value is tl.constexpr:
            return Constant
        name = getattr(value, "__name__", "")
        if tl.core.is_builtin(value) and not isinstance(value, type):
            if name in self._replacements and getattr(tl, name, getattr(tl.core, name, None)) is value:
                return self._replacements[name]
            return self._wrapped(value)
        if value is tl.range or value is tl.static_range or value is tl.condition:
            return self._replacements[name]
        if getattr(value, "__module__", "") == _GENERIC_LIBDEVICE:
            return self.attribute(importlib.import_module(_GENERIC_LIBDEVICE), name)
        return value

    def _wrapped(self, builtin: Callable[..., Any]) -> Callable[..., Any]:
        semantic = self.semantic

        def call(*arguments: Any, **options: Any) -> Any:
            options["_semantic"] = semantic
            result = builtin(*arguments, **options)
            return Tensor(result.handle, result.type) if result.__class__ is tl.tensor else result

        call.__name__ = getattr(builtin, "__name__", "builtin")
        return call

    def _make_replacements(self) -> dict[str, Any]:
        return quick.functions(self.builder, lambda name: self._wrapped(getattr(tl, name))) | {
            "constexpr": Constant,
            "range": self.control.range,
            "static_range": static_range,
            "condition": lambda value, **_: value,
            "static_assert": static_assert,
            "static_print": lambda *_, **__: None,
            "device_print": lambda *_, **__: None,
            "device_assert": self.control.check,
            "multiple_of": lambda value, _: value,
            "max_contiguous": lambda value, _: value,
            "max_constancy": lambda value, _: value,
            "reduce": self._reduce,
            "associative_scan": lambda value, axis, combine, reverse=False: self._counted(
                reductions.scan, value, plain(axis), self.translate(combine), bool(plain(reverse))
            ),
            "_reduce_with_indices": self._reduce_with_indices,
            "map_elementwise": self._map_elementwise,
        }

    def _give_methods(self) -> None:
        """Functions that tensors have as methods too, `x.sum()`."""
        for name, value in vars(tl.tensor).items():
            if not name.startswith("_") and callable(value) and hasattr(tl, name):
                setattr(Tensor, name, _method(self, name))

    def _reduce(self, value: Any, axis: Any, combine: Any, keep_dims: Any = False) -> Any:
        return self._counted(reductions.reduce, value, plain(axis), self.translate(combine), bool(plain(keep_dims)))

    def _counted(self, function: Callable[..., Any], value: Any, *arguments: Any) -> Any:
        first = value if isinstance(value, Tensor) else value[0]
        self.builder.worked(first.handle.data, floating=first.type.scalar.is_floating())
        return function(value, *arguments)

    def _reduce_with_indices(self, value: Tensor, axis: Any, combine: Any, keep_dims: Any = False) -> Any:
        import numpy as np

        shape, along = value.handle.data.shape, int(plain(axis)) % value.handle.data.ndim
        place = np.arange(shape[along], dtype=np.int32).reshape([-1 if i == along else 1 for i in range(len(shape))])
        places = of_array(np.broadcast_to(place, shape), tl.int32)
        return self._reduce((value, places), axis, combine, keep_dims)

    def _map_elementwise(self, function: Any, *operands: Any, pack: Any = 1) -> Any:
        if plain(pack) != 1:
            raise NotImplementedError("`map_elementwise` with packs")
        return reductions.elementwise(self.translate(function), self._spread(operands))

    def _spread(self, operands: tuple[Any, ...]) -> list[Tensor]:
        tensors = [self.semantic.to_tensor(operand) for operand in operands]
        for other in tensors[1:]:
            tensors[0], _ = self.semantic.broadcast_impl_value(tensors[0], other)
        return [self.semantic.broadcast_impl_value(tensor, tensors[0])[0] for tensor in tensors]


def _install_types() -> None:
    """Lets types stand for themselves where the builder is the interpreter's; a compiler's sees no difference."""
    for class_ in (tl.dtype, tl.block_type, tl.pointer_type):
        original = class_.to_ir

        def to_ir(self: tl.dtype, builder: Any, original: Callable[..., Any] = original) -> Any:
            if isinstance(builder, Builder):
                return SCALARS.get(self.name, self) if type(self) is tl.dtype else self
            return original(self, builder)

        class_.to_ir = to_ir


def _method(language: Language, name: str) -> Callable[..., Any]:
    def call(self: Tensor, *arguments: Any, **options: Any) -> Any:
        options.pop("_semantic", None)
        return language.attribute(tl, name)(self, *arguments, **options)

    call.__name__ = name
    return call


_install_types()
