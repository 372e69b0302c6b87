"""Host code: the launcher of `hip-abi`, and the torch extension of `hip-torch` around it."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence

from svc_generator.rules import sizes
from svc_generator.rules.graph import FLOATS, Graph, Size, Varying
from svc_generator.rules.kernels import Kernel
from svc_generator.rules.program import Buffer, Program
from svc_generator.rules.render import CPP

_TORCH = {
    "float16": "torch::kFloat16", "bfloat16": "torch::kBFloat16", "float32": "torch::kFloat32",
    "float64": "torch::kFloat64", "int64": "torch::kInt64", "int32": "torch::kInt32", "int16": "torch::kInt16",
    "int8": "torch::kInt8", "uint8": "torch::kUInt8", "bool": "torch::kBool",
}  # fmt: skip
_MAX_ROW_BLOCKS = 65536


@dataclasses.dataclass(frozen=True)
class Launcher:
    """One launcher with the kernels that it starts, in order."""

    dtype: str
    program: Program
    kernels: Sequence[Kernel]

    @property
    def name(self) -> str:
        return "run" if self.dtype == "float32" else f"run_{self.dtype}"


def known_sizes(graph: Graph) -> sizes.Sizes:
    """What every launcher gets: the sizes of its tensors and its scalars."""
    known = sizes.Sizes(graph.case_count)
    for position, number in enumerate(graph.inputs):
        for axis, dim in enumerate(graph.nodes[number].dims):
            if len(set(dim)) > 1 or dim[0] > 16:
                known.define(dim, f"in{position}_{axis}")
    for position, value in enumerate(graph.scalars):
        if isinstance(value, tuple):
            known.define(value, f"scalar{position}")
        if isinstance(value, tuple | Varying):
            known.define_float(value if isinstance(value, tuple) else value.values, f"double(scalar{position})")
    for node in graph.nodes:
        known.describe(node.dims)
    return known


def scalar_types(graph: Graph) -> list[str]:
    """The C++ types of the call's scalars."""
    firsts = [v.values[0] if isinstance(v, Varying) else v[0] if isinstance(v, tuple) else v for v in graph.scalars]
    return ["bool" if isinstance(v, bool) else "int64_t" if isinstance(v, int) else "double" for v in firsts]


def dtype_of_call(graph: Graph, case: int) -> str:
    """The dtype that names a case's launcher: that of the first floating-point tensor."""
    dtypes = (graph.nodes[number].dtypes[case] for number in graph.inputs)
    return next((dtype for dtype in dtypes if dtype in FLOATS), "float32")


def abi(launcher: Launcher, graph: Graph, known: sizes.Sizes, *, linkage: str = 'extern "C"') -> str:
    """The launcher: inputs, scalars, sizes, outputs, stream."""
    program = launcher.program
    parameters = [f"const {CPP[b.dtype]}* {b.name}" for b in program.inputs]
    parameters += [f"{kind} scalar{i}" for i, kind in enumerate(scalar_types(graph))]
    parameters += [f"int64_t {b.name}_{axis}" for b in program.inputs for axis in range(len(b.dims))]
    parameters += [f"{CPP[b.dtype]}* {b.name}" for b in program.outputs]
    scratch = _scratch(launcher.kernels)
    lines = [f"{linkage} void {launcher.name}({', '.join([*parameters, 'hipStream_t stream'])}) {{"]
    for buffer in scratch:
        lines.append(f"    {CPP[buffer.dtype]}* {buffer.name} = nullptr;")
        lines.append(
            f"    (void)hipMallocAsync(reinterpret_cast<void**>(&{buffer.name}), "
            f"sizeof({CPP[buffer.dtype]}) * ({known.expression(program.numel(buffer.dims))}), stream);"
        )
    lines += [_launch(kernel, known) for kernel in launcher.kernels]
    lines += [f"    (void)hipFreeAsync({buffer.name}, stream);" for buffer in scratch]
    return "\n".join([*lines, "}"]) + "\n"


def _scratch(kernels: Sequence[Kernel]) -> list[Buffer]:
    return [b for kernel in kernels for b in kernel.arguments.writes if b.role == "scratch"]


def _launch(kernel: Kernel, known: sizes.Sizes) -> str:
    grid = " * ".join(_blocks(size, per, known) for size, per in kernel.work)
    if kernel.batch is not None and not sizes.is_one(kernel.batch):
        batch = known.expression(kernel.batch)
        grid = f"dim3({grid}, {batch} < 65535 ? {batch} : 65535)"
    elif len(kernel.work) == 1 and kernel.work[0][1] == 1:
        grid = f"({grid}) < {_MAX_ROW_BLOCKS} ? ({grid}) : {_MAX_ROW_BLOCKS}"
    given = [b.name for b in (*kernel.arguments.reads, *kernel.arguments.writes)]
    given += [f"index_t({known.expression(size)})" for size in kernel.arguments.sizes]
    given += [f"{CPP[dtype]}({known.float_expression(v)})" for dtype, v in kernel.arguments.numbers]
    return f"    {kernel.name}<<<{grid}, {kernel.threads}, 0, stream>>>({', '.join(given)});"


def _blocks(size: Size, per: int, known: sizes.Sizes) -> str:
    expression = known.expression(size)
    return f"({expression})" if per == 1 else f"ceil_div({expression}, {per})"


def torch_extension(launchers: Sequence[Launcher], graph: Graph, known: sizes.Sizes) -> str:
    """`forward`: makes inputs contiguous and outputs empty, and picks the launcher by dtype."""
    first = launchers[0].program
    tensors = [b.name for b in first.inputs]
    kinds = scalar_types(graph)
    parameters = [f"torch::Tensor {name}" for name in tensors] + [f"{k} scalar{i}" for i, k in enumerate(kinds)]
    result = "torch::Tensor" if len(first.outputs) == 1 else "std::vector<torch::Tensor>"
    lines = [f"{result} forward({', '.join(parameters)}) {{"]
    lines += [f"    {name} = {name}.contiguous();" for name in tensors]
    for buffer in first.inputs:
        lines += [f"    const int64_t {buffer.name}_{a} = {buffer.name}.size({a});" for a in range(len(buffer.dims))]
    lines.append("    hipStream_t stream = at::hip::getCurrentHIPStream();")
    deciding = next(
        (i for i, b in enumerate(first.inputs) if b.dtype in FLOATS),
        0,
    )
    for position, launcher in enumerate(launchers):
        last = position == len(launchers) - 1
        test = f"if ({tensors[deciding]}.scalar_type() == {_TORCH[launcher.dtype]}) "
        lines.append(f"    {'' if last else test}{{")
        lines += _call(launcher, kinds, known)
        lines.append("    }")
    lines += ["}", "", "PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) {", '    m.def("forward", &forward);', "}"]
    return "\n".join(lines) + "\n"


def _call(launcher: Launcher, kinds: Sequence[str], known: sizes.Sizes) -> list[str]:
    program = launcher.program
    lines = []
    for buffer in program.outputs:
        dims = ", ".join(f"int64_t({known.expression(dim)})" for dim in buffer.returned)
        options = f"{program.inputs[0].name}.options().dtype({_TORCH[buffer.dtype]})"
        lines.append(f"        torch::Tensor {buffer.name} = torch::empty({{{dims}}}, {options});")
    given = [f"reinterpret_cast<const {CPP[b.dtype]}*>({b.name}.data_ptr())" for b in program.inputs]
    given += [f"scalar{i}" for i in range(len(kinds))]
    given += [f"{b.name}_{axis}" for b in program.inputs for axis in range(len(b.dims))]
    given += [f"reinterpret_cast<{CPP[b.dtype]}*>({b.name}.data_ptr())" for b in program.outputs]
    lines.append(f"        {launcher.name}({', '.join([*given, 'stream'])});")
    names = ", ".join(b.name for b in program.outputs)
    lines.append(f"        return {names};" if len(program.outputs) == 1 else f"        return {{{names}}};")
    return lines
