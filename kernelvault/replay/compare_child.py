"""The comparing process: numpy, bundles and nothing foreign."""

from __future__ import annotations

import json
import mmap
import os
from pathlib import Path

import numpy as np

from kernelvault.replay import bundle, tolerance
from kernelvault.replay.mismatch import describe, errors_of, position
from kernelvault.v1 import compiler_pb2, kernel_pb2

CaseResult = compiler_pb2.CaseResult
_MAX_EXPLAINED = 4


def main(payload: bytes, descriptors: dict[str, int]) -> int:
    """The entry of the job: writes `result.pb`, a CaseResult, into the working folder."""
    request = json.loads(payload)
    case = kernel_pb2.Case.FromString(bytes.fromhex(request["case"]))
    stated = kernel_pb2.Tolerance(absolute=request["stated"][0], relative=request["stated"][1])
    buffers = {name: _mapped(descriptor) for name, descriptor in descriptors.items()}
    result = judge(case, buffers, stated)
    Path("result.pb").write_bytes(result.SerializeToString())
    return 0


def judge(case: kernel_pb2.Case, buffers: dict[str, memoryview], stated: kernel_pb2.Tolerance) -> CaseResult:
    """Compares everything: structure, shapes, dtypes, values, repetitions, inputs.

    Raises bundle.Malformed only where our own bundles are at fault.
    """
    working, exact = (bundle.read(buffers[name]) for name in ("working", "exact"))
    length = next((item.scalar for item in exact if item.scalar is not None), 1)
    expected = list(zip(working, [item for item in exact if item.scalar is None], strict=True))
    result = CaseResult(case_id=case.id)
    faults: list[str] = []
    try:
        repetitions = [bundle.read(buffer) for name, buffer in sorted(buffers.items()) if name.startswith("output_")]
    except bundle.Malformed as error:
        return CaseResult(case_id=case.id, explanation=f"the outputs cannot be read: {error}")
    tolerances = [
        tolerance.derive(_dtype(w), _array(e), _array(w), accumulation=int(length or 1), stated=stated)
        for w, e in expected
    ]
    for number, outputs in enumerate(repetitions):
        found, measured = _compare_all(outputs, expected, tolerances)
        if number == 0:
            result.outputs.extend(measured)
        elif found and not faults:
            found = [f"in repetition {number + 1}, not in the first: {fault}" for fault in found]
        faults = faults or found
    faults += _mutations(buffers)
    result.passed = bool(repetitions) and not faults
    remark = _nondeterminism(repetitions) if result.passed else ""
    result.explanation = "; ".join(faults[:_MAX_EXPLAINED]) or remark
    return result


def _compare_all(
    outputs: list[bundle.Item],
    expected: list[tuple[bundle.Item, bundle.Item]],
    tolerances: list[kernel_pb2.Tolerance],
) -> tuple[list[str], list[CaseResult.OutputResult]]:
    if len(outputs) != len(expected):
        return [f"{len(outputs)} outputs were returned, {len(expected)} are expected"], []
    faults, results = [], []
    for index, (output, (working, exact), bound) in enumerate(zip(outputs, expected, tolerances, strict=True)):
        fault, result = _compare(output, working, exact, bound)
        results.append(result)
        if fault:
            faults.append(f"output {index} ({working.name}): {fault}")
    return faults, results


def _compare(
    output: bundle.Item, working: bundle.Item, exact: bundle.Item, bound: kernel_pb2.Tolerance
) -> tuple[str, CaseResult.OutputResult]:
    assert working.view is not None
    count = bundle.element_count(working.view.dims)
    result = CaseResult.OutputResult(element_count=count, mismatched_count=count, tolerance=bound)
    if output.view is None:
        return "a number was returned where a tensor is expected", result
    if output.view.dtype != working.view.dtype:
        return f"dtype is {output.view.dtype}, expected {working.view.dtype}", result
    if list(output.view.dims) != list(working.view.dims):
        return f"shape is {list(output.view.dims)}, expected {list(working.view.dims)}", result
    actual, wanted = _array(output), _array(exact)
    right = tolerance.accepted(actual, wanted, _array(working), bound, working.view.dtype)
    result.max_absolute_error, result.max_relative_error = errors_of(actual, wanted)
    result.mismatched_count = int(right.size - np.count_nonzero(right))
    return ("" if right.all() else describe(actual, wanted, right, bound)), result


def _mutations(buffers: dict[str, memoryview]) -> list[str]:
    """Names the tensors that the candidate was given and changed."""
    if "inputs_after" not in buffers:
        return []
    before = [item for item in bundle.read(buffers["inputs"]) if item.view is not None]
    try:
        after = [item for item in bundle.read(buffers["inputs_after"]) if item.view is not None]
    except bundle.Malformed as error:
        return [f"the inputs cannot be read after the run: {error}"]
    if len(after) != len(before):
        return [f"{len(after)} of {len(before)} inputs are left after the run"]
    faults = []
    for given, left in zip(before, after, strict=True):
        if _bits(given).tobytes() != _bits(left).tobytes():
            faults.append(f"input {given.name!r} was changed; inputs are read-only, write to the outputs")
    return faults


def _nondeterminism(repetitions: list[list[bundle.Item]]) -> str:
    """A remark where repetitions differ in a bit (within the tolerance, as they all passed)."""
    for number, outputs in enumerate(repetitions[1:], 2):
        for index, (one, other) in enumerate(zip(repetitions[0], outputs, strict=True)):
            different = _bits(one) != _bits(other)
            if different.any():
                return (
                    f"not deterministic: repetition {number} differs from the first at {np.count_nonzero(different)} "
                    f"elements of output {index}, first at {position(different)}, within the tolerance"
                )
    return ""


def _bits(item: bundle.Item) -> tolerance.Array:
    """The elements as unsigned integers of the same size: NaN equals itself, -0 is not 0."""
    assert item.view is not None
    assert item.storage is not None
    size = bundle.element_bytes(item.view.dtype)
    storage = item.storage[: item.storage.nbytes // size * size]
    view = kernel_pb2.TensorView()
    view.CopyFrom(item.view)
    view.dtype = {1: "uint8", 2: "int16", 4: "int32", 8: "int64"}[size]
    return bundle.to_numpy(bundle.Item(item.name, view, storage))


def _array(item: bundle.Item) -> tolerance.Array:
    """Floating-point elements in float64, others as they are."""
    array = bundle.to_numpy(item)
    return array.astype(np.float64) if array.dtype.kind == "f" else array


def _dtype(item: bundle.Item) -> str:
    assert item.view is not None
    return item.view.dtype


def _mapped(descriptor: int) -> memoryview:
    size = os.fstat(descriptor).st_size
    return memoryview(mmap.mmap(descriptor, size, prot=mmap.PROT_READ)) if size else memoryview(b"")
