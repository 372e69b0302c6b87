"""The CPU models behind one interface: whoever replays a plan need not know its language."""

from __future__ import annotations

from pathlib import Path
from typing import Protocol

from kernelvault.replay.cpu_model import Replay
from kernelvault.v1 import plan_pb2

_ELF_MAGIC = b"\x7fELF"


class Model(Protocol):
    """Replays launch plans without a GPU; see `cpu_model.CpuModel.replay`."""

    async def replay(
        self,
        plan: plan_pb2.LaunchPlan,
        image: Path,
        inputs: Path,
        *,
        timeout_s: float,
        sample_blocks: int = 0,
        repetitions: int = 1,
        vary_memory: bool = False,
    ) -> Replay:
        """The outcome of `plan` on the bundle `inputs`, its kernels taken from `image`."""


class Models:
    """Chooses the model that can run an image: `hip` runs machine code, `triton` runs Triton programs."""

    def __init__(self, *, hip: Model, triton: Model) -> None:
        self._hip, self._triton = hip, triton

    async def replay(
        self,
        plan: plan_pb2.LaunchPlan,
        image: Path,
        inputs: Path,
        *,
        timeout_s: float,
        sample_blocks: int = 0,
        repetitions: int = 1,
        vary_memory: bool = False,
    ) -> Replay:
        """Raises what the chosen model raises."""
        with image.open("rb") as file:
            model = self._hip if file.read(len(_ELF_MAGIC)) == _ELF_MAGIC else self._triton
        return await model.replay(
            plan,
            image,
            inputs,
            timeout_s=timeout_s,
            sample_blocks=sample_blocks,
            repetitions=repetitions,
            vary_memory=vary_memory,
        )
