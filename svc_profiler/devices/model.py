"""The device `model`: a candidate's time from its plan, its resources and the accesses counted on the CPU model."""

from __future__ import annotations

import math
from collections.abc import Awaitable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

from kernelvault import errors
from kernelvault.blobs import Blobs
from kernelvault.devices import Gpu
from kernelvault.replay import bundle
from kernelvault.replay import plan as plans
from kernelvault.replay.cpu_faults import Fault
from kernelvault.replay.models import Model
from kernelvault.replay.reference_faults import ReferenceFault
from kernelvault.sandbox.metering import stage
from kernelvault.v1 import compiler_pb2, kernel_pb2, plan_pb2, profiler_pb2
from svc_profiler import advice, floor, roofline
from svc_profiler.roofline import SUSTAINED_HBM, Counters, Work

Profile = profiler_pb2.Profile
LABEL = "cpu-model"
_FORMULAS = "svc_profiler/roofline.py: roofline over counted accesses"
_CPU = "cpu"
# Counts of sampled blocks are not exact; an atomic operation changes so much at the least.
_LEAST_WRITTEN = 0.5
_ATOMIC_BYTES = 4
# How a replay ends whose kernels assert what the values are, or compute an address of them.
_OF_VALUES = (compiler_pb2.VerificationReport.CRASHED, compiler_pb2.VerificationReport.UNSAFE)


class Inputs(Protocol):
    """Where a case's inputs come from: `kernelvault.replay.reference.References`."""

    async def inputs(self, task: kernel_pb2.Task, case: kernel_pb2.Case) -> Path:
        """A bundle of the case's parameters."""

    async def sample_inputs(self, task: kernel_pb2.Task, case: kernel_pb2.Case) -> Path:
        """The same without floating-point values."""


@dataclass
class _Draft:
    """A case under way: what its operations cost, and what must be said of it."""

    kernels: list[profiler_pb2.Profile.KernelEstimate] = field(default_factory=list)
    moves: list[profiler_pb2.Profile.KernelEstimate] = field(default_factory=list)
    works: list[Work] = field(default_factory=list)


class ModelDevice:
    """Estimates; uses no GPU and claims no speed-up over anything."""

    def __init__(self, *, cpu_model: Model, inputs: Inputs, blobs: Blobs, sample_blocks: int, timeout_s: float) -> None:
        self._cpu_model = cpu_model
        self._inputs = inputs
        self._blobs = blobs
        self._sample_blocks = sample_blocks
        self._timeout_s = timeout_s

    async def profile(
        self, report: compiler_pb2.VerificationReport, task: kernel_pb2.Task, gpu: Gpu
    ) -> profiler_pb2.Profile:
        """The profile of a PASSED report for a device.

        Raises errors.FailedPrecondition: TARGET_NOT_BUILT where the candidate was not compiled for the device,
        NOT_MODELLED where no case runs on the CPU model, BLOB_MISSING; errors.Unavailable.
        """
        profile = Profile(
            verify_action_digest=report.action_digest,
            device=gpu.name,
            method_label=LABEL,
            sources=[*gpu.sources, _FORMULAS],
        )
        texts, notes = [], list(_standing_notes(gpu))
        for case, plan in _cases(report, task):
            try:
                estimate, text, remarks = await self._case(task, case, plan, gpu)
            except _NotModelled as error:
                notes.append(f"case {case.id} is left out: {error}")
                continue
            profile.cases.append(estimate)
            texts.append(text)
            notes += remarks
        if not profile.cases:
            raise errors.FailedPrecondition("NOT_MODELLED", f"failed to model any case: {'; '.join(notes[-3:])}")
        profile.time_ns = _geometric_mean(case.time_ns for case in profile.cases)
        profile.roofline_fraction = _geometric_mean(min(1.0, c.floor_ns / c.time_ns) for c in profile.cases)
        profile.advice = advice.of_plan(texts, notes)
        return profile

    async def _case(
        self, task: kernel_pb2.Task, case: kernel_pb2.Case, plan: plan_pb2.LaunchPlan, gpu: Gpu
    ) -> tuple[profiler_pb2.Profile.CaseEstimate, str, list[str]]:
        counters = await self._count(task, case, plan)
        _check_writes(case, plan, counters)
        draft = _estimate(plan, counters, gpu)
        least = floor.of(case, gpu, _touched(draft.works))
        kernels, notes = [*draft.kernels, *draft.moves], []
        time_ns = sum(kernel.time_ns for kernel in kernels)
        if least.share < 1:
            notes.append(f"case {case.id} touches {least.share:.0%} of its inputs and outputs; the floor counts these")
        if time_ns < least.time_ns:
            notes.append(f"the estimate of case {case.id} lay below its floor and was raised to it: trust neither")
            time_ns = least.time_ns
        estimate = Profile.CaseEstimate(case_id=case.id, time_ns=time_ns, floor_ns=least.time_ns, kernels=kernels)
        return estimate, advice.of_case(estimate, draft.works, gpu, draft.moves), notes

    async def _count(self, task: kernel_pb2.Task, case: kernel_pb2.Case, plan: plan_pb2.LaunchPlan) -> list[Counters]:
        """Counters of each launch of the plan, in order."""
        image = await self._image(plan)
        if image is None:
            return []
        counters, fault = await self._replay(plan, image, case, self._inputs.sample_inputs(task, case))
        if fault is not None and fault[0] in _OF_VALUES:
            counters, fault = await self._replay(plan, image, case, self._inputs.inputs(task, case))
        if fault is not None:
            raise _NotModelled(fault[1])
        return counters

    async def _replay(
        self, plan: plan_pb2.LaunchPlan, image: Path, case: kernel_pb2.Case, drawing: Awaitable[Path]
    ) -> tuple[list[Counters], Fault | None]:
        try:
            with stage("inputs"):
                inputs = await drawing
            with stage("replay"):
                replay = await self._cpu_model.replay(
                    plan, image, inputs, sample_blocks=self._sample_blocks, timeout_s=self._timeout_s
                )
        except ReferenceFault as fault:
            raise _NotModelled(str(fault)) from fault
        except bundle.Malformed as error:
            raise errors.Internal(
                "INPUTS_MALFORMED", f"failed to read the inputs of case {case.id}: {error}"
            ) from error
        replay.close()
        return list(replay.counters), replay.fault

    async def _image(self, plan: plan_pb2.LaunchPlan) -> Path | None:
        """The CPU image of the plan's kernels; None where it launches none."""
        images = [image for kernel in plan.kernels for image in kernel.images if image.target == _CPU]
        if not any(op.HasField("launch") for op in plan.operations):
            return None
        if not images:
            raise _NotModelled("its kernels have no image for the CPU model")
        try:
            return await self._blobs.get(images[0].code_object)
        except errors.NotFound as error:
            raise errors.FailedPrecondition("BLOB_MISSING", f"failed to find the CPU image: {error}") from error


class _NotModelled(Exception):
    """A case that the CPU model cannot run; the message says why."""


def _cases(
    report: compiler_pb2.VerificationReport, task: kernel_pb2.Task
) -> Iterator[tuple[kernel_pb2.Case, plan_pb2.LaunchPlan]]:
    """The performance cases with their plans, or all where there are none."""
    recorded = {plan.case_id: plan for plan in report.plans}
    chosen = [case for case in task.cases if case.kind == kernel_pb2.Case.PERFORMANCE and case.id in recorded]
    for case in chosen or [case for case in task.cases if case.id in recorded]:
        plan = recorded[case.id]
        try:
            plans.check(plan)
        except plans.Malformed as error:
            raise errors.DataLoss("PLAN_MALFORMED", f"failed to read the plan of case {case.id}: {error}") from error
        yield case, plan


def _check_writes(case: kernel_pb2.Case, plan: plan_pb2.LaunchPlan, counters: Sequence[Counters]) -> None:
    """Raises _NotModelled where a plan writes clearly less than the outputs hold.

    No output of such a case is compared: a candidate that leaves its work out at this size must not earn the floor.
    """
    moved = sum(_moved_bytes(one) for one in plan.operations if not one.HasField("launch"))
    written = moved + sum(one.global_write_bytes + _ATOMIC_BYTES * one.atomics for one in counters)
    wanted = floor.bytes_of(case.outputs)
    if written < _LEAST_WRITTEN * wanted:
        raise _NotModelled(f"its operations write {written} bytes in all, and the outputs hold {wanted}")


def _estimate(plan: plan_pb2.LaunchPlan, counters: Sequence[Counters], gpu: Gpu) -> _Draft:
    """What each operation of a call costs; those of the INIT phase are no part of it."""
    draft, counted = _Draft(), iter(counters)
    for operation in plan.operations:
        kind = operation.WhichOneof("operation")
        measured = next(counted, None) if kind == "launch" else None
        if operation.phase == plan_pb2.Operation.INIT:
            continue
        if kind == "launch":
            if measured is None:
                raise _NotModelled("the CPU model counted fewer launches than the plan has")
            work = _work(plan, operation.launch, measured, gpu)
            draft.works.append(work)
            draft.kernels.append(roofline.estimate(work, gpu))
        elif (moved := _moved_bytes(operation)) > 0:
            draft.moves.append(_move(str(kind), moved, gpu))
    return draft


def _work(plan: plan_pb2.LaunchPlan, launch: plan_pb2.Launch, counters: Counters, gpu: Gpu) -> Work:
    kernel = plan.kernels[launch.kernel]
    image = next((image for image in kernel.images if image.target == gpu.target), None)
    if image is None:
        built = ", ".join(image.target for image in kernel.images)
        raise errors.FailedPrecondition(
            "TARGET_NOT_BUILT",
            f"failed to model {kernel.display_name or kernel.name!r} on {gpu.name}: it was compiled for {built}; "
            f"verify it for {gpu.target}, too",
        )
    reached = {relocation.buffer for relocation in launch.relocations}
    return Work(
        name=kernel.display_name or kernel.name,
        resources=image.resources,
        counters=counters,
        blocks=_volume(launch.grid),
        threads=image.block_threads or _volume(launch.block),
        dynamic_lds_bytes=launch.dynamic_lds_bytes,
        reachable_bytes=sum(plan.buffers[index].size_bytes for index in reached),
        writable_bytes=sum(
            plan.buffers[index].size_bytes for index in reached if plan.buffers[index].role != plan_pb2.Buffer.INPUT
        ),
    )


def _volume(extent: plan_pb2.Extent) -> int:
    return max(1, extent.x) * max(1, extent.y) * max(1, extent.z)


def _moved_bytes(operation: plan_pb2.Operation) -> int:
    """Bytes that an operation other than a launch reads and writes."""
    if operation.HasField("copy"):
        return 2 * operation.copy.size_bytes
    if operation.HasField("fill"):
        return operation.fill.size_bytes
    if operation.HasField("upload"):
        return len(operation.upload.data)
    views = (operation.convert.source_view, operation.convert.destination_view)
    return sum(bundle.element_count(view.dims) * bundle.element_bytes(view.dtype) for view in views)


def _move(name: str, size_bytes: int, gpu: Gpu) -> profiler_pb2.Profile.KernelEstimate:
    """A copy, fill, conversion or upload: a kernel of the runtime that streams."""
    busy_ns = size_bytes / (gpu.hbm_bytes_per_s * SUSTAINED_HBM) * 1e9
    bound = "launch" if busy_ns < roofline.LAUNCH_NS else "memory"
    return Profile.KernelEstimate(name=name, time_ns=roofline.LAUNCH_NS + busy_ns, bound=bound)


def _touched(works: Iterable[Work]) -> int:
    return sum(roofline.unique_bytes(work) for work in works)


def _geometric_mean(values: Iterable[float]) -> float:
    logarithms = [math.log(max(value, 1e-12)) for value in values]
    return math.exp(sum(logarithms) / len(logarithms))


def _standing_notes(gpu: Gpu) -> Iterator[str]:
    yield (
        f"modelled from counted accesses and the published peaks of {gpu.name}, not measured; caches, clocks and "
        "scheduling are not modelled, vector arithmetic is weighed from the code object's instructions, floating-point "
        "inputs are normal variates whatever the task's are"
    )
