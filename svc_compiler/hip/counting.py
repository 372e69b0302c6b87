"""Counts what a kernel computes: how often its blocks run, and what each of them does once.

A basic block of the source's code, before anything is optimised, adds one to a counter of its own where it begins. A
table says what is in each. So the count is of the operations that the author wrote, in the types in which they are
made; what the optimiser leaves out of them is counted, what the GPU's compiler adds to them is not.

| in the image | is |
|---|---|
| `@kernel_blocks` | how often each block ran, of all threads |
| `@kernel_work` | what is in each block: `_FIELDS`, 32 bits each |
| `@kernel_block_count` | how many there are |
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import astuple, dataclass

# Operations of a lane. A fused one counts two; `special` are divisions, roots, exponentials and their like; `packed`
# are, of `half` and `single`, those that the source makes on vectors; `integers` compute, shift and compare.
_FIELDS = ("instructions", "half", "single", "double", "special", "packed", "integers")
_WIDTHS = {"half": "half", "bfloat": "half", "float": "single", "double": "double"}
_SUFFIXES = {"f16": "half", "bf16": "half", "f32": "single", "f64": "double"}

# The section of LLVM's own profiling counters, whose accesses -fsanitize=thread leaves alone.
_UNSEEN = "__llvm_prf_cnts"
_DEFINITION = re.compile(r"^define ")
_LABEL = re.compile(r'^(?:"[^"]*"|[\w.$-]+):')
_TYPE = r"(?:<(\d+) x (half|bfloat|float|double)>|(half|bfloat|float|double))\b"
_ARITHMETIC = re.compile(rf"^  %\S+ = f(add|sub|mul|div|rem) (?:[a-z]+ )*?{_TYPE}")
_INTEGERS = re.compile(
    r"^  %\S+ = (?:add|sub|mul|[us]div|[us]rem|and|or|xor|shl|[la]shr|icmp) (?:[a-z]+ )*?"
    r"(?:<(\d+) x (?:i\d+|ptr)>|i\d+\b|ptr\b)"
)
_CALL = re.compile(r" call (?:[^@\n]*?)@([\w.$-]+)\(")
_INTRINSIC = re.compile(r"llvm\.(?:experimental\.constrained\.)?(\w+)\.(?:v(\d+))?(f16|bf16|f32|f64)\b")
_OCML = re.compile(r"__ocml_(\w+?)_(2?)(f16|f32|f64)")
# Of the C library, which computes what HIP's headers leave to it.
_LIBRARY = re.compile(
    r"(fma|a?(?:cos|sin|tan)h?|atan2|cbrt|erfc?|exp(?:10|2|m1)?|fmod|hypot|log(?:10|1p|2)?|pow|sincos|sqrt|[tl]gamma"
    r"|remainder|remquo|[jy][01])(f?)"
)
_NATIVE = re.compile(
    r"__builtin_amdgcn_(?:rcp|rsq|sqrt|exp2|exp|log|logclamp|sin|cos|div_fixup|div_fmas|rsq_clamp)(?:f|h)?"
)
_FUSED = frozenset(("fma", "fmuladd", "mad"))
# Signs, roundings, comparisons, classes and bits: single instructions of the vector units that compute nothing.
_PLAIN = frozenset(
    (
        *("fabs", "copysign", "minnum", "maxnum", "minimum", "maximum", "minimumnum", "maximumnum", "fmin", "fmax"),
        *(
            "floor",
            "ceil",
            "trunc",
            "rint",
            "nearbyint",
            "round",
            "roundeven",
            "canonicalize",
            "fract",
            "frexp",
            "ldexp",
        ),
        *("is", "isnan", "isinf", "isfinite", "signbit", "nan"),
    )
)


@dataclass
class _Work:
    """What a block does once."""

    instructions: int = 0
    half: int = 0
    single: int = 0
    double: int = 0
    special: int = 0
    packed: int = 0
    integers: int = 0

    def add(self, kind: str, operations: int, lanes: int) -> None:
        setattr(self, kind, getattr(self, kind) + operations)
        if lanes > 1 and kind in ("half", "single"):
            self.packed += operations


def count(module: str) -> tuple[str, list[str]]:
    """The module, whose blocks count how often they run, and the tables of what is in them."""
    lines = module.splitlines(keepends=True)
    works: list[_Work] = []
    text = "".join(_counted(lines, works))
    rows = ", ".join(f"[{len(_FIELDS)} x i32] [{', '.join(f'i32 {n}' for n in astuple(work))}]" for work in works)
    size = max(1, len(works))
    return text, [
        f'@kernel_blocks = hidden global [{size} x i64] zeroinitializer, section "{_UNSEEN}"\n',
        f"@kernel_work = hidden constant [{size} x [{len(_FIELDS)} x i32]] "
        + (f"[{rows}]\n" if works else "zeroinitializer\n"),
        f"@kernel_block_count = hidden constant i32 {len(works)}\n",
    ]


def _counted(lines: list[str], works: list[_Work]) -> Iterator[str]:
    """The lines with a counter in each block, before its first instruction."""
    inside = waiting = False
    for line in lines:
        if _DEFINITION.match(line):
            inside = waiting = True
        elif line.startswith("}"):
            inside = False
        elif inside and _LABEL.match(line):
            waiting = True
        elif inside and line.startswith("  ") and not _is_head(line):
            if waiting:
                yield _counter(len(works))
                works.append(_Work())
                waiting = False
            _tally(line, works[-1])
        yield line


def _is_head(line: str) -> bool:
    """What must stand first in a block, or is no instruction: merged values, debug records, the rest of a long one."""
    return " = phi " in line or line.startswith(("    #dbg_", "    ", "  ]"))


def _counter(number: int) -> str:
    """Adds one to a block's counter."""
    place = f"getelementptr (i8, ptr @kernel_blocks, i64 {8 * number})"
    return (
        f"  %kv.ran.{number} = load i64, ptr {place}\n"
        f"  %kv.more.{number} = add i64 %kv.ran.{number}, 1\n"
        f"  store i64 %kv.more.{number}, ptr {place}\n"
    )


def _tally(line: str, work: _Work) -> None:
    work.instructions += " = alloca " not in line
    if match := _ARITHMETIC.match(line):
        operation, lanes, element, scalar = match.groups()
        kind = "special" if operation in ("div", "rem") else _WIDTHS[element or scalar]
        work.add(kind, int(lanes or 1), int(lanes or 1))
    elif match := _INTEGERS.match(line):
        work.integers += int(match[1] or 1)
    elif match := _CALL.search(line):
        kind, operations, elements = _of_call(match[1])
        if operations:
            work.add(kind, operations, elements)


def _of_call(name: str) -> tuple[str, int, int]:
    """What a call counts as, how many operations it is, and on how many elements."""
    if match := _INTRINSIC.fullmatch(name):
        function, lanes, suffix = match[1], int(match[2] or 1), match[3]
    elif match := _OCML.fullmatch(name):
        function, lanes, suffix = match[1], 2 if match[2] else 1, match[3]
    elif match := _LIBRARY.fullmatch(name):
        function, lanes, suffix = match[1], 1, "f32" if match[2] else "f64"
    else:
        return ("special", 1, 1) if _NATIVE.fullmatch(name) else ("", 0, 0)
    if function in _FUSED:
        return _SUFFIXES[suffix], 2 * lanes, lanes
    return ("", 0, 0) if function in _PLAIN else ("special", lanes, lanes)
