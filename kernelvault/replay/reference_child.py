"""Runs a task's module in the sandbox. It is foreign code: nothing that this process says is believed unchecked.

The payload is JSON; results are files in the working folder, which `reference.py` reads with bounds:

- `describe`: `response.pb`, a PrepareTaskResponse with the cases and the notes;
- `evaluate`: for the i-th case `i.inputs`, if `extent` is full `i.working` and `i.exact` (bundles), then `i.json`
  with the notes; if it is sample, floating-point inputs are left out;
- `standardize`: `functional.py`, checked.

`fault.json`, or `i.fault.json` for one case, tells what is wrong with the module instead.
"""

from __future__ import annotations

import json
import resource
import sys
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch
import torch._dynamo  # the first dispatch mode imports it: a second of every child's time, unless the zygote has it

from kernelvault.replay import (
    bundle,
    cases,
    pattern,
    reference_draw,
    reference_module,
    reference_run,
    standardize_child,
)
from kernelvault.replay import reference_faults as faults
from kernelvault.replay import reference_tensors as tensors
from kernelvault.replay.reference_cases import Describer
from kernelvault.v1 import compiler_pb2, kernel_pb2

ACCUMULATION = "accumulation"


def main(payload: bytes, descriptors: dict[str, int]) -> int:
    """The entry of the job. Returns 0 whenever the files tell the result, faults of the module included."""
    request = json.loads(payload)
    folder = Path.cwd()
    torch.set_num_threads(1)
    torch.set_grad_enabled(False)
    sys.dont_write_bytecode = True
    try:
        _OPERATIONS[request["operation"]](request, folder)
    except faults.Unusable as error:
        _write_fault(folder / "fault.json", error)
    except MemoryError:
        _write_fault(folder / "fault.json", faults.Unfit(f"ran out of memory ({_peak_mib()} MiB); use smaller inputs"))
    except Exception as error:  # foreign code is called under guard: this is a fault of ours
        traceback.print_exc()
        _write_fault(folder / "fault.json", faults.Internal(faults.describe(error, "")))
    return 0


def _describe(request: dict[str, Any], folder: Path) -> None:
    absolute, relative = request["stated"]
    stated = kernel_pb2.Tolerance(absolute=absolute, relative=relative)
    key = bytes.fromhex(request["key"])
    describer = Describer(request["source"], folder, key=key, max_cases=request["max_cases"], stated=stated)
    describer.describe()
    response = compiler_pb2.PrepareTaskResponse(notes=describer.notes)
    response.task.cases.extend(describer.cases)
    (folder / "response.pb").write_bytes(response.SerializeToString())


def _evaluate(request: dict[str, Any], folder: Path) -> None:
    """All cases of a request, a fault of one case leaving the others."""
    modules: dict[tuple[tuple[str, int], ...], reference_module.Module] = {}
    for index, encoded in enumerate(request["cases"]):
        case = kernel_pb2.Case.FromString(bytes.fromhex(encoded))
        try:
            key = tuple(sorted(case.shrunk.items()))
            if key not in modules:
                modules[key] = reference_module.Module(request["source"], folder, dict(key))
            _evaluate_case(modules[key], case, request, folder / str(index))
        except faults.Unusable as error:
            _write_fault(folder / f"{index}.fault.json", error)


def _evaluate_case(module: reference_module.Module, case: kernel_pb2.Case, request: dict[str, Any], stem: Path) -> None:
    arguments = reference_module.decode_arguments(case.arguments_json)
    seed = cases.seed(bytes.fromhex(request["key"]), case.id)
    call = reference_draw.prepare(module, arguments, case, seed)
    notes: list[str] = []
    # Before anything runs: a module that changes its inputs is found out below, and its inputs are still the true ones.
    signature = call.signature()
    if request["extent"] == "sample":
        _write(stem.with_suffix(".inputs"), _left_out(signature))
    else:
        _write(stem.with_suffix(".inputs"), tensors.items(signature))
    if request["extent"] == "full":
        working = reference_run.run_checked(call)
        exact = reference_run.run_exact(call, working)
        length = bundle.Item(ACCUMULATION, scalar=exact.accumulation)
        _write(stem.with_suffix(".working"), tensors.items(working.outputs))
        _write(stem.with_suffix(".exact"), [*tensors.items(exact.outputs), length])
        notes += [exact.note] if exact.note else []
    stem.with_suffix(".json").write_text(json.dumps({"notes": notes}))


def _left_out(signature: list[tuple[str, Any]]) -> list[bundle.Item]:
    """The items of a sample bundle; see `pattern`."""
    return [
        pattern.left_out(name, tensors.dtype_name(value.dtype))
        if isinstance(value, torch.Tensor) and value.dtype.is_floating_point
        else tensors.items([(name, value)])[0]
        for name, value in signature
    ]


def _write(path: Path, items: list[bundle.Item]) -> None:
    size = bundle.size_bytes(items)
    buffer = memoryview(bytearray(size))
    bundle.pack_into(items, buffer)
    path.write_bytes(buffer)


def _write_fault(path: Path, error: faults.Unusable) -> None:
    text = str(error)[: faults.MAX_MESSAGE_CHARACTERS].encode("utf-8", "replace").decode()
    path.write_text(json.dumps({"kind": error.kind, "message": text}))


def _peak_mib() -> int:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024


_OPERATIONS: dict[str, Callable[[dict[str, Any], Path], None]] = {
    "describe": _describe,
    "evaluate": _evaluate,
    "standardize": standardize_child.run,
}
