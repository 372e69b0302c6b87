"""The expected values: references run in the sandbox, their results kept on disk and shared by concurrent callers."""

from __future__ import annotations

import asyncio
import hashlib
import hmac
import importlib.metadata
import json
import mmap
from collections.abc import Awaitable, Callable, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from kernelvault import digest, errors
from kernelvault.replay import bundle, cases, reference_job
from kernelvault.replay.reference_cache import ResultCache
from kernelvault.replay.reference_faults import ReferenceFault
from kernelvault.replay.reference_job import Runner
from kernelvault.sandbox import Limits, Outcome
from kernelvault.v1 import compiler_pb2, kernel_pb2

__all__ = ["Evaluation", "ReferenceFault", "References", "Runner"]

# Part of every key: results of an older way of drawing or evaluating are not used.
_VERSION = "1"
_LIBRARIES = ("torch", "numpy", "transformers")
_DEFAULT_MAX_BYTES = 4 << 30
_MAX_INPUT_BYTES = 8 << 30
_FILES = ("inputs", "working", "exact")
_MAX_EXTRA_BYTES = 2 << 20


@dataclass(frozen=True)
class Evaluation:
    """Bundle files of one case: the call's parameters in order; outputs in the working dtype; outputs in float64."""

    inputs: Path
    working: Path
    exact: Path
    notes: tuple[str, ...] = ()
    # The task's stated one, which the comparison may not exceed; zeros: the default of each output's dtype.
    tolerance: kernel_pb2.Tolerance = field(default_factory=kernel_pb2.Tolerance)


class References:
    """Describes tasks and evaluates their cases. `sandbox` has torch and `reference_child` preloaded."""

    def __init__(
        self,
        sandbox: Runner,
        cache: Path,
        secret: bytes,
        *,
        limits: Limits | None = None,
        max_cache_bytes: int = _DEFAULT_MAX_BYTES,
    ) -> None:
        self._sandbox = sandbox
        self._secret = secret
        self._limits = limits or Limits(wall_seconds=180, cpu_seconds=180, file_bytes=1 << 30)
        self._cache = ResultCache(cache, max_cache_bytes)
        self._running: dict[str, _Shared] = {}
        versions = [f"{name} {_version(name)}" for name in _LIBRARIES]
        fingerprint = hmac.new(secret, b"fingerprint", hashlib.sha256).hexdigest()[:16]
        self.identity = f"references {_VERSION}, {', '.join(versions)}, secret {fingerprint}"

    @property
    def limits(self) -> Limits:
        """Of one run."""
        return self._limits

    def job_folder(self) -> AbstractContextManager[Path]:
        """An empty folder for one run of the child."""
        return self._cache.job_folder()

    async def describe(self, task: kernel_pb2.Task, *, max_cases: int) -> tuple[list[kernel_pb2.Case], list[str]]:
        """The task's cases, and notes on what was changed.

        Raises InvalidArgument for a malformed module, FailedPrecondition (`REFERENCE_UNFIT`) for one that fails.
        """
        request = {**self.request(task, "describe"), "max_cases": max_cases}
        with self._cache.job_folder() as folder:
            outcome = await reference_job.run(self._sandbox, folder, request, self._limits)
            found = reference_job.fault(folder / "fault.json")
            if found is not None:
                raise reference_job.error_of(*found)
            data = reference_job.read_child_file(folder / "response.pb")
        if data is None:
            raise reference_job.error_of("unfit", reference_job.ending(outcome, self._limits))
        response = _parse(data)
        cases.check_all(response.task.cases, "reference.cases")
        return list(response.task.cases), [note[:500] for note in response.notes[:100]]

    async def evaluate(self, task: kernel_pb2.Task, case: kernel_pb2.Case) -> Evaluation:
        """Inputs and outputs of a case, with all other correctness cases of the task that are not yet known.

        Raises ReferenceFault where the reference fails on this case, InvalidArgument for a malformed case.
        """
        siblings = [other for other in task.cases if other.kind != kernel_pb2.Case.PERFORMANCE and other != case]
        entry = await self._entry(task, [case, *siblings], full=True)
        inputs, working, exact = (entry / name for name in _FILES)
        return Evaluation(inputs, working, exact, _notes(entry), task.tolerance)

    async def inputs(self, task: kernel_pb2.Task, case: kernel_pb2.Case) -> Path:
        """The bundle of a case's parameters; no output is computed, so that performance cases may be large."""
        known = self._cache.find(self._key(task, case, full=True))
        entry = known or await self._entry(task, [case], full=False)
        return entry / "inputs"

    async def _entry(self, task: kernel_pb2.Task, wanted: Sequence[kernel_pb2.Case], *, full: bool) -> Path:
        """The entry of the first wanted case; what runs for it computes the others too."""
        cases.check_all(wanted, "case")
        key = self._key(task, wanted[0], full=full)
        while True:
            entry = self._cache.find(key)
            if entry is not None:
                return entry
            if key not in self._running or self._running[key].task.cancelling():
                self._start(task, wanted, full=full)
            results = await self._running[key].wait()
            if isinstance(results.get(key), ReferenceFault):
                raise results[key]

    def _start(self, task: kernel_pb2.Task, wanted: Sequence[kernel_pb2.Case], *, full: bool) -> None:
        keyed = {self._key(task, case, full=full): case for case in wanted}
        missing = {k: c for k, c in keyed.items() if k not in self._running and self._cache.find(k) is None}
        shared = _Shared(lambda: self._evaluate(task, missing, full=full))
        for key in missing:
            self._running[key] = shared

        def forget(_: object) -> None:
            for key in missing:
                if self._running.get(key) is shared:
                    del self._running[key]

        shared.task.add_done_callback(forget)

    async def _evaluate(
        self, task: kernel_pb2.Task, keyed: dict[str, kernel_pb2.Case], *, full: bool
    ) -> dict[str, ReferenceFault]:
        """Runs the cases in one child; results go to the cache, faults are returned by key.

        Where the child dies, the first case without a result is to blame; those after it are left open.
        """
        request = self.request(task, "evaluate")
        request |= {"full": full, "cases": [case.SerializeToString().hex() for case in keyed.values()]}
        limits = self._limits if full else _limits_for(keyed.values(), self._limits)
        with self._cache.job_folder() as folder:
            outcome = await reference_job.run(self._sandbox, folder, request, limits)
            found = reference_job.fault(folder / "fault.json")
            if found is not None:
                _raise_internal(found)
                return dict.fromkeys(keyed, ReferenceFault(f"reference: {found[1]}"))
            return self._keep(folder, keyed, outcome, limits, full=full)

    def _keep(
        self, folder: Path, keyed: dict[str, kernel_pb2.Case], outcome: Outcome, limits: Limits, *, full: bool
    ) -> dict[str, ReferenceFault]:
        names = [*(_FILES if full else _FILES[:1]), "json"]
        faults: dict[str, ReferenceFault] = {}
        for index, (key, case) in enumerate(keyed.items()):
            found = reference_job.fault(folder / f"{index}.fault.json")
            files = [(name, folder / f"{index}.{name}") for name in names]
            if found is not None:
                _raise_internal(found)
                faults[key] = ReferenceFault(f"reference: case {case.id}: {found[1]}")
            elif not (folder / f"{index}.json").exists():
                faults[key] = ReferenceFault(f"reference: case {case.id}: {reference_job.ending(outcome, limits)}")
                break
            elif not _fits_case(dict(files), case, full=full):
                faults[key] = ReferenceFault(
                    f"reference: case {case.id}: gives other inputs or outputs than the task describes; "
                    "prepare the task again"
                )
            else:
                self._cache.add(key, files)
        return faults

    def request(self, task: kernel_pb2.Task, operation: str) -> dict[str, Any]:
        """What the child needs to know of the task, for any operation; raises InvalidArgument."""
        text = reference_job.source(task.reference, "reference")
        stated = [task.tolerance.absolute, task.tolerance.relative]
        key = cases.task_key(self._secret, digest.of_bytes(task.reference.contents).hash)
        return {"operation": operation, "source": text, "key": key.hex(), "stated": stated}

    def _key(self, task: kernel_pb2.Task, case: kernel_pb2.Case, *, full: bool) -> str:
        reference = digest.of_bytes(task.reference.contents).hash
        return digest.of_fields(
            [self.identity, reference, case.SerializeToString(deterministic=True), "full" if full else "inputs"]
        )


class _Shared:
    """Work that several callers wait for; it is cancelled when the last of them is."""

    def __init__(self, work: Callable[[], Awaitable[dict[str, ReferenceFault]]]) -> None:
        async def run() -> dict[str, ReferenceFault]:
            return await work()

        self.task = asyncio.create_task(run())
        self._waiting = 0

    async def wait(self) -> dict[str, ReferenceFault]:
        """The faults by key; raises what the work raised."""
        self._waiting += 1
        try:
            return await asyncio.shield(self.task)
        finally:
            self._waiting -= 1
            if self._waiting == 0 and not self.task.done():
                self.task.cancel()


def _fits_case(files: dict[str, Path], case: kernel_pb2.Case, *, full: bool) -> bool:
    """Whether the bundles of a child hold exactly the tensors and numbers that the case describes."""
    views = [(p.name, p.tensor if p.HasField("tensor") else None) for p in case.parameters]
    if _views(files["inputs"], cases.tensor_bytes(case.parameters)) != views:
        return False
    if not full:
        return True
    limit = cases.tensor_bytes(case.outputs)
    outputs = [(p.name, p.tensor) for p in case.outputs]
    working, exact = _views(files["working"], limit), _views(files["exact"], 8 * limit)
    if working != outputs or exact is None or len(exact) != len(outputs) + 1 or exact[-1][1] is not None:
        return False
    return all(
        v is not None and list(v.dims) == list(p.tensor.dims) for (_, v), p in zip(exact, case.outputs, strict=False)
    )


def _views(path: Path, limit: int) -> list[tuple[str, kernel_pb2.TensorView | None]] | None:
    descriptor = reference_job.open_child_file(path, limit + _MAX_EXTRA_BYTES)
    if descriptor is None:
        return None
    with open(descriptor, "rb") as file:
        try:
            data = memoryview(mmap.mmap(file.fileno(), 0, prot=mmap.PROT_READ))
            return [(item.name, item.view) for item in bundle.read(data)]
        except (bundle.Malformed, ValueError):  # mmap refuses an empty file with ValueError
            return None


def _limits_for(wanted: Any, limits: Limits) -> Limits:
    """Limits that let a child make and write these cases' inputs; raises FailedPrecondition above the maximum."""
    size = max(cases.tensor_bytes(case.parameters) for case in wanted)
    if size > _MAX_INPUT_BYTES:
        raise errors.FailedPrecondition(
            "CASE_TOO_LARGE", f"inputs of {size} bytes are above the limit of {_MAX_INPUT_BYTES}; use a smaller case"
        )
    memory = max(limits.memory_bytes, 4 * size + (2 << 30))
    return Limits(
        wall_seconds=limits.wall_seconds,
        cpu_seconds=limits.cpu_seconds,
        memory_bytes=memory,
        file_bytes=size + _MAX_EXTRA_BYTES,
    )


def _parse(data: bytes) -> compiler_pb2.PrepareTaskResponse:
    from google.protobuf.message import DecodeError

    try:
        return compiler_pb2.PrepareTaskResponse.FromString(data)
    except DecodeError:
        raise reference_job.error_of("unfit", "its process left a description that cannot be read") from None


def _raise_internal(found: tuple[str, str]) -> None:
    if found[0] == "internal":
        raise reference_job.error_of(*found)


def _notes(entry: Path) -> tuple[str, ...]:
    data = reference_job.read_child_file(entry / "json", 1 << 16)
    try:
        return tuple(str(note)[:500] for note in json.loads(data or b"{}").get("notes", ()))
    except (ValueError, AttributeError, TypeError):
        return ()


def _version(name: str) -> str:
    try:
        return importlib.metadata.version(name)
    except importlib.metadata.PackageNotFoundError:
        return "absent"
