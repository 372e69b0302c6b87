"""Host code of one program: the sizes that it needs, its allocations and its launches."""

from __future__ import annotations

import ast
from collections.abc import Callable, Sequence

from svc_generator.rules.graph import NotLowerable
from svc_generator.rules.inductor import kernels, variants
from svc_generator.rules.inductor.kernels import Kernel
from svc_generator.rules.inductor.names import Names, kernel_names
from svc_generator.rules.inductor.variants import Variant
from svc_generator.rules.inductor.wrapper import Allocation, Launch, Number, Program, Step, View

_MAX_BLOCKS = 65535
GRID_2D = f'''
def grid_2d(x, y):
    """Programs beyond what the second dimension of a grid holds go to the third."""
    z = triton.cdiv(y, {_MAX_BLOCKS})
    return (x, triton.cdiv(y, max(z, 1)), z)
'''


def write(
    program: Program, names: Names, variant: Variant, dense: Callable[[Allocation], bool]
) -> tuple[list[ast.FunctionDef], list[ast.stmt]]:
    """Kernels, renamed for their launches, and the statements that launch them.

    `dense` tells whether an allocation is contiguous. The program is changed in place.
    """
    called = kernel_names([step.kernel for step in program.steps if isinstance(step, Launch)])
    tensors = _tensor_names(program)
    device = f"{names.tensors[0]}.device" if names.tensors else "'cuda'"
    lines: list[str] = []
    functions: dict[str, ast.FunctionDef] = {}
    for step in program.steps:
        if isinstance(step, Allocation):
            lines.append(_allocation(step, tensors, device, dense(step)))
        elif isinstance(step, View):
            arguments = f"{_tuple(step.sizes)}, {_tuple(step.strides)}, {ast.unparse(step.offset)}"
            lines.append(f"{step.name} = {tensors.get(step.base, step.base)}.as_strided({arguments})")
        elif isinstance(step, Number):
            lines.append(f"{step.name} = {ast.unparse(step.value)}")
        else:
            kernel = program.kernels[step.kernel]
            spelled = [_spell(argument, tensors) for argument in step.arguments]
            if step.kernel not in functions:
                _rename_parameters(kernel, spelled)
                kernel.function.name = called[step.kernel]
                functions[step.kernel] = kernel.function
            lines += _launch(kernel, spelled, variant)
    return list(functions.values()), ast.parse("\n".join(lines)).body


def returned(program: Program) -> list[str]:
    """The names of what the host code returns."""
    tensors = _tensor_names(program)
    return [tensors.get(name, name) for name in program.returned]


def _tensor_names(program: Program) -> dict[str, str]:
    """`out` for what is returned; the others are scratch."""
    single = len(program.returned) == 1
    names = {name: "out" if single else f"out{i}" for i, name in enumerate(program.returned)}
    for step in program.steps:
        if isinstance(step, Allocation) and step.name not in names:
            names[step.name] = f"scratch{len(names) - len(program.returned)}"
    return names


def _spell(argument: ast.expr, tensors: dict[str, str]) -> str:
    text = ast.unparse(argument)
    return tensors.get(text, text)


def _tuple(items: Sequence[ast.expr]) -> str:
    return f"({', '.join(ast.unparse(item) for item in items)}{',' if len(items) == 1 else ''})"


def _allocation(step: Allocation, tensors: dict[str, str], device: str, dense: bool) -> str:
    name, dtype = tensors[step.name], ast.unparse(step.dtype)
    if dense:
        return f"{name} = torch.empty({_tuple(step.sizes)}, dtype={dtype}, device={device})"
    strides = _tuple(step.strides)
    return f"{name} = torch.empty_strided({_tuple(step.sizes)}, {strides}, dtype={dtype}, device={device})"


def _rename_parameters(kernel: Kernel, arguments: Sequence[str]) -> None:
    """Pointers are called after their tensors, sizes after what they are."""
    taken = {node.id for node in ast.walk(kernel.function) if isinstance(node, ast.Name)} | set(kernel.parameters)
    renamed: dict[str, str] = {}
    for parameter, argument in zip(kernel.parameters, arguments, strict=False):
        if kernel.signature[parameter].startswith("*"):
            wanted = f"{argument}_ptr"
        elif parameter.startswith(("ks", "zf")) and argument.isidentifier():
            wanted = argument
        else:
            wanted = parameter.replace("ks", "size") if parameter.startswith("ks") else parameter
        if wanted != parameter and wanted not in taken and wanted not in renamed.values():
            renamed[parameter] = wanted
    kernels.rename(kernel.function, renamed)
    kernel.signature = {renamed.get(name, name): type_ for name, type_ in kernel.signature.items()}


def _launch(kernel: Kernel, arguments: Sequence[str], variant: Variant) -> list[str]:
    sizes = dict(zip(kernel.parameters, arguments, strict=False))
    lines, options = variants.launch(variant, kernel, sizes)
    given = ", ".join([*arguments, *(f"{name}={value}" for name, value in options.items())])
    return [*lines, f"{kernel.function.name}[{_grid(kernel.grid, sizes, options)}]({given})"]


def _grid(kind: str, sizes: dict[str, str], options: dict[str, str]) -> str:
    def blocks(axis: str) -> str:
        size, block = sizes[f"{axis}numel"], options[f"{axis.upper()}BLOCK"]
        if size.isdigit() and block.isdigit():
            return str(-(-int(size) // int(block)))
        return size if block == "1" else f"triton.cdiv({size}, {block})"

    if kind == "Grid1D":
        return f"({blocks('x')},)"
    if kind == "Grid2D":
        return f"({blocks('x')}, {blocks('y')})"
    if kind == "Grid2DWithYZOverflow":
        return f"grid_2d({blocks('x')}, {blocks('y')})"
    if kind == "Grid3D":
        return f"({blocks('x')}, {blocks('y')}, {blocks('z')})"
    if kind == "BatchMatmulGrid3D":
        return f"({blocks('z')}, {blocks('y')}, {blocks('x')})"
    raise NotLowerable(kind, "there is no rule for a grid of this kind")


__all__ = ["GRID_2D", "Step", "returned", "write"]
