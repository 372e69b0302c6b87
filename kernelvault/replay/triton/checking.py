"""The rules of a Triton program that hold without Triton: what is not checked here may not be relied upon."""

from __future__ import annotations

from kernelvault.replay.triton import layout, naming, source, values
from kernelvault.replay.triton.malformed import Malformed, require
from kernelvault.v1 import triton_pb2

MAX_FUNCTIONS = 512
MAX_VARIANTS = 1024
# Of all functions together: reading them takes some microseconds a character.
MAX_SOURCE_CHARACTERS = 256 << 10
_MAX_GLOBALS = 256
_MAX_PARAMETERS = 512
# Which the compiler knows to be true of an argument: a power of two of its value's or pointer's multiple; the bits that
# reach all of a pointer's buffer.
_ATTRIBUTES = {"tt.divisibility": range(1, 1025), "tt.pointer_range": range(32, 33)}
# What an author may ask of the compiler, with its bounds. Others, such as the target or libraries, are ours to say.
_INTEGERS = {
    "num_warps": range(1, 17),
    "num_stages": range(33),
    "num_ctas": range(1, 2),
    "waves_per_eu": range(17),
    "matrix_instr_nonkdim": range(33),
    "kpack": range(1, 3),
    "max_num_imprecise_acc_default": range(1 << 31),
}
_BOOLEANS = ("allow_flush_denorm", "enable_fp_fusion", "launch_cooperative_grid", "debug", "sanitize_overflow")
_TEXTS = {
    "schedule_hint": ("none", "attention", "memory-bound-attention", "attention,memory-bound-attention"),
    "default_dot_input_precision": ("ieee", "tf32", "bf16x3", "bf16x6"),
    "instrumentation_mode": ("",),
}
OPTIONS = frozenset((*_INTEGERS, *_BOOLEANS, *_TEXTS))


def check(program: triton_pb2.TritonProgram) -> None:
    """Raises Malformed, which names the field, or SourceError, which names the author's line."""
    definitions(program)


def definitions(program: triton_pb2.TritonProgram) -> list[source.Definition]:
    """The checked `def` statements of all functions. Raises what `check` does."""
    _check_count(len(program.functions), MAX_FUNCTIONS, "functions")
    _check_count(len(program.variants), MAX_VARIANTS, "variants")
    characters = sum(len(function.source) for function in program.functions)
    require(characters <= MAX_SOURCE_CHARACTERS, "functions", f"have {characters} characters in all")
    found = [_check_function(program, i) for i in range(len(program.functions))]
    cyclic = sorted(set(range(len(found))) - set(naming.order(program)))
    require(not cyclic, "functions", f"{cyclic} refer to themselves; Triton has no recursion")
    digests = naming.function_digests(program)
    names: set[str] = set()
    for i, variant in enumerate(program.variants):
        _check_variant(program, variant, found, f"variants[{i}]")
        name = naming.variant_name(program, variant, digests)
        require(variant.name == name, f"variants[{i}].name", f"{variant.name[:80]!r} should be {name!r}")
        require(name not in names, f"variants[{i}].name", f"{name!r} stands there twice")
        names.add(name)
    return found


def _check_count(count: int, most: int, field: str) -> None:
    require(count <= most, field, f"{count} are more than {most}")


def _check_function(program: triton_pb2.TritonProgram, index: int) -> source.Definition:
    function, field = program.functions[index], f"functions[{index}]"
    _check_count(len(function.globals), _MAX_GLOBALS, f"{field}.globals")
    for name, value in function.globals.items():
        where = f"{field}.globals[{name[:80]!r}]"
        require(source.is_name(name), where, "is not a plain name")
        values.check(value, len(program.functions), where)
    return source.parse(function, field)


def _check_variant(
    program: triton_pb2.TritonProgram,
    variant: triton_pb2.TritonProgram.Variant,
    found: list[source.Definition],
    field: str,
) -> None:
    require(0 <= variant.function < len(found), f"{field}.function", f"there is no function {variant.function}")
    _check_count(len(variant.parameters), _MAX_PARAMETERS, f"{field}.parameters")
    named = [parameter.name for parameter in variant.parameters]
    expected = found[variant.function].parameters
    require(named == expected, f"{field}.parameters", "are not those of the function, in order")
    for parameter in variant.parameters:
        _check_parameter(parameter, len(found), f"{field}.parameters[{parameter.name!r}]")
    for name, value in variant.options.items():
        _check_option(name, value, f"{field}.options[{name[:80]!r}]")


def _check_parameter(parameter: triton_pb2.TritonProgram.Parameter, functions: int, field: str) -> None:
    match parameter.WhichOneof("kind"):
        case "type":
            require(values.is_dtype(parameter.type), field, f"{parameter.type[:40]!r} is no type of an argument")
            layout.check_type(parameter.type, field)
        case "constant":
            values.check(parameter.constant, functions, field)
        case _:
            raise Malformed(field, "has neither a type nor a constant")
    for attribute in parameter.attributes:
        allowed = attribute.value in _ATTRIBUTES.get(attribute.name, ())
        require(allowed, field, f"the attribute {attribute.name[:40]!r} of {attribute.value} is not known")


def _check_option(name: str, value: triton_pb2.TritonProgram.Value, field: str) -> None:
    kind = value.WhichOneof("value")
    content = getattr(value, kind) if kind else None
    if name in _INTEGERS:
        power = name != "num_warps" or (kind == "integer" and value.integer & (value.integer - 1) == 0)
        allowed = kind == "integer" and content in _INTEGERS[name] and power
    elif name in _BOOLEANS:
        allowed = kind == "boolean"
    else:
        allowed = kind == "text" and content in _TEXTS.get(name, ())
    require(allowed and not value.constexpr, field, f"{content!r:.80} is not an option that a kernel may ask for")
