"""The expected values: references run in the sandbox, their results kept on disk and shared by concurrent callers."""

from __future__ import annotations

import dataclasses
import hashlib
import hmac
import importlib.metadata
import json
from collections.abc import Iterable, Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

from kernelvault import digest, errors
from kernelvault.joining import Joined
from kernelvault.replay import bundle, cases, pattern, reference_job
from kernelvault.replay.reference_cache import ResultCache
from kernelvault.replay.reference_checks import MAX_EXTRA_BYTES, Extent, fits_case, input_bytes
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


@dataclasses.dataclass(frozen=True)
class Evaluation:
    """Bundle files of one case: the call's parameters in order; outputs in the working dtype; outputs in float64."""

    inputs: Path
    working: Path
    exact: Path
    notes: tuple[str, ...] = ()
    # The task's stated one, which the comparison may not exceed; zeros: the default of each output's dtype.
    tolerance: kernel_pb2.Tolerance = dataclasses.field(default_factory=kernel_pb2.Tolerance)


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
        self._running: dict[str, Joined[dict[str, ReferenceFault]]] = {}
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
        entry = await self._entry(task, [case, *siblings], "full")
        inputs, working, exact = (entry / name for name in _FILES)
        return Evaluation(inputs, working, exact, _notes(entry), task.tolerance)

    async def inputs(self, task: kernel_pb2.Task, case: kernel_pb2.Case) -> Path:
        """The bundle of a case's parameters; no output is computed, so that performance cases may be large."""
        known = self._cache.find(self._key(task, case, "full"))
        entry = known or await self._entry(task, [case], "inputs")
        return entry / "inputs"

    async def sample_inputs(self, task: kernel_pb2.Task, case: kernel_pb2.Case) -> Path:
        """The bundle of a performance case for a replay that only counts accesses, see `pattern`.

        Integers are those of `inputs`, drawn for all performance cases of the task in one process; floating-point
        tensors are left out. Raises as `inputs` does.
        """
        cases.check(case, "case")
        dtypes = [p.tensor.dtype for p in case.parameters if p.HasField("tensor")]
        if all(map(pattern.stands_in_for, dtypes)):
            return self._without_values(case) / "inputs"
        siblings = [other for other in task.cases if other.kind == kernel_pb2.Case.PERFORMANCE and other != case]
        return await self._entry(task, [case, *siblings], "sample") / "inputs"

    def _without_values(self, case: kernel_pb2.Case) -> Path:
        """The entry of a sample bundle that has no values: it depends on dtypes only, and costs no process."""
        dtypes = [p.tensor.dtype if p.HasField("tensor") else "" for p in case.parameters]
        key = digest.of_fields(["values left out", *dtypes])
        if entry := self._cache.find(key):
            return entry
        items = [pattern.left_out("", dtype) if dtype else bundle.Item("", scalar=0) for dtype in dtypes]
        with self._cache.job_folder() as folder:
            (folder / "inputs").write_bytes(bundle.pack(items))
            return self._cache.add(key, [("inputs", folder / "inputs")])

    async def _entry(self, task: kernel_pb2.Task, wanted: Sequence[kernel_pb2.Case], extent: Extent) -> Path:
        """The entry of the first wanted case; what runs for it computes the others too."""
        cases.check_all(wanted, "case")
        key = self._key(task, wanted[0], extent)
        while True:
            entry = self._cache.find(key)
            if entry is not None:
                return entry
            if not self._is_running(key):
                self._start(task, wanted, extent)
            results = await self._running[key].join()
            if isinstance(results.get(key), ReferenceFault):
                raise results[key]

    def _start(self, task: kernel_pb2.Task, wanted: Sequence[kernel_pb2.Case], extent: Extent) -> None:
        keyed = {self._key(task, case, extent): case for case in wanted}
        missing = {k: c for k, c in keyed.items() if not self._is_running(k) and self._cache.find(k) is None}

        async def work() -> dict[str, ReferenceFault]:
            try:
                return await self._evaluate(task, missing, extent)
            finally:
                for key in missing:
                    if self._running.get(key) is shared:
                        del self._running[key]

        shared = Joined(work())
        self._running |= dict.fromkeys(missing, shared)

    def _is_running(self, key: str) -> bool:
        return key in self._running and not self._running[key].ended

    async def _evaluate(
        self, task: kernel_pb2.Task, keyed: dict[str, kernel_pb2.Case], extent: Extent
    ) -> dict[str, ReferenceFault]:
        """Runs the cases in one child; results go to the cache, faults are returned by key.

        Where the child dies, the first case without a result is to blame; those after it are left open.
        """
        request = self.request(task, "evaluate")
        request |= {"extent": extent, "cases": [case.SerializeToString().hex() for case in keyed.values()]}
        limits = self._limits if extent == "full" else _limits_for(keyed.values(), extent, self._limits)
        with self._cache.job_folder() as folder:
            outcome = await reference_job.run(self._sandbox, folder, request, limits)
            found = reference_job.fault(folder / "fault.json")
            if found is not None:
                _raise_internal(found)
                return dict.fromkeys(keyed, ReferenceFault(f"reference: {found[1]}"))
            return self._keep(folder, keyed, outcome, limits, extent)

    def _keep(
        self, folder: Path, keyed: dict[str, kernel_pb2.Case], outcome: Outcome, limits: Limits, extent: Extent
    ) -> dict[str, ReferenceFault]:
        names = [*(_FILES if extent == "full" else _FILES[:1]), "json"]
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
            elif not fits_case(dict(files), case, extent):
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

    def _key(self, task: kernel_pb2.Task, case: kernel_pb2.Case, extent: Extent) -> str:
        reference = digest.of_bytes(task.reference.contents).hash
        return digest.of_fields([self.identity, reference, case.SerializeToString(deterministic=True), extent])


def _limits_for(wanted: Iterable[kernel_pb2.Case], extent: Extent, limits: Limits) -> Limits:
    """Limits that let a child make and write these cases' inputs; raises FailedPrecondition above the maximum."""
    sizes = [(cases.tensor_bytes(case.parameters), input_bytes(case, extent)) for case in wanted]
    size = max(drawn for drawn, _ in sizes)
    if size > _MAX_INPUT_BYTES:
        raise errors.FailedPrecondition(
            "CASE_TOO_LARGE", f"inputs of {size} bytes are above the limit of {_MAX_INPUT_BYTES}; use a smaller case"
        )
    return dataclasses.replace(
        limits,
        memory_bytes=max(limits.memory_bytes, 4 * size + (2 << 30)),
        file_bytes=max(written for _, written in sizes) + MAX_EXTRA_BYTES,
        written_bytes=sum(written + MAX_EXTRA_BYTES for _, written in sizes),
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
