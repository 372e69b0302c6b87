"""The call signature of a task as docs/candidates.md defines it, and its visible cases, as text."""

from __future__ import annotations

import re
from collections.abc import Sequence

from kernelvault.v1.kernel_pb2 import Candidate, Case, Parameter, Task

_CPP_TYPES = {
    "float32": "float",
    "float64": "double",
    "float16": "__half",
    "bfloat16": "__hip_bfloat16",
    "int64": "int64_t",
    "int32": "int32_t",
    "int16": "int16_t",
    "int8": "int8_t",
    "uint8": "uint8_t",
    "bool": "bool",
}
_SCALARS = {"int_value": "int64_t", "float_value": "double", "bool_value": "bool"}
_PYTHON_TYPES = {"tensor": "torch.Tensor", "int_value": "int", "float_value": "float", "bool_value": "bool"}
_MOST_CASES = 24


def visible(task: Task) -> list[Case]:
    """The cases that an author may know of."""
    return [case for case in task.cases if not case.hidden]


def render(task: Task, format_: Candidate.Format) -> str:
    """The functions that a candidate must define, one for each way in which the visible cases call it."""
    declare = {Candidate.HIP_ABI: _launcher, Candidate.HIP_TORCH: _extension}.get(format_, _module)
    declared = dict.fromkeys(declare(case) for case in visible(task))
    return "\n".join(declared)


def table(task: Task) -> str:
    """The visible cases: what is passed and what must come back."""
    cases = visible(task)
    lines = [_case_line(case) for case in cases[:_MOST_CASES]]
    if len(cases) > _MOST_CASES:
        lines.append(f"- and {len(cases) - _MOST_CASES} more of the same kind")
    return "\n".join(lines)


def _launcher(case: Case) -> str:
    names = _names(case.parameters)
    tensors = [(name, one) for name, one in zip(names, case.parameters, strict=True) if one.HasField("tensor")]
    scalars = [(name, one) for name, one in zip(names, case.parameters, strict=True) if not one.HasField("tensor")]
    outputs = _names(case.outputs, taken=names, default="out")
    parts = [f"const {_cpp(one)}* {name}" for name, one in tensors]
    parts += [f"{_scalar(one)} {name}" for name, one in scalars]
    parts += [f"int64_t {name}_{dim}" for name, one in tensors for dim in range(len(one.tensor.dims))]
    parts += [f"{_cpp(one)}* {name}" for name, one in zip(outputs, case.outputs, strict=True)]
    return f'extern "C" void run{_suffix(case)}({", ".join([*parts, "hipStream_t stream"])});'


def _extension(case: Case) -> str:
    names = _names(case.parameters)
    parts = [
        f"torch::Tensor {name}" if one.HasField("tensor") else f"{_scalar(one)} {name}"
        for name, one in zip(names, case.parameters, strict=True)
    ]
    result = "torch::Tensor" if len(case.outputs) == 1 and not case.returns_sequence else "std::vector<torch::Tensor>"
    return f"{result} forward({', '.join(parts)});"


def _module(case: Case) -> str:
    pairs = zip(_names(case.parameters), case.parameters, strict=True)
    parts = [f"{name}: {_PYTHON_TYPES[one.WhichOneof('value') or 'tensor']}" for name, one in pairs]
    single = len(case.outputs) == 1 and not case.returns_sequence
    result = "torch.Tensor" if single else f"tuple[{', '.join(['torch.Tensor'] * len(case.outputs))}]"
    return f"def module_fn({', '.join(parts)}) -> {result}: ..."


def _suffix(case: Case) -> str:
    """`run` serves float32; other dtypes of the first floating-point tensor have launchers of their own."""
    dtypes = [one.tensor.dtype for one in case.parameters if one.HasField("tensor")]
    first = next((dtype for dtype in dtypes if "float" in dtype), "float32")
    return "" if first == "float32" else f"_{first}"


def _cpp(parameter: Parameter) -> str:
    return _CPP_TYPES.get(parameter.tensor.dtype, f"/* {parameter.tensor.dtype} */ void")


def _scalar(parameter: Parameter) -> str:
    return _SCALARS[parameter.WhichOneof("value") or "int_value"]


def _names(parameters: Sequence[Parameter], *, taken: Sequence[str] = (), default: str = "input") -> list[str]:
    """C++ and Python identifiers, each used once."""
    names: list[str] = []
    for position, parameter in enumerate(parameters):
        name = re.sub(r"\W", "_", parameter.name, flags=re.ASCII) or f"{default}_{position}"
        name = f"_{name}" if name[0].isdigit() else name
        while name in names or name in taken:
            name += "_"
        names.append(name)
    return names


def _case_line(case: Case) -> str:
    given = ", ".join(f"{one.name} {_value(one)}" for one in case.parameters)
    back = ", ".join(_value(one) for one in case.outputs)
    marks = [Case.Kind.Name(case.kind).lower(), *(["non-contiguous inputs"] if case.strided else [])]
    return f"- `{case.id}` ({', '.join(marks)}): {given} → {back}"


def _value(parameter: Parameter) -> str:
    kind = parameter.WhichOneof("value")
    if kind == "tensor":
        return f"{parameter.tensor.dtype}[{', '.join(map(str, parameter.tensor.dims))}]"
    return f"= {getattr(parameter, kind)}" if kind else "?"
