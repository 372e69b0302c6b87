"""The authors of candidates, behind `base.Backend`; `Registry` finds the one that serves a model."""

from __future__ import annotations

from collections.abc import Sequence

from kernelvault import errors
from kernelvault.v1 import generator_pb2
from svc_generator.backends.base import Backend, Completion

__all__ = ["Backend", "Completion", "Registry"]

_Model = generator_pb2.ListModelsResponse.Model


class Registry:
    """The backends by the models that they serve."""

    def __init__(self, backends: Sequence[Backend], default_model: str) -> None:
        """Raises errors.Unfit where nobody serves the default model."""
        self._backends = {model: backend for backend in backends for model in backend.models()}
        self._default = default_model
        if default_model not in self._backends:
            known = ", ".join(sorted(self._backends))
            raise errors.Unfit(f"failed to find KERNELVAULT_DEFAULT_MODEL={default_model!r}; known are {known}")

    def find(self, model: str) -> tuple[str, Backend]:
        """The full name of a model, the default for an empty one, and its backend; raises errors.NotFound."""
        name = model or self._default
        if name not in self._backends:
            known = ", ".join(sorted(self._backends))
            raise errors.NotFound("MODEL_NOT_FOUND", f"model: there is no {name[:80]!r}; known are {known}")
        return name, self._backends[name]

    def models(self) -> list[_Model]:
        """All models, sorted by name."""
        return [_Model(name=name, backend=backend.name) for name, backend in sorted(self._backends.items())]
