"""Conversions of floating-point numbers to integers as the GPU's instructions make them, not as x86-64's do.

`v_cvt_i32_f32` and its like saturate and make 0 of NaN, where C leaves the result open: a negative number becomes 0 as
an `unsigned`. Narrower integers are cut from one of 32 bits, from half precision from one of 16: this is what clang's
AMDGPU back end makes of them. Results of 64 bits saturate here; the GPU composes them of two halves.
"""

from __future__ import annotations

import re

_FLOATS = {"half": "f16", "bfloat": "bf16", "float": "f32", "double": "f64"}
_ANY = "|".join(_FLOATS)
_CAST = re.compile(
    rf"^(  %\S+ = )fpto([su])i (<(\d+) x ({_ANY})>|{_ANY}) ([^\s,]+) to (?:<\d+ x )?i(8|16|32|64)\b>?(, !dbg !\d+)?",
    re.MULTILINE,
)


def saturate(module: str) -> str:
    """The module with its conversions to integers made calls of LLVM's saturating intrinsics, and truncations."""
    declared: dict[str, str] = {}
    number = 0

    def call(match: re.Match[str]) -> str:
        nonlocal number
        result, sign, source, lanes, element, operand, width, debug = match.groups()
        sign, bits = _instruction(sign, element or source, int(width))
        name = f"@llvm.fpto{sign}i.sat.{_suffix(lanes, f'i{bits}')}.{_suffix(lanes, _FLOATS[element or source])}"
        made = _type(lanes, f"i{bits}")
        declared[name] = f"declare {made} {name}({source})\n"
        cast = f"call {made} {name}({source} {operand}){debug or ''}"
        if bits == int(width):
            return result + cast
        number += 1
        whole = f"%kv.converted.{number}"
        return f"  {whole} = {cast}\n{result}trunc {made} {whole} to {_type(lanes, f'i{width}')}{debug or ''}"

    module = _CAST.sub(call, module)
    there = "\n".join(line for line in module.splitlines() if line.startswith("declare ")) if declared else ""
    return module + "".join(text for name, text in declared.items() if f" {name}(" not in there)


def _instruction(sign: str, source: str, width: int) -> tuple[str, int]:
    """Sign and width of what the GPU converts to."""
    if width > 16:
        return sign, width
    return (sign if width == 16 else "s"), 16 if source == "half" else 32


def _type(lanes: str | None, element: str) -> str:
    return f"<{lanes} x {element}>" if lanes else element


def _suffix(lanes: str | None, element: str) -> str:
    return f"v{lanes}{element}" if lanes else element
