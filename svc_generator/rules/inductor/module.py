"""The candidate's text: imports, helpers, kernels, and `module_fn`, which allocates and launches."""

from __future__ import annotations

import ast
import copy
import dataclasses
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from svc_generator.rules.inductor import helpers, launches, merge
from svc_generator.rules.inductor.names import Names
from svc_generator.rules.inductor.variants import Variant
from svc_generator.rules.inductor.wrapper import Allocation, Program

_INDENT = "    "
_FLOATS = {"fp16": "float16", "bf16": "bfloat16", "fp32": "float32"}


@dataclasses.dataclass
class Group:
    """What the cases of one combination of dtypes are lowered to."""

    # Of the input tensors.
    dtypes: list[str]
    program: Program


@dataclasses.dataclass
class Signature:
    """How the candidate is called and what it returns."""

    names: Names
    # The order of tensors and scalars, as the task has them.
    parameters: list[str]
    # Each tensor's sizes, as numbers and names.
    shapes: list[list[str]]
    sequence: bool
    title: str


@dataclasses.dataclass
class _Written:
    """Host code and kernels of one combination of dtypes, or of several."""

    # One element a combination: the tensors' dtypes, and whether float32 is the only floating-point type.
    dtypes: list[list[str]]
    wide: list[bool]
    kernels: list[ast.FunctionDef]
    # For each kernel what its pointers point to, in each combination.
    pointers: list[dict[str, list[str]]]
    body: list[ast.stmt]
    returned: list[str]


def render(groups: Sequence[Group], signature: Signature, variant: Variant, dense: Callable[[Allocation], bool]) -> str:
    """The module; groups that differ in dtypes only share their kernels."""
    combines: dict[str, ast.FunctionDef] = {}
    used: set[str] = set()
    clusters: list[list[_Written]] = []
    for group in groups:
        for kernel in group.program.kernels.values():
            combines |= kernel.combines
            used |= kernel.helpers
        _join(clusters, _write(group, signature, variant, dense), signature.names)
    written = [merged for cluster in clusters if (merged := _merged(cluster, signature.names))]
    functions = [*helpers.collect(used).values(), *combines.values()]
    functions += [kernel for one in _numbered(written) for kernel in one.kernels]
    host = _host(written, signature)
    parts = [_head(signature, variant, functions, host)]
    parts += [f"@triton.jit\n{_text(function)}\n" for function in functions]
    return "\n\n".join([*parts, *host])


def _write(group: Group, signature: Signature, variant: Variant, dense: Callable[[Allocation], bool]) -> _Written:
    kernels, body = launches.write(group.program, signature.names, variant, dense)
    signatures = {kernel.function.name: kernel.signature for kernel in group.program.kernels.values()}
    pointers = [
        {name: [_FLOATS.get(type_[1:], "")] for name, type_ in signatures[kernel.name].items() if type_[0] == "*"}
        for kernel in kernels
    ]
    types = {type_.strip("*") for kernel in group.program.kernels.values() for type_ in kernel.signature.values()}
    wide = not types & {"fp16", "bf16", "fp64"}
    return _Written([group.dtypes], [wide], kernels, pointers, body, launches.returned(group.program))


def _join(clusters: list[list[_Written]], one: _Written, names: Names) -> None:
    """Adds to the first cluster with which it merges, or to a new one."""
    for cluster in clusters:
        if _merged([*cluster, one], names) is not None:
            cluster.append(one)
            return
    clusters.append([one])


def _merged(cluster: Sequence[_Written], names: Names) -> _Written | None:
    """One for the dtypes of all, or None where they differ in more."""
    first = cluster[0]
    if any(len(one.kernels) != len(first.kernels) or one.returned != first.returned for one in cluster):
        return None
    dtypes = [given for one in cluster for given in one.dtypes]
    wide = [given for one in cluster for given in one.wide]
    tensors = dict(zip([f"{name}.dtype" for name in names.tensors], zip(*dtypes, strict=True), strict=True))
    try:
        kernels = []
        for position, versions in enumerate(zip(*(one.kernels for one in cluster), strict=True)):
            pointers = [one.pointers[position] for one in cluster]
            known = {
                f"{name}.dtype.element_ty": tuple(given.get(name, [""])[0] for given in pointers)
                for name in pointers[0]
            }
            kernels.append(_merge(versions, known, wide))
        body = _merge([ast.Module(one.body, []) for one in cluster], tensors, wide)
    except merge.Different:
        return None
    return _Written(dtypes, wide, kernels, first.pointers, body.body, first.returned)


def _merge(trees: Sequence[Any], known: Mapping[str, tuple[str, ...]], wide: Sequence[bool]) -> Any:
    """Merged copies; `known` are expressions of a dtype with its value in each of the trees."""

    def resolve(dtypes: tuple[str, ...]) -> ast.expr | None:
        found = next((text for text, values in known.items() if values == dtypes), None)
        return None if found is None else ast.parse(found, mode="eval").body

    return merge.merge([copy.deepcopy(tree) for tree in trees], resolve, wide=wide)


def _numbered(written: list[_Written]) -> list[_Written]:
    """Kernels of dtypes that share none are called apart."""
    if len(written) == 1:
        return written
    for one in written:
        suffix = "_".join(dict.fromkeys(next((d for d in dtypes if "float" in d), dtypes[0]) for dtypes in one.dtypes))
        renamed = {kernel.name: f"{kernel.name}_{suffix}" for kernel in one.kernels}
        for kernel in one.kernels:
            kernel.name = renamed[kernel.name]
        for node in ast.walk(ast.Module(one.body, [])):
            if isinstance(node, ast.Name) and node.id in renamed:
                node.id = renamed[node.id]
    return written


def _host(written: list[_Written], signature: Signature) -> list[str]:
    """`module_fn`, and a function for each combination of dtypes where they share no kernels."""
    names = signature.names
    parameters = ", ".join(signature.parameters)
    opening = [f"{name} = {name}.contiguous()" for name in names.tensors]
    if len(written) == 1:
        body = [*opening, *_body(written[0], signature)]
        return [_function("module_fn", parameters, body)]
    functions = []
    branches: list[str] = []
    for position, one in enumerate(written):
        name = f"_call{position}"
        functions.append(_function(name, parameters, [*opening, *_body(one, signature)]))
        tests = [
            " and ".join(f"{names.tensors[p]}.dtype == torch.{given[p]}" for p in _deciding(written))
            for given in one.dtypes
        ]
        branches += [f"if {' or '.join(dict.fromkeys(tests))}:", f"{_INDENT}return {name}({parameters})"]
    branches.append("raise TypeError('there are no kernels for tensors of these dtypes')")
    return [*functions, _function("module_fn", parameters, branches)]


def _deciding(written: list[_Written]) -> list[int]:
    """Tensors whose dtypes differ between the groups, one for each kind of difference."""
    columns = list(zip(*(dtypes for one in written for dtypes in one.dtypes), strict=True))
    found = {column: position for position, column in reversed(list(enumerate(columns))) if len(set(column)) > 1}
    return sorted(found.values())


def _body(one: _Written, signature: Signature) -> list[str]:
    """Definitions of the sizes that are used, then the statements."""
    names = signature.names
    lines = [_spell(statement) for statement in one.body]
    checks = [
        f"assert {tensor}.shape == ({', '.join(shape)}{',' if len(shape) == 1 else ''})"
        for tensor, shape in zip(names.tensors, signature.shapes, strict=True)
        if any(f"{tensor}.size({axis})" != names.definitions.get(dim) for axis, dim in enumerate(shape))
    ]
    used = {node.id for line in [*lines, *checks] for node in ast.walk(ast.parse(line)) if isinstance(node, ast.Name)}
    sizes = [f"{name} = {text}" for name, text in names.definitions.items() if name in used]
    result = ", ".join(one.returned)
    if signature.sequence:
        result = f"({result}{',' if len(one.returned) == 1 else ''})"
    return [*sizes, *checks, *lines, f"return {result}"]


def _spell(statement: ast.stmt) -> str:
    """The statement, with parentheses around a grid."""
    return re.sub(r"^(\w+)\[(?!grid_2d)(.*?)\](?=\()", r"\1[(\2)]", ast.unparse(statement))


def _function(name: str, parameters: str, body: Sequence[str]) -> str:
    lines = [f"{_INDENT}{line}" for statement in body for line in statement.splitlines()]
    return "\n".join([f"def {name}({parameters}):", *lines]) + "\n"


def _head(signature: Signature, variant: Variant, functions: Sequence[ast.FunctionDef], host: Sequence[str]) -> str:
    title = signature.title.replace("\\", "").replace('"', "")
    lines = [f'"""{title}: Triton from TorchInductor, {variant.name}."""', "", "import torch", "import triton"]
    lines.append("import triton.language as tl")
    if any(isinstance(node, ast.Name) and node.id == "libdevice" for f in functions for node in ast.walk(f)):
        lines.append("from triton.language.extra import libdevice")
    if any("grid_2d(" in text for text in host):
        lines += ["", launches.GRID_2D.rstrip()]
    return "\n".join(lines) + "\n"


def _text(function: ast.FunctionDef) -> str:
    return ast.unparse(ast.fix_missing_locations(function))
