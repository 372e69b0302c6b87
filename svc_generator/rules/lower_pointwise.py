"""Elementwise operators of ATen as scalar expressions, with the formulas of PyTorch's documentation."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from svc_generator.rules import expr
from svc_generator.rules.expr import Expr, call, compare, number, where
from svc_generator.rules.graph import FLOATS

Rule = Callable[[dict[str, Any], str], Expr]
"""From the operator's arguments by name (tensors as expressions) and the dtype of its result."""


def _unary(name: str) -> Rule:
    def rule(args: dict[str, Any], dtype: str) -> Expr:
        return call(name, args["self"], dtype=expr.working(dtype))

    return rule


def _arithmetic(name: str) -> Rule:
    def rule(args: dict[str, Any], dtype: str) -> Expr:
        other = operand(args["other"], dtype)
        if args.get("alpha", 1) != 1:
            other = call("mul", other, number(args["alpha"], dtype), dtype=expr.working(dtype))
        return call(name, operand(args["self"], dtype), other, dtype=expr.working(dtype))

    return rule


def operand(value: Any, dtype: str) -> Expr:
    """A tensor's element, or a number in the result's dtype."""
    return value if isinstance(value, Expr) else number(value, dtype)


def _comparison(name: str) -> Rule:
    def rule(args: dict[str, Any], _dtype: str) -> Expr:
        left: Expr = args["self"]
        other = args["other"]
        if not isinstance(other, Expr):
            wide = isinstance(other, float) and left.dtype not in FLOATS
            other = number(other, "float32" if wide else left.dtype)
        return compare(name, left, other)

    return rule


def _logical(name: str) -> Rule:
    def rule(args: dict[str, Any], _dtype: str) -> Expr:
        operands = [args[key] for key in ("self", "other") if key in args]
        return call(name, *operands, dtype="bool")

    return rule


def _bitwise(name: str, logical: str) -> Rule:
    def rule(args: dict[str, Any], dtype: str) -> Expr:
        operands = [operand(args[key], dtype) for key in ("self", "other") if key in args]
        return call(logical if dtype == "bool" else name, *operands, dtype=dtype)

    return rule


def _pow(args: dict[str, Any], dtype: str) -> Expr:
    base, exponent = args["self"], args["exponent"]
    work = expr.working(dtype)
    if not isinstance(exponent, Expr) and isinstance(base, Expr):
        if exponent == 2:
            return call("mul", base, base, dtype=work)
        if exponent == 3:
            return call("mul", call("mul", base, base, dtype=work), base, dtype=work)
        if exponent in (0.5, -0.5, -1):
            return call({0.5: "sqrt", -0.5: "rsqrt", -1: "reciprocal"}[float(exponent)], base, dtype=work)
    return call("pow", operand(base, dtype), operand(exponent, dtype), dtype=work)


def _clamp(args: dict[str, Any], dtype: str) -> Expr:
    value: Expr = args["self"]
    for key, name in (("min", "maximum"), ("max", "minimum")):
        if args.get(key) is not None:
            value = call(name, value, operand(args[key], dtype), dtype=expr.working(dtype))
    return value


def _relu(args: dict[str, Any], dtype: str) -> Expr:
    return call("maximum", args["self"], number(0, dtype), dtype=expr.working(dtype))


def _where(args: dict[str, Any], dtype: str) -> Expr:
    return where(args["condition"], operand(args["self"], dtype), operand(args["other"], dtype), dtype)


def _div(args: dict[str, Any], dtype: str) -> Expr:
    mode = args.get("rounding_mode")
    work = expr.working(dtype)
    if work not in FLOATS:
        name = "floor_divide" if mode == "floor" else "div"
        return call(name, operand(args["self"], dtype), operand(args["other"], dtype), dtype=work)
    result = call("div", operand(args["self"], dtype), operand(args["other"], dtype), dtype=work)
    return result if mode is None else call({"floor": "floor", "trunc": "trunc"}[mode], result, dtype=work)


RULES: dict[str, Rule] = {
    **{
        name: _unary(name)
        for name in (
            *(
                "abs",
                "acos",
                "asin",
                "atan",
                "ceil",
                "cos",
                "cosh",
                "erf",
                "erfc",
                "exp",
                "exp2",
                "expm1",
                "floor",
                "log",
            ),
            *(
                "log10",
                "log1p",
                "log2",
                "neg",
                "reciprocal",
                "round",
                "rsqrt",
                "sigmoid",
                "sign",
                "sin",
                "sinh",
                "sqrt",
            ),
            *("tan", "tanh", "trunc"),
        )
    },
    **{name: _arithmetic(name) for name in ("add", "sub", "mul", "maximum", "minimum", "atan2", "fmod", "remainder")},
    **{name: _comparison(name) for name in ("eq", "ne", "lt", "le", "gt", "ge")},
    **{name: _logical(name) for name in ("logical_and", "logical_or", "logical_xor", "logical_not")},
    "isnan": lambda args, _dtype: compare("ne", args["self"], args["self"]),
    "bitwise_and": _bitwise("bitwise_and", "logical_and"),
    "bitwise_or": _bitwise("bitwise_or", "logical_or"),
    "bitwise_not": _bitwise("bitwise_not", "logical_not"),
    "clamp": _clamp,
    "clamp_min": _clamp,
    "clamp_max": _clamp,
    "div": _div,
    "fill": lambda args, dtype: operand(args["value"], dtype),
    "pow": _pow,
    "relu": _relu,
    "where": _where,
}
