"""Unpacking entries in LLVM IR: for each kernel a function from argument bytes to a call of the kernel.

clang has lowered each argument for x86-64 already: a small struct became one or two registers, a large one `byval`. The
IR signature says how, so no C++ type needs a name: lambdas and template instances work like any other kernel. The
places of the arguments come from the code object's metadata.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from kernelvault.v1 import plan_pb2
from svc_compiler.hip import ir

_REGISTER_BYTES = 8
_LOWERED = re.compile(r"\.coerce\d?$|\.indirect_addr$")

Slots = Sequence[plan_pb2.Image.ArgumentSlot]


class Unsupported(Exception):
    """A kernel that the CPU model cannot call; the message says why."""


@dataclass(frozen=True)
class Parameter:
    """One parameter of a lowered kernel."""

    type: str
    attributes: str
    byval: bool
    bytes: int
    # The argument it came from; empty where clang did not name it.
    source: str


def parse_parameter(text: str) -> Parameter:
    """Reads a parameter such as `float noundef %x` or `ptr noundef byval(%struct.Big) align 8 %p`."""
    type_ = ir.leading_type(text)
    name = re.search(r'%("[^"]*"|[\w.$-]+)$', text)
    attributes = text[len(type_) : name.start() if name else None].strip()
    if "dead_on_return" in attributes:  # x86 passes the address of one
        raise Unsupported("it takes a class with a non-trivial copy by value")
    plain = name[1].strip('"') if name else ""
    source = "" if plain.isdigit() else _LOWERED.sub("", plain)
    return Parameter(type_, attributes, "byval(" in attributes, -(-ir.bits(type_) // 8), source)


def ways(arguments: Slots, parameters: Sequence[Parameter]) -> list[list[tuple[Parameter, int]]]:
    """All ways to lay the parameters over the arguments in order, as pairs of a parameter and its byte offset.

    One way is the right number; more would be a guess.
    """
    return _ways(list(arguments), list(parameters), {_source(argument) for argument in arguments})


def _source(argument: plan_pb2.Image.ArgumentSlot) -> str:
    return _LOWERED.sub("", argument.name)


def _ways(
    arguments: list[plan_pb2.Image.ArgumentSlot], parameters: list[Parameter], named: set[str]
) -> list[list[tuple[Parameter, int]]]:
    if not arguments:
        return [] if parameters else [[]]
    argument, source = arguments[0], _source(arguments[0])
    # The metadata names scalars and pointers, not structs.
    same = [p for p in parameters[:2] if p.source == source or not p.source or (not source and p.source not in named)]
    found = []
    for count in _counts(argument.size, parameters):
        if count <= len(same) and same[:count] == parameters[:count]:
            placed = [(p, argument.offset + _REGISTER_BYTES * i) for i, p in enumerate(parameters[:count])]
            found += [placed + rest for rest in _ways(arguments[1:], parameters[count:], named)]
    return found


def _counts(size: int, parameters: list[Parameter]) -> list[int]:
    """How many parameters an argument of `size` bytes can have become."""
    counts = []
    if size == 1:  # an empty class takes no register
        counts.append(0)
    if parameters and (parameters[0].byval or parameters[0].bytes <= size):
        counts.append(1)
    pair = parameters[:2]
    halves = len(pair) == 2 and not any(p.byval or p.bytes > _REGISTER_BYTES for p in pair)
    if _REGISTER_BYTES < size <= 2 * _REGISTER_BYTES and halves:
        counts.append(2)
    return counts


@dataclass(frozen=True)
class Kernel:
    """A kernel of the module, with the one way to unpack its arguments."""

    name: str
    way: list[tuple[Parameter, int]]
    body: str


def find(name: str, arguments: Slots, module: str) -> Kernel:
    """The kernel `name` of the module; raises Unsupported where it is not there or cannot be called."""
    start = re.search(rf'^define [^@\n]*@"?{re.escape(name)}"?\(', module, re.MULTILINE)
    if not start:
        raise Unsupported(f"the kernel {name} has code for the GPU and none for the CPU")
    try:
        parameters = [parse_parameter(p) for p in ir.split(ir.balanced(module, start.end() - 1))]
    except (ir.Unreadable, Unsupported) as error:
        raise Unsupported(f"the kernel {name} cannot be called: {error}") from error
    found = ways(arguments, parameters)
    if len(found) != 1:
        raise Unsupported(f"the kernel {name} has {len(found)} ways to unpack its arguments")
    return Kernel(name, found[0], module[start.start() : module.index("\n}", start.start())])


def padding(kernel: Kernel, arguments: Slots, module: str) -> list[int]:
    """Offsets of argument bytes that no member owns: they hold what the host's stack held and may differ between runs.

    Unoptimised IR has an alloca of the argument's own type, whatever the calling convention made of it.
    """
    placed = {offset: parameter for parameter, offset in kernel.way}
    found: list[int] = []
    for argument in arguments:
        parameter = placed.get(argument.offset)
        if parameter is None:  # an empty class
            found += range(argument.offset, argument.offset + argument.size)
        elif type_ := _own_type(parameter, kernel.body):
            used = ir.layout(type_, module).used
            found += [argument.offset + i for i in range(argument.size) if i not in used]
    return found


def _own_type(parameter: Parameter, body: str) -> str:
    if parameter.byval:
        return ir.balanced(parameter.attributes, parameter.attributes.index("byval") + len("byval"))
    if not parameter.source:
        return ""
    name = re.escape(parameter.source)
    local = re.search(rf'^  %"?{name}"? = alloca (.*), align', body, re.MULTILINE)
    return local[1] if local else ""


def entry(index: int, kernel: Kernel) -> str:
    """The function `@kv.entry.INDEX(ptr bytes)` that loads the kernel's arguments and calls it."""
    lines, operands = [], []
    for i, (parameter, offset) in enumerate(kernel.way):
        lines.append(f"  %a{i} = getelementptr i8, ptr %bytes, i64 {offset}")
        if parameter.byval:  # copies by itself, once a thread
            operands.append(f"ptr {parameter.attributes} %a{i}")
            continue
        if parameter.type == "i1":  # bool: a byte in memory
            lines += [f"  %b{i} = load i8, ptr %a{i}, align 1", f"  %v{i} = trunc i8 %b{i} to i1"]
        else:
            lines.append(f"  %v{i} = load {parameter.type}, ptr %a{i}, align 1")
        operands.append(f"{parameter.type} {parameter.attributes} %v{i}")
    lines.append(f'  call void @"{kernel.name}"({", ".join(operands)})')
    body = "\n".join(lines)
    head = f'define internal void @kv.entry.{index}(ptr %bytes) "frame-pointer"="all"'
    return f"{head} {{\n{body}\n  ret void\n}}\n"


def table(kernels: Mapping[str, Kernel]) -> str:
    """The entries of all kernels and `@kernel_table`, which finds them by name."""
    text, rows = "", []
    for index, (name, kernel) in enumerate(sorted(kernels.items())):
        text += entry(index, kernel) + f"@kv.name.{index} = private constant {c_string(name)}\n"
        rows.append(f"{{ ptr, ptr }} {{ ptr @kv.name.{index}, ptr @kv.entry.{index} }}")
    return text + array("kernel_table", "{ ptr, ptr }", rows)


def c_string(text: str) -> str:
    """Type and value of a constant that holds `text` and a zero."""
    data = [*text.encode(), 0]
    escaped = "".join(f"{chr(92)}{byte:02X}" for byte in data)
    return f'[{len(data)} x i8] c"{escaped}"'


def array(name: str, type_: str, rows: list[str]) -> str:
    """A hidden array of `rows`, ended by a zero."""
    rows = [*rows, f"{type_} zeroinitializer"]
    return f"@{name} = hidden constant [{len(rows)} x {type_}] [{', '.join(rows)}]\n"
