"""Functions of scalars in C++, for float, double and the integers."""

from __future__ import annotations

from collections.abc import Sequence

from svc_generator.rules.graph import NotLowerable

_OPERATORS = {
    "add": "+", "sub": "-", "mul": "*", "div": "/", "eq": "==", "ne": "!=", "lt": "<", "le": "<=", "gt": ">",
    "ge": ">=", "logical_and": "&&", "logical_or": "||", "logical_xor": "!=", "bitwise_and": "&", "bitwise_or": "|",
}  # fmt: skip
_LIBRARY = {
    name: name
    for name in (
        *(
            "acos",
            "asin",
            "atan",
            "atan2",
            "ceil",
            "cos",
            "cosh",
            "erf",
            "erfc",
            "exp",
            "exp2",
            "expm1",
            "floor",
            "fmod",
        ),
        *("log", "log10", "log1p", "log2", "pow", "sin", "sinh", "sqrt", "tan", "tanh", "trunc"),
    )
} | {"abs": "fabs", "round": "rint"}
# {0} and {1} are names or literals, so that writing them twice computes nothing twice. NaN passes through as in torch.
_FORMULAS = {
    "neg": "-{0}",
    "where": "{0} ? {1} : {2}",
    "logical_not": "!{0}",
    "bitwise_not": "~{0}",
    "maximum": "({0} != {0} || {0} > {1}) ? {0} : {1}",
    "minimum": "({0} != {0} || {0} < {1}) ? {0} : {1}",
    "sign": "T({0} > T(0)) - T({0} < T(0))",
    "reciprocal": "T(1) / {0}",
    "rsqrt": "T(1) / sqrtF({0})",
    "sigmoid": "T(1) / (T(1) + expF(-{0}))",
    "remainder": "{0} - {1} * floorF({0} / {1})",
}
_INTEGER = {
    "abs": "{0} < 0 ? -{0} : {0}",
    "remainder": "(({0} % {1}) + {1}) % {1}",
    "fmod": "{0} % {1}",
    "floor_divide": "({0} / {1}) - (({0} % {1} != 0) && (({0} < 0) != ({1} < 0)))",
    "floor": "{0}",
    "ceil": "{0}",
    "round": "{0}",
    "trunc": "{0}",
    "maximum": "{0} > {1} ? {0} : {1}",
    "minimum": "{0} < {1} ? {0} : {1}",
}


def apply(name: str, dtype: str, operands: Sequence[str]) -> str:
    """The C++ of a function on operands of one dtype."""
    if name in _OPERATORS:
        return f"{operands[0]} {_OPERATORS[name]} {operands[1]}"
    if dtype not in ("float32", "float64") and name in _INTEGER:
        return _INTEGER[name].format(*operands)
    suffix = "f" if dtype == "float32" else ""
    if name in _FORMULAS:
        scalar = {"float32": "float", "float64": "double", "bool": "bool"}.get(dtype, f"{dtype}_t")
        text = _FORMULAS[name].replace("T(", f"{scalar}(").replace("F(", f"{suffix}(")
        return text.format(*operands)
    if name in _LIBRARY and dtype in ("float32", "float64"):
        return f"{_LIBRARY[name]}{suffix}({', '.join(operands)})"
    raise NotLowerable(name, f"the rules have no C++ for it on {dtype}")
