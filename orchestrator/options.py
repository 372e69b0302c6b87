"""How a run works on each task."""

from __future__ import annotations

import dataclasses

from kernelvault.v1.kernel_pb2 import SeedKernel
from orchestrator import seeds
from orchestrator.baseline import Baseline


@dataclasses.dataclass(frozen=True, kw_only=True)
class Options:
    """What a user chose for a run."""

    attempts: int = 2
    model: str = "rules"
    targets: tuple[str, ...] = ("gfx942",)
    device: str = "MI300X"
    format: str = "hip-abi"
    concurrency: int = 4
    timeout_s: float = 0
    # Whether the model explains a failed attempt before it writes the next one.
    reflect: bool = True
    # What to port; of one task.
    seed: SeedKernel | None = None
    # What to make faster; of one task.
    baseline: Baseline | None = None

    @property
    def model_name(self) -> str:
        """The model as the services call it."""
        return self.model if self.model.startswith("models/") else f"models/{self.model}"

    def decisive(self) -> dict[str, object]:
        """Those that the results depend on: a run that goes on must have the same.

        What was added after the first journals were written is left out where it is not used, so that they go on.
        """
        names = ("attempts", "model", "targets", "device", "format", "timeout_s")
        fields = {name: getattr(self, name) for name in names}
        later: dict[str, object] = {"seed": seeds.describe(self.seed)} if self.seed else {}
        later |= {"optimize": self.baseline.describe()} if self.baseline else {}
        later |= {} if self.reflect else {"reflect": False}
        return {**fields, "targets": list(self.targets), **later}
