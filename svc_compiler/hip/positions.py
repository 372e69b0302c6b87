"""Where lanes of a wave are, in the order of the source, however the optimiser lays out the code and copies it.

Clang writes a function's blocks in the order of its source. Before anything is optimised, what lanes may wait at is
numbered in that order, and the runtime is told:

| call | where | what it tells |
|---|---|---|
| `kvd_site(number)` | before a wave operation, a volatile access, a call of a straight line with such | the place |
| `kvd_enter(number)`, `kvd_leave()` | around any other call of a function in which lanes may wait | the call |
| `kvd_lap(number)` | before a branch backwards | a round is over of the loop whose last such branch has that number |

Waits in a straight-line function are told apart by counting them.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Set
from dataclasses import dataclass, field

# Operations in which some lanes of a wave may be without the others. A fence is one if it is sequentially consistent.
_PARTIAL = (
    r"@(?:__builtin_amdgcn_(?:ballot_|read|ds_|mov_dpp|update_dpp|permlane|wave_|[su]icmp)\w*"
    r"|__ockl_(?:wfany|wfall|activelane)\w*)\(|@__builtin_amdgcn_fence\(i32 (?:noundef )?5,"
)
# Matrix instructions want all lanes, which are at one place if nothing else can part them.
_WAIT = re.compile(rf"{_PARTIAL}|@__builtin_amdgcn_s?mfma\w*\(")
_VOLATILE = re.compile(r"\b(?:load|store) volatile ")
_DEFINITION = re.compile(r'^define [^@]*@("[^"]*"|[\w.$-]+)\(')
_CALLEE = re.compile(r'@("[^"]*"|[\w.$-]+)\(')
_INDIRECT = re.compile(r"\bcall [^@\n]*%[\w.$-]+\(")
_LABEL = re.compile(r'^("[^"]*"|[\w.$-]+):')
_TARGET = re.compile(r'label %("[^"]*"|[\w.$-]+)')
_DECLARATIONS = [
    "declare void @kvd_site(i32) nounwind willreturn\n",
    "declare void @kvd_enter(i32) nounwind willreturn\n",
    "declare void @kvd_leave() nounwind willreturn\n",
    "declare void @kvd_lap(i32) nounwind willreturn memory(inaccessiblemem: readwrite)\n",
]
# Stands for a function that nobody knows.
_ANY = ""


@dataclass
class _Function:
    """What a function's text says about waits in it."""

    waits: bool = False
    straight: bool = True
    callees: set[str] = field(default_factory=set)


def number(module: str) -> tuple[str, list[str]]:
    """The module, which tells the runtime where lanes wait if they do, and the declarations that it wants."""
    if not re.search(_PARTIAL, module) and not _VOLATILE.search(module):
        return module, []
    lines = module.splitlines(keepends=True)
    functions = _read(lines)
    waiting = _grown({_ANY, *(name for name, function in functions.items() if function.waits)}, functions)
    # Numbers within a function are wanted, unless it is a straight line that nobody calls by a pointer.
    by_pointer = any(_ANY in function.callees for function in functions.values())
    branches = {n for n in waiting if n and (by_pointer or not functions[n].straight or n in _reached(n, functions))}
    branching = _grown({_ANY, *branches}, functions)
    return "".join(_numbered(lines, waiting - branching, branching)), _DECLARATIONS


def _read(lines: list[str]) -> dict[str, _Function]:
    functions: dict[str, _Function] = {}
    current = _Function()
    for line in lines:
        if definition := _DEFINITION.match(line):
            current = functions.setdefault(definition[1], _Function())
        elif line.startswith(("  br ", "  switch ", "  indirectbr ")):
            current.straight = False
        elif (callee := _called(line)) is not None:
            current.callees.add(callee)
            current.waits |= callee != _ANY and _WAIT.search(line) is not None
        elif _VOLATILE.search(line):
            current.waits = True
    return functions


def _called(line: str) -> str | None:
    """The symbol that an instruction calls; `_ANY` for a pointer; None where it calls nothing of ours."""
    if " call " not in line or not line.startswith("  ") or " asm " in line:
        return None
    if match := _CALLEE.search(line):
        return None if match[1].startswith("llvm.") else match[1]
    return _ANY if _INDIRECT.search(line) else None


def _grown(names: Set[str], functions: Mapping[str, _Function]) -> set[str]:
    """With all that call them."""
    grown = set(names)
    while more := {name for name, function in functions.items() if name not in grown and function.callees & grown}:
        grown |= more
    return grown


def _reached(name: str, functions: Mapping[str, _Function]) -> set[str]:
    """What a function calls, near or far."""
    reached: set[str] = set()
    left = {name}
    while left:
        callees = {c for n in left if n in functions for c in functions[n].callees}
        left = callees - reached
        reached |= callees
    return reached


def _numbered(lines: list[str], straight: Set[str], branching: Set[str]) -> Iterator[str]:
    """Numbers are those of lines."""
    inside, ends = False, _ends(lines)
    for number, line in enumerate(lines):
        if definition := _DEFINITION.match(line):
            inside = definition[1] in branching
        callee = _called(line) if inside else None
        if inside and number in ends:
            yield f"  call void @kvd_lap(i32 {ends[number]})\n"
        elif callee in branching:
            yield f"  call void @kvd_enter(i32 {number})\n"
        elif (callee and (callee in straight or _WAIT.search(line))) or (inside and _VOLATILE.search(line)):
            yield f"  call void @kvd_site(i32 {number})\n"
        yield line
        if callee in branching:
            yield "  call void @kvd_leave()\n"


def _ends(lines: list[str]) -> dict[int, int]:
    """By the line of a branch backwards the last such line of its loop: `continue` is one, too."""
    ends: dict[int, int] = {}
    loops: dict[str, list[int]] = {}
    for number, line in enumerate(lines):
        if line.startswith("define "):
            loops = {}
        elif label := _LABEL.match(line):
            loops[label[1]] = []
        elif line.startswith("  br ") and (headers := [t for t in _TARGET.findall(line) if t in loops]):
            loops[headers[0]].append(number)
            ends.update(dict.fromkeys(loops[headers[0]], number))
    return ends
