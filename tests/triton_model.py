"""Running Triton kernels on the interpreter's model without a capture: texts become programs, plans are by hand."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from kernelvault.replay.triton import model
from kernelvault.replay.triton import program as programs
from kernelvault.v1 import triton_pb2
from tests import cpu_model
from tests.triton_programs import program


@dataclass(frozen=True)
class Built:
    """Where the program's bytes are."""

    image: Path


class Kernels:
    """One variant of a text, in the terms of tests.cpu_model.Plan."""

    def __init__(
        self, text: str, kernel: str, arguments: Mapping[str, object], model: model.TritonModel, folder: Path
    ) -> None:
        self.message: triton_pb2.TritonProgram = program(text, kernel, arguments)
        self.model = model
        [self._variant] = self.message.variants
        self.layouts = {self._variant.name: programs.argument_slots(self._variant)}
        self.built = Built(folder / "program.bin")
        self.built.image.write_bytes(self.message.SerializeToString())

    def symbol(self, kernel: str) -> str:
        """Of the only kernel."""
        return self._variant.name

    def plan(
        self, buffers: Mapping[str, cpu_model.Array], inputs: Sequence[str], outputs: Sequence[str]
    ) -> cpu_model.Plan:
        """See tests.cpu_model.Program.plan."""
        return cpu_model.Plan(self, buffers, list(inputs), list(outputs))

    def line(self, text: str) -> str:
        """`file:line` of the first line of the program that holds `text`."""
        for function in self.message.functions:
            for number, line in enumerate(function.source.split("\n")):
                if text in line:
                    return f"{function.file}:{function.line + number}"
        raise AssertionError(text)
