"""The text of a Triton function: one plain `def` that can only compute.

Foreign text. The compiler walks it and follows attributes as Python would, and the interpreter runs it as Python, so
that what it may say is a list of what kernels need, never a list of what is bad.
"""

from __future__ import annotations

import ast
import builtins
import functools
import re
import threading
from collections.abc import Mapping
from typing import NamedTuple

from kernelvault.replay.triton.malformed import Malformed, SourceError, require
from kernelvault.v1 import triton_pb2

MAX_SOURCE_CHARACTERS = 64 << 10
MAX_LINE = 1 << 17
_PARSING = threading.Lock()
# Python's own functions that a kernel may call.
BUILTINS = frozenset({"abs", "bool", "float", "int", "len", "list", "max", "min", "print", "range", "tuple"})
_PYTHONS = frozenset(dir(builtins))
_FILE = re.compile(r"[\w<>@+=., -][\w<>@+=./, -]{0,511}")
_STATEMENTS = (ast.Return, ast.Assign, ast.AugAssign, ast.AnnAssign, ast.For, ast.While, ast.If, ast.Expr)
_EXPRESSIONS = (ast.BoolOp, ast.BinOp, ast.UnaryOp, ast.IfExp, ast.ListComp, ast.Compare, ast.Call, ast.JoinedStr)
_ATOMS = (ast.FormattedValue, ast.Constant, ast.Attribute, ast.Subscript, ast.Name, ast.List, ast.Tuple, ast.Slice)
_PARTS = (ast.expr_context, ast.boolop, ast.operator, ast.unaryop, ast.cmpop, ast.comprehension, ast.keyword)
# `break` and the like are no part of Triton's language either, but harmless: its compiler says so best.
_HARMLESS = (ast.Pass, ast.Assert, ast.Break, ast.Continue, ast.Starred)
_ALLOWED = (*_STATEMENTS, *_EXPRESSIONS, *_ATOMS, *_PARTS, *_HARMLESS)
_IN_DEFAULTS = (ast.Constant, ast.Name, ast.Attribute, ast.UnaryOp, ast.unaryop, ast.Tuple, ast.expr_context, ast.Call)
_CONSTANTS = (bool, int, float, str, type(None))
# What may be asked of a value: the public methods and fields of Triton's tensors, descriptors, dtypes and constants.
_VALUE_ATTRIBUTES = """
    ALL NONE T abs advance argmax argmin associative_scan atomic_add atomic_and atomic_cas atomic_max atomic_min
    atomic_or atomic_xchg atomic_xor bitcast block_shape block_type broadcast_to cast cdiv ceil cos cumprod cumsum
    dtype element_ty erf exp exp2 expand_dims exponent_bias flip floor fp_mantissa_width gather get_block_shapes
    get_int_max_value get_int_min_value histogram int_bitwidth int_signedness is_bf16 is_block is_bool is_floating
    is_fp16 is_fp32 is_fp64 is_fp8 is_fp8e4b15 is_fp8e4b8 is_fp8e4nv is_fp8e5 is_fp8e5b16 is_int is_int1 is_int16
    is_int32 is_int64 is_int8 is_int_signed is_int_unsigned is_ptr is_standard_floating is_uint16 is_uint32
    is_uint64 is_uint8 item itemsize load log log2 logical_and logical_or max min name nbytes ndim numel permute
    primitive_bitwidth ravel reduce reduce_or reshape rsqrt scalar scatter shape sigmoid sin softmax sort split sqrt
    sqrt_rn store strides sum to trans type value view xor_sum
"""
VALUE_ATTRIBUTES = frozenset(_VALUE_ATTRIBUTES.split())


class Reference(NamedTuple):
    """A use of something imported: a global name, and the attributes that follow it."""

    name: str
    attributes: tuple[str, ...]
    line: int
    column: int
    # It is called in a default value: only `tl.constexpr` may be.
    in_default: bool = False


class Definition(NamedTuple):
    """A checked `def`."""

    node: ast.FunctionDef
    parameters: list[str]
    references: list[Reference]


def parse(function: triton_pb2.TritonProgram.Function, field: str) -> Definition:
    """The `def` of a function.

    Raises Malformed, SourceError among it, for anything but a single plain `def` of the declared name whose statements,
    names and attributes are those that kernels may use. `imported` checks what its references reach.
    """
    _check_place(function, field)
    node = _single_def(function, field)
    walker = _Walker(function, field, node)
    walker.check()
    return Definition(node, [argument.arg for argument in node.args.args], walker.references)


def error(function: triton_pb2.TritonProgram.Function, field: str, line: int, column: int, problem: str) -> SourceError:
    """A fault at a line of the `def`, counted from 1, told in terms of the author's file."""
    where = function.line + line - 1
    return SourceError(f"{field}.source", problem, file=function.file, line=where, column=column + 1)


def _check_place(function: triton_pb2.TritonProgram.Function, field: str) -> None:
    require(is_name(function.name), f"{field}.name", f"{function.name!r} is not a plain name")
    parts = function.file.split("/")
    plain = bool(_FILE.fullmatch(function.file)) and ".." not in parts and parts[0] != ""
    require(plain, f"{field}.file", f"{function.file[:80]!r} is not a relative path")
    require(0 < function.line <= MAX_LINE, f"{field}.line", f"is {function.line}")
    size = len(function.source)
    require(
        size <= MAX_SOURCE_CHARACTERS, f"{field}.source", f"{size} characters are more than {MAX_SOURCE_CHARACTERS}"
    )
    control = re.search(r"[\0\r\f\v\x1c-\x1e\x85\u2028\u2029]", function.source)
    require(control is None, f"{field}.source", "holds a control character; end its lines with \\n")


def is_name(text: str) -> bool:
    """Whether foreign code may use a name: Python keeps those in two underscores, the interpreter those in `_kv_`."""
    return text.isidentifier() and text.isascii() and not text.startswith(("__", "_kv_")) and len(text) <= 256


def tree_of(text: str) -> ast.Module:
    """As `ast.parse`, one thread at a time: Python 3.11 counts the depth of all threads in one place."""
    with _PARSING:
        return ast.parse(text)


def _single_def(function: triton_pb2.TritonProgram.Function, field: str) -> ast.FunctionDef:
    where = f"{field}.source"
    try:
        body = tree_of(function.source).body
    except SyntaxError as caught:
        line, column = caught.lineno or 1, max(1, caught.offset or 1)
        raise error(function, field, line, column - 1, f"is no Python: {caught.msg}") from None
    except (ValueError, RecursionError, MemoryError) as caught:
        raise Malformed(where, f"is no Python: {type(caught).__name__}") from None
    node = body[0] if len(body) == 1 else None
    if not isinstance(node, ast.FunctionDef) or (node.lineno, node.col_offset) != (1, 0):
        raise Malformed(where, "is not a single `def` from its first character on")
    require(not node.decorator_list, where, "has decorators")
    require(node.name == function.name, f"{field}.name", f"{function.name!r} is not the name of the `def`")
    return node


class _Walker:
    """Goes over every node of a `def` without recursion."""

    def __init__(self, function: triton_pb2.TritonProgram.Function, field: str, node: ast.FunctionDef) -> None:
        self._function = function
        self._field = field
        self._node = node
        self._globals: Mapping[str, triton_pb2.TritonProgram.Value] = function.globals
        self._locals = {argument.arg for argument in node.args.args}
        self._called: set[int] = set()
        self.references: list[Reference] = []

    def check(self) -> None:
        self._check_parameters()
        body = [node for statement in self._node.body for node in ast.walk(statement)]
        for node in body:
            self._check_kind(node, _ALLOWED, "kernels")
        self._locals |= {n.id for n in body if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)}
        defaults = [node for default in self._node.args.defaults for node in ast.walk(default)]
        for node in defaults:
            self._check_kind(node, _IN_DEFAULTS, "default values")
            if isinstance(node, ast.Call):
                self._check_default_call(node)
        self._check_names(body, self._locals)
        # A default is evaluated outside of the function.
        self._check_names(defaults, frozenset())

    def _refuse(self, node: ast.AST, problem: str) -> SourceError:
        line, column = getattr(node, "lineno", 1), getattr(node, "col_offset", 0)
        return error(self._function, self._field, line, column, problem)

    def _check_parameters(self) -> None:
        arguments = self._node.args
        if arguments.posonlyargs or arguments.kwonlyargs or arguments.vararg or arguments.kwarg:
            raise self._refuse(self._node, "kernels take plain parameters only: no `*`, `/` or `**` among them")
        for argument in arguments.args:
            if not is_name(argument.arg):
                raise self._refuse(argument, f"the parameter {argument.arg!r} is not a plain name")

    def _check_kind(self, node: ast.AST, allowed: tuple[type[ast.AST], ...], where: str) -> None:
        if not _is_among(type(node), allowed):  # type: ignore[arg-type]  # types are hashable
            raise self._refuse(node, f"`{type(node).__name__}` is not part of Triton's language for {where}")
        if isinstance(node, ast.Constant) and not isinstance(node.value, _CONSTANTS):
            raise self._refuse(node, f"a constant of type {type(node.value).__name__} has no meaning in a kernel")
        if isinstance(node, ast.keyword) and (node.arg is None or node.arg.startswith("_")):
            raise self._refuse(node, f"the keyword argument {node.arg or '**'!r} is not allowed in a kernel")
        if isinstance(node, ast.comprehension) and node.is_async:
            raise self._refuse(self._node, "`async` is not part of Triton's language")

    def _check_default_call(self, node: ast.Call) -> None:
        root = _chain(node.func)[0]
        if len(node.args) != 1 or node.keywords or root is None or not self._imports(root, frozenset()):
            raise self._refuse(node, "a default value calls nothing but `tl.constexpr`, with one argument")
        self._called.add(id(node.func))

    def _refer(self, node: ast.expr, root: ast.Name, attributes: list[str]) -> None:
        called = id(node) in self._called
        self.references.append(Reference(root.id, tuple(attributes), node.lineno, node.col_offset, called))

    def _check_names(self, nodes: list[ast.AST], local: frozenset[str] | set[str]) -> None:
        within = {id(node.value) for node in nodes if isinstance(node, ast.Attribute)}
        for node in nodes:
            if isinstance(node, ast.Name):
                self._check_name(node, local)
                if id(node) not in within and self._imports(node, local):
                    self._refer(node, node, [])
            elif isinstance(node, ast.Attribute) and id(node) not in within:
                self._check_attributes(node, local)

    def _check_name(self, node: ast.Name, local: frozenset[str] | set[str]) -> None:
        if not is_name(node.id):
            raise self._refuse(node, f"the name {node.id[:80]!r} is not allowed in a kernel")
        if self._unknown(node, local) and (node.id in _PYTHONS or node.id == self._function.name):
            raise self._refuse(node, f"`{node.id}` is not for kernels")

    def _unknown(self, node: ast.Name, local: frozenset[str] | set[str]) -> bool:
        """Whether a name stands for nothing, and raises NameError where it is used; branches that never run may."""
        return node.id not in local and node.id not in self._globals and node.id not in BUILTINS

    def _check_attributes(self, node: ast.Attribute, local: frozenset[str] | set[str]) -> None:
        """Of the outermost attribute of a chain such as `a.b.c`: all of it."""
        root, attributes = _chain(node)
        if not isinstance(node.ctx, ast.Load):
            raise self._refuse(node, "a kernel sets no attributes")
        if any(name.startswith("_") for name in attributes):
            raise self._refuse(node, f"the attribute `{'.'.join(attributes)[:80]}` is not allowed in a kernel")
        if root is not None and self._imports(root, local):
            self._refer(node, root, attributes)
            return
        strange = next((name for name in attributes if name not in VALUE_ATTRIBUTES), None)
        if strange is not None and (root is None or not self._unknown(root, local)):
            raise self._refuse(node, f"the attribute `{strange[:80]}` is not one of Triton's values")

    def _imports(self, root: ast.Name, local: frozenset[str] | set[str]) -> bool:
        return (
            root.id not in local
            and root.id in self._globals
            and self._globals[root.id].WhichOneof("value") == "imported"
        )


@functools.cache
def _is_among(kind: type[ast.AST], allowed: tuple[type[ast.AST], ...]) -> bool:
    return issubclass(kind, allowed)


def _chain(node: ast.expr) -> tuple[ast.Name | None, list[str]]:
    """The name at the root of `a.b.c`, if it is one, and the attributes in order."""
    attributes: list[str] = []
    value = node
    while isinstance(value, ast.Attribute):
        attributes.append(value.attr)
        value = value.value
    return (value if isinstance(value, ast.Name) else None), attributes[::-1]
