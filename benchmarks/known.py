"""The ten `hip-torch` candidates in `candidates/`, of the kind that a model writes, each for a task of five cases."""

from __future__ import annotations

import dataclasses
from pathlib import Path

from kernelvault import Client, digest
from kernelvault.v1 import artifact_pb2, kernel_pb2

_FOLDER = Path(__file__).parent / "candidates"


@dataclasses.dataclass(frozen=True)
class Known:
    """A candidate and the reference that it is right about."""

    name: str
    source: Path
    reference: bytes

    @property
    def artifact(self) -> artifact_pb2.Artifact:
        """The source as an action holds it."""
        return digest.artifact(self.source.name, self.source.read_bytes())


def all_known() -> list[Known]:
    """By name."""
    return [Known(path.stem, path, path.with_suffix(".py").read_bytes()) for path in sorted(_FOLDER.glob("*.hip"))]


async def task(client: Client, reference: bytes) -> str:
    """The name of the stored task of `reference`, whose cases were prepared."""
    given = kernel_pb2.Task(title="bench", reference=digest.artifact("reference.py", reference))
    return (await client.create_task((await client.prepare_task(given)).task)).name
