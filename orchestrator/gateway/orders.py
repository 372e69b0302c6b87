"""Requests as orders: which task, which source, compared with what."""

from __future__ import annotations

import hashlib
import re
from pathlib import Path

from kernelvault import digest
from kernelvault.v1 import artifact_pb2, kernel_pb2
from orchestrator.gateway import references
from orchestrator.gateway.evaluation import Order
from orchestrator.gateway.fields import Evaluate, RunCode, malformed

_PYTHON = re.compile(r"^(?:import|from) torch\b", re.MULTILINE)


def of_run_code(request: RunCode, location: list[str | int], authorization: str) -> Order:
    """The order of a HIP kernel; raises Malformed naming the field."""
    task = _task(request, request.kernel_name, _artifact("module.py", request, "pytorch_module_code", location))
    if request.pytorch_functional_code:
        functional = _artifact("functional.py", request, "pytorch_functional_code", location)
        task.functional.CopyFrom(functional)
    baseline = _hip(request, "hip_ref_code", location) if request.hip_ref_code else None
    timeouts = [limit for limit in (request.compile_timeout_s, request.run_timeout_s) if limit is not None]
    return Order(
        task=task,
        source=_hip(request, "hip_code", location),
        baseline=baseline,
        timeout_s=max(timeouts, default=None),
        caller=_caller(authorization),
    )


def of_evaluate(request: Evaluate, root: Path, authorization: str) -> Order:
    """The order of a Triton module, whose reference is a file below `root`; raises Malformed naming the field."""
    path, contents = references.find(root, request.filename)
    return Order(
        task=_task(request, path.stem, digest.artifact("module.py", contents)),
        source=_artifact("kernel.py", request, "code", []),
        baseline=references.baseline(path),
        timeout_s=None,
        caller=_caller(authorization),
    )


def _task(request: RunCode | Evaluate, name: str, reference: artifact_pb2.Artifact) -> kernel_pb2.Task:
    tolerance = kernel_pb2.Tolerance(absolute=request.atol, relative=request.rtol)
    return kernel_pb2.Task(title=_title(name), reference=reference, tolerance=tolerance)


def _title(name: str) -> str:
    """The name as a task may have it."""
    return re.sub(r"[^a-z0-9_-]+", "-", name.lower()).strip("-_")[:64] or "kernel"


def _hip(request: RunCode, field: str, location: list[str | int]) -> artifact_pb2.Artifact:
    """A HIP source, or a Python module that builds one."""
    python = _PYTHON.search(str(getattr(request, field)))
    return _artifact("kernel.py" if python else "kernel.hip", request, field, location)


def _artifact(path: str, request: RunCode | Evaluate, field: str, location: list[str | int]) -> artifact_pb2.Artifact:
    contents = str(getattr(request, field)).encode("utf-8", "surrogatepass")
    if len(contents) > digest.INLINE_LIMIT_BYTES:
        raise malformed([*location, field], f"{len(contents)} bytes are above 1 MiB")
    return digest.artifact(path, contents)


def _caller(authorization: str) -> str:
    return hashlib.sha256(authorization.encode("utf-8", "surrogateescape")).hexdigest()
