"""The choice among an autotuned launch's configurations, without a device to time them on."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from kernelvault.replay import plan as plans
from kernelvault.v1 import compiler_pb2, plan_pb2
from svc_compiler.refusal import Refused
from svc_compiler.triton.compile import TritonBuild

_MOST_REASONS = 5


def alternatives(recorded: Iterable[plan_pb2.LaunchPlan]) -> set[str]:
    """The variants that may fail to compile: those that no plan needs, as each of their launches has alternatives."""
    needed: set[str] = set()
    dispensable: set[str] = set()
    for plan in recorded:
        for launch in plans.launches(plan):
            names = {plan.kernels[one.kernel].name for one in (launch, *launch.alternatives)}
            (dispensable if launch.alternatives else needed).update(names)
    return dispensable - needed


def choose(plan: plan_pb2.LaunchPlan, builds: Sequence[TritonBuild]) -> None:
    """Puts the best configuration of each launch first, and drops those that do not compile for all targets.

    Best: the fewest spilled registers on any target, then the most waves on the target with the fewest, then the
    author's order. Kernels that no launch uses any more leave the plan. Raises Refused with COMPILE_FAILED, naming the
    reasons, where no configuration of a launch compiles.
    """
    for launch in plans.launches(plan):
        if launch.alternatives:
            _choose(plan, launch, builds)
    _drop_unused_kernels(plan)


def _choose(plan: plan_pb2.LaunchPlan, launch: plan_pb2.Launch, builds: Sequence[TritonBuild]) -> None:
    first = plan_pb2.Launch()
    first.CopyFrom(launch)
    del first.alternatives[:]
    others = list(launch.alternatives)
    configurations = [one for one in (first, *others) if _compiles(plan, one, builds)]
    if not configurations:
        shown = plan.kernels[launch.kernel].display_name or plan.kernels[launch.kernel].name
        raise Refused(
            compiler_pb2.VerificationReport.COMPILE_FAILED,
            f"None of the {1 + len(others)} configurations of {shown} compiles for all targets:\n{_reasons(builds)}",
        )
    ranked = sorted(configurations, key=lambda one: _rank(plan.kernels[one.kernel].name, builds))
    kept = [plan_pb2.Launch.FromString(one.SerializeToString()) for one in ranked]
    launch.CopyFrom(kept[0])
    launch.alternatives.extend(kept[1:])


def _compiles(plan: plan_pb2.LaunchPlan, launch: plan_pb2.Launch, builds: Sequence[TritonBuild]) -> bool:
    return all(plan.kernels[launch.kernel].name in build.images for build in builds)


def _rank(kernel: str, builds: Sequence[TritonBuild]) -> tuple[float, float]:
    resources = [build.images[kernel].resources for build in builds]
    spilled = max((one.spilled_registers for one in resources), default=0)
    return spilled, -min((one.occupancy_waves for one in resources), default=0)


def _reasons(builds: Sequence[TritonBuild]) -> str:
    lines = [
        f"{diagnostic.file}:{diagnostic.line}: {diagnostic.message} [{build.build.target}]"
        for build in builds
        for diagnostic in list(build.build.diagnostics)[:_MOST_REASONS]
    ]
    return "\n".join(lines[: 2 * _MOST_REASONS])


def _drop_unused_kernels(plan: plan_pb2.LaunchPlan) -> None:
    launches = [one for launch in plans.launches(plan) for one in (launch, *launch.alternatives)]
    used = sorted({launch.kernel for launch in launches})
    places = {old: new for new, old in enumerate(used)}
    kept = [plan.kernels[index] for index in used]
    for launch in launches:
        launch.kernel = places[launch.kernel]
    copies = [plan_pb2.Kernel.FromString(kernel.SerializeToString()) for kernel in kept]
    del plan.kernels[:]
    plan.kernels.extend(copies)
