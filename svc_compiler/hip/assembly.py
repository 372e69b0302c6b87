"""Inline assembly of device code, which is never assembled for x86-64.

What only waits, hints or looks after caches has no effect on the CPU model: an output that is tied to an input is that
input, whatever the register was to be. `s_barrier` becomes a call of the runtime. All else needs a device.
"""

from __future__ import annotations

import itertools
import re

from svc_compiler.hip import ir
from svc_compiler.hip.unpack import Unsupported

_BARRIER = "__builtin_amdgcn_s_barrier"
_STATEMENT = re.compile(
    r'^(?P<given>  (?P<name>%\S+) = )?(?P<call>[^\n"]*\b(?:call|callbr|invoke)\b[^\n"]*\basm (?:\w+ )*)'
    r'"(?P<template>[^"]*)"(?P<rest>[^\n]*)$',
    re.MULTILINE,
)
_OPERANDS = re.compile(r', "(?P<constraints>[^"]*)"(?P<operands>\(.*)$')
_TYPE = re.compile(
    r"\bcall (?:(?:tail|fast|nnan|ninf|nsz|arcp|contract|afn|reassoc|noundef) )*(?P<type>.*) asm (?:\w+ )*$"
)
# One operation follows another, and no instruction fails: nobody sees these on the CPU model.
_IDLE = re.compile(
    r"(?:s_waitcnt(?:_\w+)?|s_nop|v_nop|s_sleep|s_wakeup|s_setprio|s_sethalt|s_(?:in|de)cperflevel|s_inst_prefetch"
    r"|s_set_inst_prefetch_distance|s_icache_inv|s_dcache_(?:inv|wb)(?:_vol)?|buffer_inv|buffer_wbl2"
    r"|buffer_wbinvl1(?:_vol)?)\b.*|"
)


def check(module: str) -> None:
    """Raises Unsupported, with the instruction's name, for assembly that computes."""
    for match in _STATEMENT.finditer(module):
        gives = match["given"] is not None or "callbr" in match["call"]
        for instruction in _instructions(match["template"]):
            if not _IDLE.fullmatch(instruction) and (instruction != "s_barrier" or gives):
                name = instruction.split()[0]
                raise Unsupported(f"it has `{name}` as inline assembly ({instruction!r:.60}), which only a GPU runs")


def replace(module: str) -> str:
    """The module without assembly that has no effect; barriers become the runtime's."""
    numbers = itertools.count()
    module = _STATEMENT.sub(lambda match: _replaced(match, next(numbers)), module)
    if f"@{_BARRIER}()" in module and not re.search(rf"^declare [^\n]*@{_BARRIER}\(", module, re.MULTILINE):
        module += f"\ndeclare void @{_BARRIER}()\n"
    return module


def _instructions(template: str) -> list[str]:
    text = template.replace("\\09", " ").replace("\\0A", "\n").replace("\\0D", "\n")
    text = re.sub(r"/\*.*?\*/", " ", text, flags=re.DOTALL)
    return [re.split(r";|//", line)[0].strip() for line in text.splitlines()]


def _replaced(match: re.Match[str], number: int) -> str:
    barriers = _instructions(match["template"]).count("s_barrier")
    debug = re.search(r", !dbg ![0-9]+", match["rest"])
    place = debug[0] if debug else ""
    if barriers:
        return "\n".join([f"  call void @{_BARRIER}(){place}"] * barriers)
    found = _OPERANDS.match(match["rest"])
    if found is None or "*" in found["constraints"]:  # operands in memory: x86-64 has memory, too
        return f'{match["given"] or ""}{match["call"]}""{match["rest"]}'
    clobbers = '"~{memory}"' if "~{memory}" in found["constraints"] else '""'
    lines = [f'  call void asm sideeffect "", {clobbers}(){place}']
    if match["name"]:
        lines += _outputs(match["name"], _type(match["call"]), found, f"%kv.asm.{number}", place)
    return "\n".join(lines)


def _type(call: str) -> str:
    found = _TYPE.search(call)
    if found is None:
        raise Unsupported("it has inline assembly that the CPU model cannot read")
    return found["type"]


def _outputs(name: str, type_: str, found: re.Match[str], stem: str, place: str) -> list[str]:
    """The values of the outputs: those of the inputs that are tied to them; of others, anything."""
    constraints = [c for c in ir.split(found["constraints"]) if not c.startswith("~")]
    count = sum(c.startswith("=") for c in constraints)
    operands = [_value(operand) for operand in ir.split(ir.balanced(found["operands"], 0))]
    tied = dict(zip(constraints[count:], operands, strict=False))
    values = [tied.get(str(i), "poison") for i in range(count)]
    if count == 1:
        return [f"  {name} = freeze {type_} {values[0]}{place}"]
    types = ir.split(type_.strip()[1:-1])
    whole = ["poison", *(f"{stem}.{i}" for i in range(count - 1)), name]
    return [
        f"  {whole[i + 1]} = insertvalue {type_} {whole[i]}, {types[i]} {values[i]}, {i}{place}" for i in range(count)
    ]


def _value(operand: str) -> str:
    """`%5` of `<4 x float> noundef %5`."""
    return operand[len(ir.leading_type(operand)) :].rsplit(maxsplit=1)[-1]
