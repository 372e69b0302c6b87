"""What a code object says of its kernels: metadata, argument layouts, names, instructions."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from kernelvault.replay import occupancy
from kernelvault.v1 import plan_pb2

# What `llvm-readelf` and `llvm-objdump` are asked for.
READELF = ("--notes", "--symbols", "--wide")
OBJDUMP = ("--disassemble", "--demangle", "--no-show-raw-insn")
_METADATA_NOTE = "amdhsa.kernels:"
_KERNEL = re.compile(r"^  - ", re.MULTILINE)
_FIELD = re.compile(r"^(    |  - )\.(\w+): +(\S.*)$", re.MULTILINE)
_ARGUMENTS = re.compile(r"^(?:    |  - )\.args: *\n((?:      .*\n)*)", re.MULTILINE)
_ARGUMENT = re.compile(r"^      - ", re.MULTILINE)
_ARGUMENT_FIELD = re.compile(r"^ *\.(\w+): +(\S.*)$", re.MULTILINE)
_SYMBOL = re.compile(r"^ *\d+: ([0-9a-f]+) +\d+ FUNC +\S+ +\S+ +\S+ +(\S+)$", re.MULTILINE)
_FUNCTION = re.compile(r"^([0-9a-f]+) <(.*)>:$")
_INSTRUCTION = re.compile(r"^\s+([a-z]\w+)")
_INSTRUCTIONS = re.compile(r"^[ \t]+([a-z]\w+)", re.MULTILINE)
# After a function's end, up to the next cache line.
_FILLERS = ("s_nop", "s_code_end")

# Instruction classes, first match wins. What they are for: the profiler's estimates, the checks of the compiler.
_CLASSES = tuple(
    (name, re.compile(pattern))
    for name, pattern in (
        ("mfma_f64", r"v_mfma_f64"),
        ("mfma_f8", r"v_s?mfma\w*[_\d]([bf]f?p?8|i8|f8f6f4)(_|$)"),
        ("mfma_f16", r"v_s?mfma\w*[_\d](f16|bf16|bf16_1k)$"),
        ("mfma_xf32", r"v_mfma\w*_xf32$"),
        ("mfma_f32", r"v_s?mfma"),
        ("transcendental", r"v_(exp|log|rcp|rsq|sqrt|sin|cos)(_|$)"),
        ("fma_f64", r"v_(fma|fmac|mad|mac)\w*_f64"),
        ("fma_packed", r"v_(pk_fma|pk_fmac|pk_mad|dot\d)\w*_f"),
        ("fma_f32", r"v_(fma|fmac|mad|mac|fmaak|fmamk|madak|madmk)\w*_f32|v_(fma_mix|mad_mix)"),
        ("fma_f16", r"v_(fma|fmac|mad|mac)\w*_f16"),
        ("float_f64", r"v_(add|sub|subrev|mul|max|min)_f64"),
        ("float_packed", r"v_pk_(add|mul|max|min)_(f|bf)"),
        ("float", r"v_(add|sub|subrev|mul|max|min)_(legacy_)?f(16|32)"),
        ("valu", r"v_"),
        ("global_store", r"(global|buffer|tbuffer)_store"),
        ("global_load", r"(global|buffer|tbuffer)_load"),
        ("global_atomic", r"(global|buffer)_atomic"),
        ("flat_store", r"flat_store"),
        ("flat_load", r"flat_load"),
        ("flat_atomic", r"flat_atomic"),
        ("scratch_store", r"scratch_store"),
        ("scratch_load", r"scratch_load"),
        ("lds_load", r"ds_(load|read)"),
        ("lds_store", r"ds_(store|write)"),
        ("lds_permute", r"ds_(b?permute|swizzle)"),
        ("lds_atomic", r"ds_"),
        ("scalar_load", r"s_(buffer_|scratch_)?load"),
        ("barrier", r"s_barrier"),
        ("wait", r"s_(waitcnt|sleep)"),
        ("call", r"s_(swappc|setpc|getpc|call)"),
        ("branch", r"s_c?branch"),
        ("salu", r"s_"),
    )
)
# Loads and stores have the bits of a lane's access behind their class: `global_load_b128`.
_SIZED = re.compile(r"(global|flat|scratch|lds)_(load|store)$")
_WIDTHS = tuple(
    (bits, re.compile(pattern))
    for bits, pattern in (
        (128, r"x4|b128|2(st64)?_b64"),
        (96, r"x3|b96"),
        (64, r"x2|b64|2(st64)?_b32"),
        (16, r"short|[ui]16|b16|d16"),
        (8, r"byte|[ui]8|b8"),
    )
)
_WRITES = ("global_store", "global_atomic", "flat_store", "flat_atomic", "call")


@dataclass(frozen=True)
class Kernel:
    """A kernel of a code object, without its instructions."""

    name: str
    layout: list[plan_pb2.Image.ArgumentSlot]
    # The numbers of its metadata by their names there, such as `vgpr_count`.
    numbers: Mapping[str, int] = field(default_factory=dict)


def kernels(readelf: str) -> list[Kernel]:
    """The kernels in the output of `llvm-readelf` with READELF, in the order of the metadata.

    A layout holds the arguments that host code passes; hidden ones are left out. Raises ValueError for other text.
    """
    _, found, notes = readelf.partition(_METADATA_NOTE)
    if not found:
        if "amdhsa.version" in readelf:
            return []
        raise ValueError("failed to read a code object: it has no AMDGPU metadata")
    listed = re.split(r"^amdhsa\.", notes, maxsplit=1, flags=re.MULTILINE)[0]
    return [_kernel(f"  - {block}") for block in _KERNEL.split(listed)[1:]]


def _kernel(block: str) -> Kernel:
    arguments = _ARGUMENTS.search(block)
    slots = [_slot(text) for text in _ARGUMENT.split(arguments[1])[1:]] if arguments else []
    fields = {match[2]: match[3].strip().strip("'") for match in _FIELD.finditer(block)}
    numbers = {name: int(value) for name, value in fields.items() if value.isdigit()}
    return Kernel(fields["name"], [slot for slot in slots if not slot.hidden], numbers)


def _slot(text: str) -> plan_pb2.Image.ArgumentSlot:
    fields = {match[1]: match[2].strip().strip("'") for match in _ARGUMENT_FIELD.finditer(text)}
    return plan_pb2.Image.ArgumentSlot(
        offset=int(fields["offset"]),
        size=int(fields["size"]),
        hidden=fields.get("value_kind", "").startswith("hidden_"),
        name=fields.get("name", "").removesuffix(".coerce"),
    )


def addresses(readelf: str) -> dict[int, str]:
    """Symbols of functions by address."""
    return {int(match[1], 16): match[2] for match in _SYMBOL.finditer(readelf)}


@dataclass(frozen=True)
class Function:
    """A disassembled function."""

    display_name: str
    instructions: Mapping[str, int]


def functions(objdump: str, symbols: Mapping[int, str]) -> dict[str, Function]:
    """By symbol, what `llvm-objdump` with OBJDUMP printed."""
    found: dict[str, Function] = {}
    counts: Counter[str] = Counter()
    for line in objdump.splitlines():
        if match := _FUNCTION.match(line):
            counts = Counter()
            symbol = symbols.get(int(match[1], 16), match[2])
            found[symbol] = Function(_as_written(match[2]), counts)
        elif (match := _INSTRUCTION.match(line)) and match[1] not in _FILLERS:
            counts[classify(match[1])] += 1
    return found


def classify(mnemonic: str) -> str:
    """The class of an instruction, such as `valu` for `v_add_u32` and `lds_load_b64` for `ds_read2_b32`."""
    name = next((name for name, pattern in _CLASSES if pattern.match(mnemonic)), "other")
    if not _SIZED.match(name):
        return name
    return f"{name}_b{next((bits for bits, pattern in _WIDTHS if pattern.search(mnemonic)), 32)}"


def _as_written(demangled: str) -> str:
    """`scale<float>(float*, int)` for `void scale<float>(float*, int)`."""
    return demangled.removeprefix("void ")


def mnemonics(assembly: str) -> list[str]:
    """The instructions in the text that LLVM writes for its assembler, all functions together."""
    return [name for name in _INSTRUCTIONS.findall(assembly) if name not in _FILLERS]


def resources(
    kernel: Kernel, target: str, instructions: Mapping[str, int], *, lds_bytes: int | None = None
) -> plan_pb2.Resources:
    """The resources of a kernel. `vgpr_count` of the metadata holds the AGPRs, which are told apart here.

    `lds_bytes`: what each launch takes, where the metadata does not know.
    """
    numbers = kernel.numbers
    total, agprs = numbers.get("vgpr_count", 0), numbers.get("agpr_count", 0)
    threads = numbers.get("max_flat_workgroup_size", 1024)
    lds = numbers.get("group_segment_fixed_size", 0) if lds_bytes is None else lds_bytes
    sgprs = numbers.get("sgpr_count", 0)
    fit = occupancy.of(target, registers=total, sgprs=sgprs, lds_bytes=lds, threads=threads)
    return plan_pb2.Resources(
        vgprs=total - agprs,
        agprs=agprs,
        sgprs=sgprs,
        spilled_registers=numbers.get("vgpr_spill_count", 0) + numbers.get("sgpr_spill_count", 0),
        lds_bytes=lds,
        scratch_bytes=numbers.get("private_segment_fixed_size", 0),
        occupancy_waves=fit.waves,
        occupancy_limit=fit.limit,
        max_block_threads=threads,
        wave_size=numbers.get("wavefront_size", occupancy.WAVE_SIZE),
        instructions=dict(instructions),
    )


def holds_stores(instructions: Mapping[str, int]) -> bool:
    """Whether a kernel can write global memory: it stores, updates atomically, or calls a function that may."""
    return any(count and name.startswith(_WRITES) for name, count in instructions.items())


def total(mixes: Iterable[Mapping[str, int]]) -> dict[str, int]:
    """The sum of instruction mixes."""
    counts: Counter[str] = Counter()
    for mix in mixes:
        counts.update(mix)
    return dict(counts)
