"""What a kernel program computes: tensors that can compute an element, and the definitions of those in memory."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence

from svc_generator.rules import expr, index, sizes
from svc_generator.rules.expr import Expr
from svc_generator.rules.graph import Size
from svc_generator.rules.index import Lin

Loader = Callable[[Sequence[Lin]], Expr]


@dataclasses.dataclass(eq=False)
class Buffer:
    """Contiguous device memory. `role` is `input`, `output` or `scratch`.

    An output is returned with the sizes `returned`, which may divide the same elements in another way.
    """

    name: str
    dims: tuple[Size, ...]
    dtype: str
    role: str
    position: int = 0
    returned: tuple[Size, ...] = ()

    def __repr__(self) -> str:
        return self.name


@dataclasses.dataclass(frozen=True)
class Tensor:
    """A value: `load` gives the expression of an element at an index for each dimension."""

    dims: tuple[Size, ...]
    dtype: str
    load: Loader


@dataclasses.dataclass(frozen=True)
class Pointwise:
    """`target[i] = body(i)` for all i below `count`."""

    target: Buffer
    count: Size
    body: Callable[[Lin], Expr]


@dataclasses.dataclass(frozen=True)
class Operands:
    """The shape of a contraction: out[b, m, n] is the sum over k of left(b, m, k) * right(b, k, n)."""

    batch: Size
    m: Size
    n: Size
    left: Callable[[Lin, Lin, Lin], Expr]
    right: Callable[[Lin, Lin, Lin], Expr]


@dataclasses.dataclass(frozen=True)
class Reduce:
    """`target[o] = fold of body(o, r) over r below `inner``.

    `kind` is `sum`, `max`, `min`, `prod`, `any`, `all`, `argmax` or `argmin`; `flat` gives the offset of (o, r) in the
    tensor that is reduced, or is None where there is no such tensor.
    """

    target: Buffer
    outer: Size
    inner: Size
    kind: str
    body: Callable[[Lin, Lin], Expr]
    flat: Callable[[Lin, Lin], Lin] | None
    operands: Operands | None = None


@dataclasses.dataclass(frozen=True)
class Scan:
    """`target[flat(o, i)]` is the sum of body(o, j) for j up to i."""

    target: Buffer
    outer: Size
    inner: Size
    body: Callable[[Lin, Lin], Expr]
    flat: Callable[[Lin, Lin], Lin]


Definition = Pointwise | Reduce | Scan


class Program:
    """The definitions of one launcher in order, and the buffers between them."""

    def __init__(self, case_count: int) -> None:
        self.count = case_count
        self.inputs: list[Buffer] = []
        self.outputs: list[Buffer] = []
        self.definitions: list[Definition] = []
        self._known: dict[tuple[int, Size, str], Buffer] = {}

    def input(self, dims: tuple[Size, ...], dtype: str) -> Tensor:
        """The next tensor of the call."""
        buffer = Buffer(f"in{len(self.inputs)}", dims, dtype, "input", len(self.inputs))
        self.inputs.append(buffer)
        return self.of(buffer)

    def scratch(self, dims: Sequence[Size], dtype: str) -> Buffer:
        """Memory for a definition's result."""
        return Buffer(f"t{len(self.definitions)}", tuple(dims), dtype, "scratch")

    def numel(self, dims: Sequence[Size]) -> Size:
        return sizes.mul(sizes.constant(1, self.count), *dims)

    def of(self, buffer: Buffer) -> Tensor:
        """A buffer as a tensor."""
        return Tensor(
            buffer.dims, buffer.dtype, lambda at: expr.load(buffer, index.flatten(at, buffer.dims, self.count))
        )

    def at(self, tensor: Tensor, offset: Lin) -> Expr:
        """The element at an offset in the tensor's contiguous order."""
        return tensor.load(index.unflatten(offset, tensor.dims, self.count))

    def realize(self, tensor: Tensor) -> Buffer:
        """The buffer that holds the tensor; an equal one is used again, and a definition is added for a new one."""
        count = self.numel(tensor.dims)
        offset = index.var("i", count)
        body = self.at(tensor, offset)
        if body.kind == "load" and body.args[1] == offset and body.args[0].dtype == tensor.dtype:
            buffer: Buffer = body.args[0]
            if self.numel(buffer.dims) == count:
                return buffer
        key = (id(body), count, tensor.dtype)
        if key not in self._known:
            target = self.scratch(tensor.dims, tensor.dtype)
            self.definitions.append(Pointwise(target, count, lambda at: self.at(tensor, at)))
            self._known[key] = target
        return self._known[key]

    def realized(self, tensor: Tensor) -> Tensor:
        """The same tensor, loaded from memory."""
        buffer = self.realize(tensor)
        return Tensor(
            tensor.dims, tensor.dtype, lambda at: expr.load(buffer, index.flatten(at, tensor.dims, self.count))
        )

    def output(self, tensor: Tensor) -> None:
        """Returns a tensor from the call: its buffer becomes an output, or is copied into one."""
        buffer = self.realize(tensor)
        if buffer.role != "scratch":
            target = self.scratch(tensor.dims, tensor.dtype)
            self.definitions.append(Pointwise(target, self.numel(tensor.dims), lambda at: self.at(tensor, at)))
            buffer = target
        buffer.role, buffer.position, buffer.name = "output", len(self.outputs), f"out{len(self.outputs)}"
        buffer.returned = tensor.dims
        self.outputs.append(buffer)
