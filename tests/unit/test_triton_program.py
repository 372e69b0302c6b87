"""Triton programs as data: what is read, what is refused, and what becomes of it."""

from __future__ import annotations

import ast
import contextlib
import inspect
import math
import os
import re
import textwrap
import time
import traceback
from collections.abc import Callable, MutableMapping
from types import FunctionType
from typing import Any

import pytest
import triton
import triton.language as tl
from hypothesis import given, settings
from hypothesis import strategies as st

from kernelvault.replay.triton import program as programs
from kernelvault.v1 import triton_pb2
from tests.triton_programs import FILE, Program, add_variant, program

SCALE = """
FACTOR = tl.constexpr(3)

def double(x, twice: tl.constexpr = True):
    return x * 2


def scale(
    x_ptr: "torch.Tensor", y_ptr,  # both of n elements
    n: int, alpha,
    BLOCK: tl.constexpr,
) -> None:
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + offsets, mask=offsets < n, other=-float("inf"))
    y = double(x) * alpha * FACTOR + math.pi
    tl.store(y_ptr + offsets, libdevice.tanh(y), mask=offsets < n)
"""
ARGUMENTS = {"x_ptr": "*fp32", "y_ptr": "*fp16", "n": "i32", "alpha": "fp32", "BLOCK": [128]}


def made() -> triton_pb2.TritonProgram:
    """A program with everything in it."""
    return program(SCALE, "scale", ARGUMENTS, num_warps=4)


def plain(function: FunctionType, _message: triton_pb2.TritonProgram.Function) -> FunctionType:
    """Leaves a function as it is."""
    return function


def jit(function: FunctionType, _message: triton_pb2.TritonProgram.Function) -> Any:
    """As the compiler wraps it."""
    return triton.jit(function)


def put(path: str, value: object) -> Callable[[Any], None]:
    """Sets the field at a path such as `functions.1.globals.double.function`."""

    def change(message: Any) -> None:
        *parts, last = path.split(".")
        for part in parts:
            if isinstance(message, MutableMapping):
                message = message[part]
            else:
                message = message[int(part)] if part.isdigit() else getattr(message, part)
        setattr(message, last, value)

    return change


def body(*lines: str) -> triton_pb2.TritonProgram:
    """A program of one function with these statements."""
    text = "def kernel(x_ptr, n):\n" + "".join(f"    {line}\n" for line in lines)
    return program(text, "kernel", {"x_ptr": "*fp32", "n": "i32"})


# Reading


def test_program_survives_its_bytes() -> None:
    """What is read is what was written."""
    written = made()
    assert programs.read(written.SerializeToString()) == written


def test_other_bytes_are_refused() -> None:
    """Bytes that are no such message."""
    with pytest.raises(programs.Malformed, match="program: program: is not such a message"):
        programs.read(b"\xff\xff\xff\xff")


def test_large_program_is_refused() -> None:
    """Before it is parsed."""
    with pytest.raises(programs.Malformed, match="bytes are more than"):
        programs.read(bytes(programs.MAX_BYTES + 1))


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (put("functions.1.globals.double.function", 9), "functions[1].globals['double']: there is no function 9"),
        (put("functions.0.name", "other"), "functions[0].name: 'other' is not the name of the `def`"),
        (put("functions.0.name", "__init__"), "functions[0].name: '__init__' is not a plain name"),
        (put("functions.0.file", "../other.py"), "functions[0].file: '../other.py' is not a relative path"),
        (put("functions.0.file", "/etc/passwd"), "functions[0].file: '/etc/passwd' is not a relative path"),
        (put("functions.0.line", 0), "functions[0].line: is 0"),
        (lambda p: p.functions[0].globals["a"].SetInParent(), "functions[0].globals['a']: holds no value"),
        (put("functions.0.globals.a.dtype", "fp31"), "functions[0].globals['a']: 'fp31' is no dtype"),
        (put("variants.0.function", 2), "variants[0].function: there is no function 2"),
        (put("variants.0.name", "scale_000000000000"), "variants[0].name: 'scale_000000000000' should be "),
        (lambda p: p.variants[0].parameters.pop(), "variants[0].parameters: are not those of the function, in order"),
        (put("variants.0.options.num_warps.integer", 3), "variants[0].options['num_warps']: 3 is not an option"),
        (put("variants.0.options.arch.text", "gfx1100"), "variants[0].options['arch']: 'gfx1100' is not an option"),
        (lambda p: p.variants.add().CopyFrom(p.variants[0]), "stands there twice"),
    ],
)
def test_broken_program_is_refused(change: Callable[[Any], object], message: str) -> None:
    """By the name of the field."""
    changed = made()
    change(changed)
    with pytest.raises(programs.Malformed, match=re.escape(message)):
        programs.check(changed)


@pytest.mark.parametrize(
    ("source", "message"),
    [
        ("x = 1\n", "is not a single `def`"),
        ("def f():\n    pass\ndef g():\n    pass\n", "is not a single `def`"),
        (" \ndef f():\n    pass\n", "is not a single `def`"),
        ("@tl.jit\ndef f():\n    pass\n", "is not a single `def`"),
        ("async def f():\n    pass\n", "is not a single `def`"),
        ("def f(:\n    pass\n", f"{FILE}:7: is no Python: invalid syntax"),
        ("def f():\n    x = (\n", f"{FILE}:8: is no Python: '(' was never closed"),
        ("def f():\r\n    pass\r\n", "holds a control character"),
        ("def f():\n    x = " + "(" * 5000 + ")" * 5000 + "\n", "is no Python"),
        ("def f():\n    x = " + "-" * 60000 + "1\n", "is no Python"),
        ("def f():\n    x = a" + ".T" * 30000 + "\n", "functions[0]"),
        ("def f():\n" + "    x = 1\n" * 10000, "characters are more than 65536"),
    ],
)
def test_text_must_be_one_plain_def(source: str, message: str) -> None:
    """Anything else is refused, however deep it is nested."""
    changed = Program()
    changed.functions.add(name="f", file=FILE, line=7, source=source)
    with pytest.raises(programs.Malformed, match=re.escape(message)):
        programs.check(changed)


def test_functions_are_bounded_together() -> None:
    """As are their number and the size of each."""
    changed = Program()
    for _ in range(9):
        changed.functions.add(name="f", file=FILE, line=1, source="def f():\n    pass\n" + "#" * 30000)
    with pytest.raises(programs.Malformed, match="functions: have 270162 characters in all"):
        programs.check(changed)


@pytest.mark.parametrize(
    "line", ["x = [" + "1," * 20000 + "]", "x = " + "+".join(["n"] * 400), "x = n" + ".T" * 900, "x = n" + "<n" * 15000]
)
def test_check_is_quick(line: str) -> None:
    """Each character costs some microseconds, whatever the text is: a server reads it."""
    changed = Program()
    source = "def f(n):\n" + f"    {line}\n" * (60000 // (len(line) + 5) or 1)
    changed.functions.add(name="f", file=FILE, line=1, source=source)
    started = time.process_time()
    programs.check(changed)
    assert time.process_time() - started < 30e-6 * len(source)


@pytest.mark.parametrize(
    ("statement", "problem"),
    [
        ("import os", "`Import` is not part of Triton's language for kernels"),
        ("from os import system", "`ImportFrom` is not part of Triton's language for kernels"),
        ("x = lambda: 1", "`Lambda` is not part of Triton's language for kernels"),
        ("def inner(): pass", "`FunctionDef` is not part of Triton's language for kernels"),
        ("class A: pass", "`ClassDef` is not part of Triton's language for kernels"),
        ("global n", "`Global` is not part of Triton's language for kernels"),
        ("del n", "`Delete` is not part of Triton's language for kernels"),
        ("raise n", "`Raise` is not part of Triton's language for kernels"),
        ("with n: pass", "`With` is not part of Triton's language for kernels"),
        ("x = {}", "`Dict` is not part of Triton's language for kernels"),
        ("x = (y := 1)", "`NamedExpr` is not part of Triton's language for kernels"),
        ("x = yield", "`Yield` is not part of Triton's language for kernels"),
        ("x = 1j", "a constant of type complex has no meaning in a kernel"),
        ("x = b'a'", "a constant of type bytes has no meaning in a kernel"),
        ("x = isinstance(n, int)", "`isinstance` is not for kernels"),
        ("x = eval('1')", "`eval` is not for kernels"),
        ("x = getattr(n, 'T')", "`getattr` is not for kernels"),
        ("x = open('/etc/passwd')", "`open` is not for kernels"),
        ("x = __builtins__", "the name '__builtins__' is not allowed in a kernel"),
        ("_kv_and = 1", "the name '_kv_and' is not allowed in a kernel"),
        ("__name__ = 1", "the name '__name__' is not allowed in a kernel"),
        ("x = n.__class__", "the attribute `__class__` is not allowed in a kernel"),
        ("x = ().__class__.__base__", "the attribute `__class__.__base__` is not allowed in a kernel"),
        ("x = n._unwrapped", "the attribute `_unwrapped` is not allowed in a kernel"),
        ("x = n.handle.data", "the attribute `handle` is not one of Triton's values"),
        ("x = 'a{0.fn}'.format(n)", "the attribute `format` is not one of Triton's values"),
        ("x = f'{n.fn}'", "the attribute `fn` is not one of Triton's values"),
        ("n.T = 1", "a kernel sets no attributes"),
        ("tl.load = 1", "a kernel sets no attributes"),
        ("x = tl.load(x_ptr, _semantic=None)", "the keyword argument '_semantic' is not allowed in a kernel"),
        ("x = tl.load(**n)", "the keyword argument '**' is not allowed in a kernel"),
        ("m = tl; x = m.core", "the attribute `core` is not one of Triton's values"),
        ("tl = n; x = tl.core", "the attribute `core` is not one of Triton's values"),
        ("x = [o for o in n for tl in o if tl.core]", "the attribute `core` is not one of Triton's values"),
    ],
)  # fmt: skip
def test_statement_outside_of_the_language_is_refused(statement: str, problem: str) -> None:
    """With the author's file and line; no list of what is bad decides it."""
    with pytest.raises(programs.SourceError) as raised:
        programs.check(body("pass", statement))
    assert (raised.value.file, raised.value.line, raised.value.problem) == (FILE, 3, problem)


def test_function_does_not_call_itself() -> None:
    """Python would let it, Triton does not."""
    changed = Program()
    changed.functions.add(name="f", file=FILE, line=1, source="def f(x):\n    return f(x)\n")
    with pytest.raises(programs.SourceError, match=r"main\.py:2: `f` is not for kernels"):
        programs.check(changed)


@pytest.mark.parametrize(
    ("statement", "problem"),
    [
        ("x = tl.core.builtins.eval('1')", "`tl.core.builtins.eval` is not for kernels"),
        ("x = tl.core.inspect", "`tl.core.inspect` is not for kernels"),
        ("x = tl.core.knobs.cache", "`tl.core.knobs.cache` is not for kernels"),
        ("x = tl.core.ir", "`tl.core.ir` is not for kernels"),
        ("x = tl.core.wraps", "`tl.core.wraps` is not for kernels"),
        ("x = tl.core.Callable", "`tl.core.Callable` is not for kernels"),
        ("x = tl.core.builtin", "`tl.core.builtin` is not for kernels"),
        ("x = tl.standard.jit", "`tl.standard.jit` is not for kernels"),
        ("x = tl.math.core.builtins", "`tl.math.core.builtins` is not for kernels"),
        ("x = tl.target_info.is_hip()", "`tl.target_info.is_hip` is not for kernels"),
        ("x = tl.semantic", "`tl.semantic` is not for kernels"),
        ("x = tl.str_to_ty", "`tl.str_to_ty` is not for kernels"),
        ("x = triton.jit", "`triton.jit` is not for kernels"),
        ("x = triton.runtime", "`triton.runtime` is not for kernels"),
        ("x = triton.language.core.inspect", "`triton.language.core.inspect` is not for kernels"),
        ("x = tl.extra.pkgutil", "`tl.extra.pkgutil` is not for kernels"),
        ("x = libdevice.core.builtins", "`libdevice.core.builtins` is not for kernels"),
        ("x = tl", "the module `tl` by itself has no meaning in a kernel"),
        ("x = tl.math", "the module `tl` by itself has no meaning in a kernel"),
        ("x = tl.sum.fn", "the attribute `fn` has no meaning in a kernel"),
        ("x = tl.load.signature", "the attribute `signature` has no meaning in a kernel"),
        ("x = math.sin.real", "the attribute `real` has no meaning in a kernel"),
    ],
)  # fmt: skip
def test_way_out_of_the_language_is_refused(statement: str, problem: str) -> None:
    """Names are walked on the real modules, and each step must be for kernels."""
    with pytest.raises(programs.SourceError) as raised:
        programs.materialize(body("pass", statement), plain)
    assert (raised.value.file, raised.value.line, raised.value.problem) == (FILE, 3, problem)


@pytest.mark.parametrize(
    "name", ["triton.language.core.builtins", "math.sin.real", "triton.jit", "triton.language.semantic"]
)
def test_imported_value_must_be_for_kernels(name: str) -> None:
    """The full name of an import is walked like any other."""
    changed = made()
    changed.functions[0].globals["way"].imported = name
    changed.variants[0].name = programs.variant_name(changed, changed.variants[0])
    with pytest.raises(programs.Malformed, match=re.escape("functions[0].globals['way']")):
        programs.materialize(changed, plain)


def test_name_that_triton_lacks_is_left_to_its_compiler() -> None:
    """A branch that is not taken may name it."""
    assert len(programs.materialize(body("x = tl.no_such_thing(n) + no_such_name.thing"), plain)) == 1


# Making functions


def test_function_is_what_its_author_wrote() -> None:
    """Default values, constants and helpers are the declared ones; its text keeps its lines."""
    double, scale = programs.materialize(made(), plain)
    assert double.__defaults__ == (True,)
    assert scale.__globals__["double"] is double
    assert scale.__globals__["FACTOR"] == tl.constexpr(3)
    assert scale.__code__.co_firstlineno == 8
    assert inspect.getsourcelines(scale)[1] == 8
    assert inspect.getsource(scale).split("\n")[6:9] == SCALE.split("\n")[13:16]


def test_function_sees_its_declared_names_only() -> None:
    """Nothing else, not even Python's builtins."""
    _, scale = programs.materialize(made(), plain)
    names = set(scale.__globals__) - {"__builtins__", "__name__"}
    assert names == {"FACTOR", "double", "libdevice", "math", "tl"}
    assert not {"open", "eval", "exec", "getattr", "__import__"} & set(scale.__globals__["__builtins__"])


def test_annotations_are_gone_but_for_constants() -> None:
    """`torch.Tensor` would be evaluated; `tl.constexpr` becomes text that needs no name."""
    _, scale = programs.materialize(made(), plain)
    assert scale.__annotations__ == {"BLOCK": "constexpr"}


@pytest.mark.parametrize(
    "head",
    [
        "def f(x: (tl.constexpr), y: 'constexpr' = 3):",
        "def f(x: \"tl.constexpr\", y: constexpr = 3) -> tl.tensor:",
        "def f(\n    x: tl.constexpr  # a comment: -> with an arrow\n    , y: tl.constexpr = 3\n) -> (\n    None\n):",
        "def f(x: tl.constexpr, y: tl.constexpr=3)->None:",
        "def f(ж: tl.constexpr, y: tl.constexpr=3):",
    ],
)  # fmt: skip
def test_annotations_in_any_shape(head: str) -> None:
    """They go, or the author is told; never is something else compiled."""
    changed = Program()
    changed.functions.add(name="f", file=FILE, line=3, source=f"{head}\n    return y\n")
    try:
        function = programs.materialize(changed, plain)[0]
    except programs.SourceError as error:
        assert "annotations" in error.problem or "plain name" in error.problem
        return
    assert function.__annotations__ == {"x": "constexpr", "y": "constexpr"}
    assert function(1) == 3
    assert inspect.getsource(function).count("\n") == head.count("\n") + 2


@pytest.mark.parametrize(
    "default",
    [
        "print(1)",
        "[1]",
        "x",
        "(lambda: 1)()",
        "tl.core.builtins",
        "1 if 1 else 2",
        "tl.dtype('fp32')",
        "tl.constexpr(1, 2)",
        "tl.constexpr(*x)",
        "tl.constexpr(print(1))",
        "tl.constexpr.value(1)",
        "constexpr(1)",
    ],
)
def test_default_value_is_a_literal_or_a_name(default: str) -> None:
    """Python would evaluate anything else."""
    changed = Program()
    function = changed.functions.add(name="f", file=FILE, line=3, source=f"def f(x, y={default}):\n    return y\n")
    function.globals["tl"].imported = "triton.language"
    with pytest.raises(programs.SourceError):
        programs.materialize(changed, plain)


def test_default_value_may_be_a_declared_name() -> None:
    """As in `def f(x, dtype=tl.float32, block=BLOCK)`, or a `tl.constexpr` of a literal."""
    changed = Program()
    source = "def f(x, dtype=tl.float32, block=BLOCK, other=-1, flag=tl.constexpr(False)):\n    return x\n"
    function = changed.functions.add(name="f", file=FILE, line=3, source=source)
    function.globals["tl"].imported = "triton.language"
    function.globals["BLOCK"].integer = 64
    *others, flag = programs.materialize(changed, plain)[0].__defaults__
    assert others == [tl.float32, 64, -1]
    assert (type(flag), flag.value) == (tl.constexpr, False)


def test_functions_work_for_triton() -> None:
    """Triton reads the text that was checked, at the author's line."""
    scale = programs.materialize(made(), jit)[1]
    assert scale.starting_line_number == 8
    assert [parameter.is_constexpr for parameter in scale.params] == [False, False, False, False, True]
    assert scale.cache_key


def test_traceback_names_the_authors_line() -> None:
    """As an interpreter's error shows it."""
    function = programs.materialize(body("x = n + 1", "x = x_ptr / 0"), plain)[0]
    try:
        function(1, 2)
    except ZeroDivisionError as error:
        text = "".join(traceback.format_exception(error))
    assert f'File "{FILE}", line 3, in kernel\n    x = x_ptr / 0\n' in text


def test_functions_of_one_place_with_other_globals() -> None:
    """A factory that is called twice makes two functions of the same text; each keeps its own names."""
    changed = Program()
    for number in (1, 2):
        function = changed.functions.add(name="f", file=FILE, line=3, source="def f():\n    return K\n")
        function.globals["K"].integer = number
    first, second = programs.materialize(changed, plain)
    assert (first(), second()) == (1, 2)
    assert first.__module__ != second.__module__


def test_functions_that_claim_the_same_lines() -> None:
    """Each keeps its own text, under a file name that still tells the author's."""
    changed = Program()
    for number in (1, 2):
        changed.functions.add(name="f", file="<string>", line=1, source=f"def f():\n    return {number}\n")
    first, second = programs.materialize(changed, plain)
    assert [inspect.getsource(function) for function in (first, second)] == [f.source for f in changed.functions]
    assert programs.author_file(second.__code__.co_filename) == "<string>"


@pytest.mark.parametrize(
    "trick",
    [
        "def f():\n    return 1\n# def g():\n",
        "def f(): return 1\n\n\n",
        "def f():\n    return (1 +\n2)\n",
        "def f():\n    '''\ndef g():\n'''\n    return 3\n",
        "def f():\n    x = 1; \\\n\n    return 1\n",
        "def f():\n    x = 1\n   \n\t\n    return x\n",
        "def f():\n    return '''a\n   \nb'''\n",
    ],
)
def test_text_that_confuses_readers_of_lines(trick: str) -> None:
    """Triton finds a function's end by its lines; where that is not the checked text, it is refused."""
    changed = Program()
    changed.functions.add(name="f", file=FILE, line=5, source=trick)
    try:
        function = programs.materialize(changed, jit)[0]
    except programs.Malformed:
        return
    tree = function.parse()
    assert tree.body[0].end_lineno == len(function.src.rstrip("\n").split("\n"))
    assert function.src in textwrap.dedent(trick) + "\n"
    assert ast.dump(tree) == ast.dump(ast.parse(textwrap.dedent(trick)))


# Values, names, layouts


@pytest.mark.parametrize(
    "value",
    [
        0, -(1 << 63), (1 << 63) - 1, 1.5, -math.inf, True, None, "text", (1, (2.0, None)), tl.float32, tl.bfloat16,
        tl.int1, tl.uint8, tl.float8e4nv, tl.pointer_type(tl.float16), tl.constexpr(7), tl.constexpr(tl.float16),
        tl, tl.math, math, math.exp, tl.exp, tl.sum, tl.load, tl.constexpr, tl.tensor, triton.cdiv,
        triton.next_power_of_2,
    ],
)  # fmt: skip
def test_value_survives_the_message(value: Any) -> None:
    """Python's values and Triton's, both ways."""
    message = programs.value_of(value)
    back = programs.constant(triton_pb2.TritonProgram.Value.FromString(message.SerializeToString()))
    assert type(back) is type(value)
    if not isinstance(value, tl.constexpr):
        assert back == value
    else:
        assert back.value == value.value


def test_nan_survives_the_message() -> None:
    """A masked load's other value."""
    assert math.isnan(programs.constant(programs.value_of(math.nan)))


@pytest.mark.parametrize(
    ("value", "message"),
    [
        (1 << 63, "an integer beyond 64 bits"),
        (object(), "a value of type builtins.object"),
        (os, "a value of type builtins.module"),
        (open, "a value of type builtins.builtin_function_or_method"),
        ({}, "a value of type builtins.dict"),
        (b"", "a value of type builtins.bytes"),
        (plain, "a value of type builtins.function"),
    ],
)
def test_value_without_a_form(value: object, message: str) -> None:
    """Is named by its type."""
    with pytest.raises(programs.Unsupported, match=message):
        programs.value_of(value)


def test_name_depends_on_all_that_a_variant_is() -> None:
    """A helper's text, a global, its place, an option, a constant, an attribute: each changes the name."""
    names = {made().variants[0].name}
    changes: list[Callable[[Any], object]] = [
        lambda p: p.functions[0].__setattr__("source", p.functions[0].source.replace("* 2", "* 3")),
        lambda p: p.functions[1].globals["FACTOR"].__setattr__("integer", 4),
        lambda p: p.functions[1].globals["FACTOR"].__setattr__("constexpr", False),
        lambda p: p.functions[1].__setattr__("line", 9),
        lambda p: p.variants[0].options["num_warps"].__setattr__("integer", 8),
        lambda p: p.variants[0].parameters[4].constant.__setattr__("integer", 64),
        lambda p: p.variants[0].parameters[0].attributes.pop(),
    ]
    for change in changes:
        changed = made()
        change(changed)
        names.add(programs.variant_name(changed, changed.variants[0]))
    assert len(names) == len(changes) + 1


def test_name_does_not_depend_on_positions() -> None:
    """Programs of different cases merge by content."""
    changed = Program()
    changed.functions.add(name="f", file=FILE, line=1, source="def f():\n    pass\n")
    changed.MergeFrom(made())
    changed.functions[2].globals["double"].function = 1
    changed.variants[0].function = 2
    assert programs.variant_name(changed, changed.variants[0]) == made().variants[0].name


def test_arguments_lie_at_their_own_alignment() -> None:
    """As AMD's calling convention has it; constants take no room."""
    text = "def k(a, b, c, d, e, f, g):\n    pass\n"
    types = {"a": "i1", "b": "*fp32", "c": [1], "d": "fp16", "e": "i64", "f": "i8", "g": "fp32"}
    layout = programs.argument_slots(program(text, "k", types).variants[0])
    assert [(slot.name, slot.offset, slot.size) for slot in layout] == [
        ("a", 0, 1), ("b", 8, 8), ("d", 16, 2), ("e", 24, 8), ("f", 32, 1), ("g", 36, 4),
    ]  # fmt: skip


def test_display_name() -> None:
    """As an author would write it: constants and options that say something."""
    changed = made()
    add_variant(changed, 1, ARGUMENTS | {"n": [None]}, num_warps=8, waves_per_eu=0)
    shown = [programs.display_name(changed, variant) for variant in changed.variants]
    assert shown == ["scale[BLOCK=128, num_warps=4]", "scale[BLOCK=128, num_warps=8]"]


# Bytes that nobody wrote


@settings(max_examples=300, deadline=None)
@given(st.binary(max_size=400))
def test_random_bytes_are_refused_or_read(data: bytes) -> None:
    """Nothing but Malformed comes of them."""
    with contextlib.suppress(programs.Malformed):
        programs.read(data)


@settings(max_examples=300, deadline=None)
@given(st.data())
def test_mutated_bytes_are_refused_or_read(data: st.DataObject) -> None:
    """A real program with bytes changed, removed and inserted raises Malformed or becomes functions."""
    changed = bytearray(made().SerializeToString())
    for _ in range(data.draw(st.integers(1, 4))):
        at = data.draw(st.integers(0, len(changed) - 1))
        removed = data.draw(st.integers(0, 3))
        changed[at : at + removed] = data.draw(st.binary(max_size=3))
    with contextlib.suppress(programs.Malformed):
        programs.materialize(programs.read(bytes(changed)), plain)


@settings(max_examples=300, deadline=None)
@given(st.text(alphabet="xn tl.()[]=:,+-*'\"\\#\n_1floadcreturnifpass", max_size=120))
def test_random_text_is_refused_or_read(text: str) -> None:
    """Any statement in a kernel raises Malformed, or gives the function that was checked."""
    changed = Program()
    function = changed.functions.add(name="f", file=FILE, line=5, source=f"def f(x, n):\n    {text}\n")
    function.globals["tl"].imported = "triton.language"
    try:
        made_function = programs.materialize(changed, plain)[0]
    except programs.Malformed:
        return
    assert made_function.__code__.co_firstlineno == 5
