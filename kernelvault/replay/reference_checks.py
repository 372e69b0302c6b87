"""What a reference's child left is compared with the case that it was to run: it is foreign code."""

from __future__ import annotations

import mmap
from collections.abc import Mapping
from pathlib import Path
from typing import Literal

from kernelvault.replay import bundle, cases, pattern, reference_job
from kernelvault.v1 import kernel_pb2

# Inputs and outputs; inputs only; inputs without the tensors that a pattern stands in for.
Extent = Literal["full", "inputs", "sample"]
# A bundle's header, and the files beside the bundles.
MAX_EXTRA_BYTES = 2 << 20
View = tuple[str, kernel_pb2.TensorView | None]


def input_bytes(case: kernel_pb2.Case, extent: Extent) -> int:
    """The size of a case's inputs without the bundle's header."""
    parameters = (p for p in case.parameters if not (extent == "sample" and pattern.stands_in_for(p.tensor.dtype)))
    return cases.tensor_bytes(parameters)


def fits_case(files: Mapping[str, Path], case: kernel_pb2.Case, extent: Extent) -> bool:
    """Whether the bundles of a child hold exactly the tensors and numbers that the case describes."""
    if _views(files["inputs"], input_bytes(case, extent)) != _expected(case, extent):
        return False
    if extent != "full":
        return True
    limit = cases.tensor_bytes(case.outputs)
    outputs = [(p.name, p.tensor) for p in case.outputs]
    working, exact = _views(files["working"], limit), _views(files["exact"], 8 * limit)
    if working != outputs or exact is None or len(exact) != len(outputs) + 1 or exact[-1][1] is not None:
        return False
    return all(
        v is not None and list(v.dims) == list(p.tensor.dims) for (_, v), p in zip(exact, case.outputs, strict=False)
    )


def _expected(case: kernel_pb2.Case, extent: Extent) -> list[View]:
    views: list[View] = []
    for parameter in case.parameters:
        view = parameter.tensor if parameter.HasField("tensor") else None
        if view is not None and extent == "sample" and pattern.stands_in_for(view.dtype):
            view = pattern.left_out(parameter.name, view.dtype).view
        views.append((parameter.name, view))
    return views


def _views(path: Path, limit: int) -> list[View] | None:
    descriptor = reference_job.open_child_file(path, limit + MAX_EXTRA_BYTES)
    if descriptor is None:
        return None
    with open(descriptor, "rb") as file:
        try:
            data = memoryview(mmap.mmap(file.fileno(), 0, prot=mmap.PROT_READ))
            return [(item.name, item.view) for item in bundle.read(data)]
        except (bundle.Malformed, ValueError):  # mmap refuses an empty file with ValueError
            return None
