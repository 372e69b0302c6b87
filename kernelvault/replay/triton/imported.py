"""What a kernel may import: parts of Triton's language and Python's `math`, and nothing that leads out of them.

`tl.core` holds `builtins`, `inspect` and the compiler's own library among its names. So a name is walked on the real
modules, and each step must end at something made for kernels.
"""

from __future__ import annotations

import functools
import importlib
import importlib.util
import re
from types import BuiltinFunctionType, ModuleType

from kernelvault.replay.triton.malformed import Malformed, require

_LANGUAGE = "triton.language"
_STUBS = "triton.language.extra.libdevice"
MODULES = frozenset(
    {
        "math",
        "triton",
        "triton.language",
        "triton.language.core",
        "triton.language.extra",
        "triton.language.extra.cuda",
        "triton.language.extra.cuda.libdevice",
        "triton.language.extra.hip",
        "triton.language.extra.hip.libdevice",
        "triton.language.extra.libdevice",
        "triton.language.math",
        "triton.language.random",
        "triton.language.standard",
    }
)
# Of `triton` itself; the rest is for host code.
_OF_TRITON = frozenset({"language", "cdiv", "next_power_of_2"})
_CLASS_NAMES = "block_type condition const constexpr dtype pointer_type range slice static_range tensor tuple"
_CLASSES = frozenset(_CLASS_NAMES.split())
# They tell one target from another, or the compiler from the interpreter.
_TELLTALES = frozenset({"target_info"})
_NAME = re.compile(r"[A-Za-z][A-Za-z0-9_]*(\.[A-Za-z][A-Za-z0-9_]*){0,15}")


class Missing(Malformed):
    """A module has no such name."""


def check_name(name: str, field: str) -> None:
    """Raises Malformed unless `name` begins at a module of the list. Needs no Triton; `resolve` checks the rest."""
    plain = len(name) <= 256 and bool(_NAME.fullmatch(name))
    require(plain, field, f"{name[:80]!r} is not a dotted name")
    root = name.partition(".")[0]
    within = name in MODULES or name.startswith(("triton.language.", "math.", "triton."))
    telltale = any(part in _TELLTALES for part in name.split("."))
    second = name.split(".")[1:2]
    known = root == "math" or not second or second[0] in _OF_TRITON
    require(within and known and not telltale, field, f"{name!r} is not among what kernels may import")


def resolve(name: str, field: str) -> object:
    """The module, function, dtype or constant of a full name; `walk` goes on from there. Raises Malformed."""
    check_name(name, field)
    parts = name.split(".")
    module: object = importlib.import_module(parts[0])
    found, rest = walk(module, tuple(parts[1:]), field)
    require(not rest, field, f"{name!r} is a value's own attribute")
    return found


def walk(start: object, attributes: tuple[str, ...], field: str) -> tuple[object, tuple[str, ...]]:
    """Follows attributes from a module on, up to the first that is no module, and returns that and what is left.

    Raises Malformed where a step ends at something that is not for kernels, Missing where it ends at nothing.
    """
    found = start
    for i, attribute in enumerate(attributes):
        if not isinstance(found, ModuleType):
            return found, attributes[i:]
        found = _step(found, attribute, field)
    return found, ()


# Kept, as a process may replace Triton's functions by its own after the first look: an interpreter does.
@functools.cache
def _judged(module: str, attribute: str) -> bool:
    found = getattr(importlib.import_module(module), attribute)
    if isinstance(found, ModuleType):
        return found.__name__ in MODULES
    if module == "math":
        return isinstance(found, BuiltinFunctionType | float)
    if module == "triton":
        return attribute in _OF_TRITON
    if attribute == "PropagateNan":
        return True
    return _is_language(found)


def judge_all() -> None:
    """Judges everything that the modules hold now; for a process that is about to replace some of it."""
    for module in sorted(MODULES):
        for attribute in dir(importlib.import_module(module)):
            _judged(module, attribute)


def is_constexpr(found: object) -> bool:
    """Whether something is `tl.constexpr` itself."""
    return isinstance(found, type) and (found.__module__, found.__name__) == (f"{_LANGUAGE}.core", "constexpr")


def _step(module: ModuleType, attribute: str, field: str) -> object:
    name = f"{module.__name__}.{attribute}"
    if attribute.startswith("_") or attribute in _TELLTALES or module.__name__ not in MODULES:
        raise Malformed(field, f"{name!r} is not for kernels")
    if name in MODULES:
        return importlib.import_module(name)
    if not hasattr(module, attribute):
        _refuse_elsewhere(module, attribute, field)
        raise Missing(field, f"module '{module.__name__}' has no attribute '{attribute}'")
    require(_judged(module.__name__, attribute), field, f"{name!r} is not for kernels")
    return getattr(module, attribute)


def _refuse_elsewhere(module: ModuleType, attribute: str, field: str) -> None:
    """Raises Malformed for what is no attribute here, but one where it counts.

    A submodule becomes one once somebody imports it, and the compiler puts a target's module in the place of a stub.
    """
    name = f"{module.__name__}.{attribute}"
    if module.__name__ == _STUBS:
        raise Malformed(field, f"{name!r} is not for kernels")
    if hasattr(module, "__path__") and importlib.util.find_spec(name) is not None:
        raise Malformed(field, f"{name!r} is not for kernels")


def _is_language(found: object) -> bool:
    """Whether something in a module of `triton.language` is made for kernels."""
    import triton.language as tl
    from triton.runtime.jit import ConstexprFunction, JITCallable

    if isinstance(found, tl.dtype | tl.constexpr | int | float):
        return True
    if isinstance(found, type):
        return found.__module__ == f"{_LANGUAGE}.core" and found.__name__ in _CLASSES
    if getattr(found, "__triton_builtin__", False):
        return True
    inner = getattr(found, "fn", found)
    home = str(getattr(inner, "__module__", ""))
    if isinstance(found, JITCallable | ConstexprFunction) or type(found).__name__ == "InterpretedFunction":
        return home.startswith(_LANGUAGE)
    # The stubs of libdevice, which a target's own module stands in for.
    return home == _STUBS
