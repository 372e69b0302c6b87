"""What a candidate is called with for a case, and the prototype that the call expects (docs/candidates.md)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from kernelvault import devices
from kernelvault.replay import bundle
from kernelvault.v1 import kernel_pb2, plan_pb2

DEFAULT_LAUNCHER = "run"
DEFAULT_FUNCTION = "forward"
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


def entry_name(entry_point: str, torch: bool, case: kernel_pb2.Case) -> str:
    """The name that is called: a launcher has one for each dtype, `run_float16` beside `run`."""
    if torch:
        return entry_point or DEFAULT_FUNCTION
    name = entry_point or DEFAULT_LAUNCHER
    dtypes = (parameter.tensor.dtype for parameter in case.parameters if parameter.HasField("tensor"))
    floating = next((dtype for dtype in dtypes if "float" in dtype), "float32")
    return name if floating == "float32" else f"{name}_{floating}"


def arguments(case: kernel_pb2.Case, torch: bool) -> list[dict[str, Any]]:
    """The call's arguments for `record_child`: tensors with their storages, scalars by their type."""
    return [_argument(parameter, torch) for parameter in case.parameters]


def outputs(case: kernel_pb2.Case) -> list[dict[str, Any]]:
    """The buffers that a launcher fills: one for each output that is a tensor, contiguous."""
    tensors = [output for output in case.outputs if output.HasField("tensor")]
    return [{"name": output.name, "bytes": _contiguous_bytes(output.tensor)} for output in tensors]


def layouts(slots: Mapping[str, Sequence[plan_pb2.Image.ArgumentSlot]]) -> dict[str, list[int]]:
    """Offsets and sizes, alternating, of each kernel's arguments."""
    return {
        kernel: [word for slot in arguments if not slot.hidden for word in (slot.offset, slot.size)]
        for kernel, arguments in slots.items()
    }


def device(target: str) -> list[str | int]:
    """What host code is told of the first accelerator of a target, see recorder/device.h."""
    gpu = devices.TARGETS[target][0]
    minor = int(target.removeprefix("gfx9")[0])
    khz, cache = int(gpu.clock_hz) // 1000, gpu.l2_bytes // gpu.dies
    return [f"AMD Instinct {gpu.name}", target, gpu.compute_units, gpu.lds_bytes, khz, cache, minor]


def prototype(case: kernel_pb2.Case, name: str) -> str:
    """The launcher that a case calls, as C++."""
    tensors = [parameter for parameter in case.parameters if parameter.HasField("tensor")]
    scalars = [parameter for parameter in case.parameters if not parameter.HasField("tensor")]
    parts = [f"const {_cpp(tensor)}* {tensor.name}" for tensor in tensors]
    parts += [f"{_scalar_type(scalar)} {scalar.name}" for scalar in scalars]
    parts += [f"int64_t {tensor.name}_{axis}" for tensor in tensors for axis in range(len(tensor.tensor.dims))]
    parts += [f"{_cpp(output)}* {output.name}" for output in case.outputs if output.HasField("tensor")]
    return f'extern "C" void {name}({", ".join([*parts, "hipStream_t stream"])})'


def _argument(parameter: kernel_pb2.Parameter, torch: bool) -> dict[str, Any]:
    kind = parameter.WhichOneof("value")
    if kind != "tensor":
        types = {"int_value": "int", "bool_value": "bool", "float_value": "float"}
        return {types[str(kind)]: getattr(parameter, str(kind))}
    view = parameter.tensor
    contiguous = view.offset_elements == 0 and bundle.span_bytes(view) == _contiguous_bytes(view) and _in_order(view)
    return {
        "name": parameter.name,
        "dtype": view.dtype,
        "dims": list(view.dims),
        "strides": list(view.strides),
        "offset": view.offset_elements,
        "bytes": bundle.span_bytes(view),
        "contiguous_bytes": 0 if torch or contiguous else _contiguous_bytes(view),
    }


def _in_order(view: kernel_pb2.TensorView) -> bool:
    """Whether the elements lie in row-major order; the stride of a dimension of size 1 says nothing."""
    expected = bundle.contiguous_view(view.dtype, view.dims).strides
    pairs = zip(view.dims, view.strides, expected, strict=True)
    return 0 in view.dims or all(dim == 1 or stride == wanted for dim, stride, wanted in pairs)


def _contiguous_bytes(view: kernel_pb2.TensorView) -> int:
    return bundle.element_count(view.dims) * bundle.element_bytes(view.dtype)


def _cpp(parameter: kernel_pb2.Parameter) -> str:
    return _CPP_TYPES.get(parameter.tensor.dtype, "void")


def _scalar_type(parameter: kernel_pb2.Parameter) -> str:
    return {"int_value": "int64_t", "bool_value": "bool"}.get(str(parameter.WhichOneof("value")), "double")
