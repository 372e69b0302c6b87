"""What Triton's semantic builds its operations with: here each is done at once, on numpy arrays."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import triton.language as tl
from triton._C.libtriton import ir

from kernelvault.replay.triton.interpreter import arithmetic, libdevice
from kernelvault.replay.triton.interpreter.accesses import Accesses
from kernelvault.replay.triton.interpreter.faults import AssertionFailed
from kernelvault.replay.triton.interpreter.formats import SCALARS, Array, held, round_to
from kernelvault.replay.triton.interpreter.shapes import Shapes
from kernelvault.replay.triton.interpreter.tensors import Handle

_NARROW = frozenset({"bf16", "fp8e4nv", "fp8e5"})
# Types of which there are constants.
_CONSTANTS: tuple[str, ...] = ("int1", "int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64")
_CONSTANTS += ("fp16", "bf16", "fp32", "fp64")


class Options:
    """What the semantic asks about the target."""

    debug = True
    # Integers wrap around, as on the hardware.
    sanitize_overflow = False
    arch = "gfx942"
    supported_fp8_dtypes = ("fp8e5", "fp8e4nv")
    deprecated_fp8_dot_operand_dtypes = ()
    # Computed in float32: TF32 is a format of NVIDIA's.
    default_dot_input_precision = "ieee"
    allowed_dot_input_precisions = ("ieee", "tf32", "tf32x3", "bf16x3", "bf16x6")
    max_num_imprecise_acc_default = 0
    backend_name = "hip"


class Builder(Shapes, Accesses):
    """Does what it is asked to build. What it lacks is a NotImplementedError that names it."""

    def __init__(self) -> None:
        super().__init__()
        self.options = Options()
        self.codegen_fns = {"min_dot_size": lambda lhs, rhs: (1, 1, 1)}
        self.program = (0, 0, 0)
        self.grid = (1, 1, 1)

    def __getattr__(self, name: str) -> Any:
        if not name.startswith(("create_", "get_")):
            raise AttributeError(name)
        raise NotImplementedError(f"the operation `{name.removeprefix('create_').removeprefix('get_')}`")

    def get_null_value(self, type_: tl.dtype) -> Handle:
        """Zero."""
        return Handle(np.zeros(1, held(type_)), type_.scalar)

    def get_all_ones_value(self, type_: tl.dtype) -> Handle:
        """All bits set."""
        to = held(type_)
        return Handle(np.full(1, True if to.kind == "b" else -1).astype(to), type_.scalar)

    def get_block_ty(self, element: tl.dtype, shape: Sequence[int]) -> tl.block_type:
        """A block's type stands for itself, as a scalar's does (see `types.py`)."""
        return tl.block_type(element, list(shape))

    def get_ptr_ty(self, element: tl.dtype, address_space: int) -> tl.pointer_type:
        """A pointer's type stands for itself."""
        return tl.pointer_type(element, address_space)

    def get_int64_ty(self) -> tl.dtype:
        """Of the shapes, strides and offsets of block pointers."""
        return SCALARS["int64"]

    def get_int32_ty(self) -> tl.dtype:
        """Of offsets of descriptors."""
        return SCALARS["int32"]

    def create_get_program_id(self, axis: int) -> Handle:
        """Which program runs."""
        return Handle(np.array([self.program[axis]], np.int32), tl.int32)

    def create_get_num_programs(self, axis: int) -> Handle:
        """How many there are."""
        return Handle(np.array([self.grid[axis]], np.int32), tl.int32)

    def convert(self, source: Handle, type_: tl.dtype) -> Handle:
        """See arithmetic.convert."""
        target = type_.scalar
        return self.made(arithmetic.convert(source.data, target), target)

    def create_int_cast(self, source: Handle, type_: tl.dtype, is_signed: bool) -> Handle:
        """Between integers; the type in which they are held knows the sign."""
        return self.convert(source, type_)

    def create_fp_to_fp(self, source: Handle, type_: tl.dtype, rounding_mode: Any) -> Handle:
        """Between floats; towards zero if asked for."""
        target = type_.scalar
        if rounding_mode != ir.ROUNDING_MODE.RTZ:
            return self.convert(source, type_)
        return self.made(arithmetic.towards_zero(source.data, target), target)

    def binary(self, left: Handle, right: Handle, operation: arithmetic.Binary) -> Handle:
        """Of floats: rounded to their type. Of integers: wrapped around."""
        type_ = left.dtype.scalar
        result = operation(left.data, right.data)
        if type_.name in _NARROW:
            result = round_to(result, type_)
        elif result.dtype != left.data.dtype:
            result = result.astype(left.data.dtype)
        return self.made(result, type_, floating=type_.is_floating())

    def comparison(self, left: Handle, right: Handle, operation: arithmetic.Binary) -> Handle:
        """Truth values."""
        return self.made(operation(left.data, right.data), tl.int1)

    def unary(self, operand: Handle, operation: Callable[[Any], Array]) -> Handle:
        """Rounded to the operand's type."""
        result = operation(operand.data).astype(operand.data.dtype, copy=False)
        return self.made(round_to(result, operand.dtype), operand.dtype.scalar, floating=True)

    def create_sdiv(self, left: Handle, right: Handle) -> Handle:
        """Towards zero."""
        return self.binary(left, right, arithmetic.divide_towards_zero)

    create_udiv = create_sdiv

    def create_ashr(self, left: Handle, right: Handle) -> Handle:
        """The sign comes in from the left."""
        signed = left.data.view(left.data.dtype.str.replace("u", "i"))
        return self.made((signed >> right.data.astype(signed.dtype)).view(left.data.dtype), left.dtype.scalar)

    def create_lshr(self, left: Handle, right: Handle) -> Handle:
        """Zeros come in from the left."""
        return self.binary(left, right, arithmetic.shift_right_logically)

    def create_umulhi(self, left: Handle, right: Handle) -> Handle:
        """The upper half of the product."""
        return self.binary(left, right, arithmetic.multiply_high)

    def create_select(self, condition: Handle, left: Handle, right: Handle) -> Handle:
        """Lane by lane."""
        return self.made(np.where(condition.data, left.data, right.data), left.dtype.scalar)

    def create_clampf(self, value: Handle, low: Handle, high: Handle, propagate_nan: Any) -> Handle:
        """Between two bounds; NaN becomes the lower one unless it is to be kept."""
        result = np.minimum(np.fmax(value.data, low.data), high.data)
        if propagate_nan == ir.PROPAGATE_NAN.ALL:
            result = np.where(np.isnan(value.data), value.data, result)
        return self.made(result, value.dtype.scalar, floating=True)

    def create_fma(self, x: Handle, y: Handle, z: Handle) -> Handle:
        """x * y + z, rounded once."""
        exact = x.data.astype(np.float64) * y.data + z.data
        self.vector_flops += exact.size
        return self.made(round_to(exact.astype(z.data.dtype), z.dtype), z.dtype.scalar, floating=True)

    def create_dot(self, a: Handle, b: Handle, c: Handle, input_precision: Any, max_num_imprecise_acc: int) -> Handle:
        """a @ b + c."""
        self.matrix_work(2 * a.data.size * b.data.shape[-1], a.dtype.scalar)
        result = arithmetic.matrix_product(a.data, b.data, c.data, integers=a.dtype.scalar.is_int())
        return self.made(result, c.dtype.scalar)

    def create_extern_elementwise(
        self, library: str, path: str, symbol: str, arguments: list[Handle], type_: tl.dtype, is_pure: bool
    ) -> Handle:
        """A function of a device library; NotImplementedError names one that is not known."""
        result = libdevice.function(symbol)(*[argument.data for argument in arguments])
        target = type_.scalar
        return self.made(round_to(np.asarray(result).astype(held(target)), target), target, floating=True)

    def create_inline_asm(self, *_: Any) -> Handle:
        """Raises NotImplementedError."""
        raise NotImplementedError("inline assembly")

    def create_print(self, *_: Any) -> None:
        """Nobody reads it."""

    def create_assert(self, condition: Handle, message: str) -> None:
        """Raises AssertionFailed."""
        if not condition.data.all():
            raise AssertionFailed(message)

    def create_assume(self, condition: Handle) -> None:
        """Raises AssertionFailed: the compiler would make use of what is not true."""
        if not condition.data.all():
            raise AssertionFailed("what `tl.assume` says is not true")

    def create_barrier(self) -> None:
        """All lanes of a program are in step."""


def _constant(type_: tl.dtype) -> Callable[[Builder, Any], Handle]:
    def make(self: Builder, value: Any) -> Handle:
        return Handle(round_to(np.array([value]).astype(held(type_)), type_), type_)

    return make


def _install() -> None:
    conversions = ("si_to_fp", "ui_to_fp", "fp_to_si", "fp_to_ui", "fp_ext", "fp_trunc")
    for name in conversions:
        setattr(Builder, f"create_{name}", Builder.convert)
    for table, method in (
        (arithmetic.FLOAT_BINARY, Builder.binary),
        (arithmetic.INTEGER_BINARY, Builder.binary),
        (arithmetic.COMPARISONS, Builder.comparison),
    ):
        for name, operation in table.items():
            setattr(Builder, f"create_{name}", _with(method, operation))
    for name, function in arithmetic.UNARY.items():
        setattr(Builder, f"create_{name}", _with(Builder.unary, function))
    for name in [
        "int1",
        "int8",
        "uint8",
        "int16",
        "uint16",
        "int32",
        "uint32",
        "int64",
        "uint64",
        "fp16",
        "bf16",
        "fp32",
        "fp64",
    ]:
        setattr(Builder, f"get_{name}", _constant(SCALARS[name]))


def _with(method: Callable[..., Handle], operation: Callable[..., Array]) -> Callable[..., Handle]:
    return lambda self, *operands: method(self, *operands, operation)


_install()
