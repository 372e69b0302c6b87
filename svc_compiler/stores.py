"""A launched kernel must be able to leave a trace on a GPU, whatever it did on the CPU model."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Protocol

from kernelvault.v1 import compiler_pb2, plan_pb2
from svc_compiler import code_object
from svc_compiler.refusal import Refused


class Compiled(Protocol):
    """A candidate compiled for one target, in any language."""

    @property
    def build(self) -> compiler_pb2.TargetBuild:
        """What is reported of it."""

    @property
    def resources(self) -> Mapping[str, plan_pb2.Resources]:
        """By kernel name as in a plan."""


def check_stores(builds: Sequence[Compiled], kernel: str) -> None:
    """Raises Refused with REJECTED where a launched kernel's GPU code cannot write global memory.

    Whatever such a kernel computes on the CPU model, on a GPU it leaves no trace: compiler and CPU model saw different
    programs, or the launch is for show.
    """
    for build in builds:
        if kernel in build.resources and not code_object.holds_stores(build.resources[kernel].instructions):
            shown = next((k.display_name for k in build.build.kernels if k.name == kernel), kernel)
            raise Refused(
                compiler_pb2.VerificationReport.REJECTED,
                f"The kernel {shown} is launched, but its {build.build.target} code holds no store to global memory: "
                "it has no effect on a GPU. Let it write its result, or remove it.",
            )
