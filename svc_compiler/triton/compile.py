"""The AMD half of a Triton candidate: a program's variants to one code object each, a job for a target."""

from __future__ import annotations

import asyncio
import json
import tempfile
import time
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeVar

from google.protobuf.message import DecodeError, Message

from kernelvault import errors
from kernelvault.replay.reference_job import read_child_file
from kernelvault.replay.triton import program as programs
from kernelvault.sandbox import Job, Limits, Outcome, Sandbox
from kernelvault.together import together
from kernelvault.v1 import compiler_pb2, plan_pb2, triton_pb2
from svc_compiler.refusal import Refused
from svc_compiler.triton import complaints, images

# What the sandbox imports for it before it forks.
PRELOAD = ("svc_compiler.triton.compile_child",)
Verdict = compiler_pb2.VerificationReport.Verdict
_ENTRY = "svc_compiler.triton.compile_child:main"
_MAX_OBJECT_BYTES = 32 << 20
_MAX_MESSAGE_BYTES = 1 << 20
_MEMORY_BYTES = 4 << 30
_MAX_OUTPUT_BYTES = 32 << 20
# Processes for a program: those that follow one whose time is over, those that follow one that crashed.
_MOST_ROUNDS = 3
_MOST_CRASHES = 8
_Read = TypeVar("_Read", bound=Message)


@dataclass(frozen=True)
class TritonBuild:
    """A Triton program compiled for one target."""

    build: compiler_pb2.TargetBuild
    # By the names of the variants that compiled. Images lack the digests of their code objects.
    objects: dict[str, Path] = field(default_factory=dict)
    images: dict[str, plan_pb2.Image] = field(default_factory=dict)

    @property
    def resources(self) -> Mapping[str, plan_pb2.Resources]:
        """By variant."""
        return {name: image.resources for name, image in self.images.items()}


async def compile_targets(
    sandbox: Sandbox,
    folder: Path,
    program: triton_pb2.TritonProgram,
    targets: Sequence[str],
    timeout_s: float,
    *,
    alternatives: Collection[str] = (),
) -> list[TritonBuild]:
    """A build for each target, side by side; raises what `compile_program` raises, and then nothing goes on."""
    return await together(
        *(compile_program(sandbox, folder, program, target, timeout_s, alternatives=alternatives) for target in targets)
    )


async def compile_program(
    sandbox: Sandbox,
    folder: Path,
    program: triton_pb2.TritonProgram,
    target: str,
    timeout_s: float,
    *,
    alternatives: Collection[str] = (),
    patience: float = 1.0,
) -> TritonBuild:
    """Compiles all variants for `target`, in new folders below `folder`; `program` has been checked.

    Each process gets `timeout_s` of CPU time, and `patience` times as much on the clock; one that has compiled some
    variants by then is followed by another for the rest, up to three of them. A variant of `alternatives` (see
    `ranking.alternatives`) may fail, or not be reached within the first process's time, without harm: the build then
    counts as compiled, and tells of it in a note.

    Raises Refused with TIMED_OUT or COMPILE_FAILED where another variant needs more time or memory than it may, with
    REJECTED where the program breaks a rule; errors.Unavailable or errors.Internal for trouble of the platform.
    """
    work = _Work(sandbox, folder, program, target, timeout_s, timeout_s * patience, frozenset(alternatives))
    names = [variant.name for variant in program.variants]
    started = time.monotonic()
    await work.compile([name for name in names if name not in work.alternatives], _MOST_ROUNDS * work.clock_s)
    await work.compile([name for name in names if name in work.alternatives], work.clock_s + started - time.monotonic())
    return await asyncio.to_thread(work.finish)


@dataclass
class _Work:
    sandbox: Sandbox
    folder: Path
    program: triton_pb2.TritonProgram
    target: str
    timeout_s: float
    clock_s: float
    alternatives: frozenset[str]
    # By variant.
    builds: dict[str, compiler_pb2.TargetBuild] = field(default_factory=dict)
    places: dict[str, tuple[Path, int]] = field(default_factory=dict)

    async def compile(self, names: list[str], seconds: float) -> None:
        """Compiles in order; after a crash, or at the end of a process's time, goes on with the rest."""
        deadline = time.monotonic() + seconds
        for _ in range(_MOST_ROUNDS + _MOST_CRASHES):
            left = deadline - time.monotonic()
            if not names or left < 1:
                break
            names = await self._run(names, min(left, self.clock_s))
        if names and names[0] not in self.alternatives:
            self._give_up(names[0], Verdict.TIMED_OUT, f"its variants do not compile within {seconds:g} s")

    async def _run(self, names: list[str], seconds: float) -> list[str]:
        """One process; returns the variants that are still to be compiled."""
        place = Path(tempfile.mkdtemp(dir=self.folder, prefix=".triton-"))
        request = json.dumps({"target": self.target, "variants": names}).encode()
        outcome = await self.sandbox.run(
            Job(
                folder=place,
                entry=_ENTRY,
                payload=request + b"\n" + self.program.SerializeToString(deterministic=True),
                environment={"PYTHONDONTWRITEBYTECODE": "1"},
                limits=Limits(
                    wall_seconds=seconds, cpu_seconds=min(seconds, self.timeout_s), memory_bytes=_MEMORY_BYTES
                ),
            )
        )
        self._check_whole(place)
        for i, name in enumerate(names):
            build = _read(place / f"{i}.build", compiler_pb2.TargetBuild)
            if build is None:
                return self._after(outcome, names[i:], place, i)
            self.builds[name], self.places[name] = build, (place, i)
        return []

    def _check_whole(self, place: Path) -> None:
        """Raises Refused where the program as a whole could not become functions."""
        if build := _read(place / "program.build", compiler_pb2.TargetBuild):
            found = _bounded(build.diagnostics)
            at_fault = found[0] if found else compiler_pb2.Diagnostic(message="unknown")
            verdict = Verdict.COMPILE_FAILED if at_fault.file else Verdict.REJECTED
            where = f"{at_fault.file}:{at_fault.line}: " if at_fault.file else ""
            raise Refused(verdict, f"Compilation failed:\n{where}{at_fault.message}", diagnostics=found)

    def _after(self, outcome: Outcome, names: list[str], place: Path, reached: int) -> list[str]:
        """What is left to compile after a process that ended at the first of `names`, having done `reached` others."""
        culprit, rest = names[0], names[1:]
        shown = programs.display_name(self.program, self._variant(culprit))
        said = read_child_file(place / f"{reached}.stderr", _MAX_OUTPUT_BYTES)
        if outcome.timed_out and reached and culprit not in self.alternatives:
            return names
        if outcome.timed_out:
            self._give_up(culprit, Verdict.TIMED_OUT, f"compiling {shown} does not end within {self.timeout_s:g} s")
        elif outcome.out_of_memory:
            problem = f"compiling {shown} needs more than {_MEMORY_BYTES >> 30} GiB of memory; use smaller blocks"
            self._give_up(culprit, Verdict.COMPILE_FAILED, problem)
        elif said is None or outcome.ok or (outcome.signal is None and outcome.stderr):
            raise errors.Internal("TRITON_COMPILE_FAILED", f"failed to compile a program: {outcome.describe()}")
        else:  # LLVM ends its process where it knows no better
            function = self.program.functions[self._variant(culprit).function]
            text = complaints.output(said)
            self.builds[culprit] = complaints.of_crash(function.file, function.line, text, outcome.describe())
        return rest

    def _give_up(self, name: str, verdict: Verdict, problem: str) -> None:
        if name not in self.alternatives:
            done = f"{len(self.builds)} of {len(self.program.variants)} variants were done"
            raise Refused(verdict, f"For {self.target}, {problem} ({done}).")
        error = compiler_pb2.Diagnostic(level=compiler_pb2.Diagnostic.ERROR, message=problem)
        self.builds[name] = compiler_pb2.TargetBuild(diagnostics=[error])

    def _variant(self, name: str) -> triton_pb2.TritonProgram.Variant:
        return next(variant for variant in self.program.variants if variant.name == name)

    def finish(self) -> TritonBuild:
        """Reads and checks what the jobs left. Raises errors.Internal."""
        whole = TritonBuild(compiler_pb2.TargetBuild(target=self.target, compiled=True))
        for variant in self.program.variants:
            made = self.builds.get(variant.name)
            optional = variant.name in self.alternatives
            if made is not None and made.compiled:
                self._add(whole, variant)
            elif not optional:
                whole.build.compiled = False
            if made is None or not made.compiled:
                self._tell(whole, variant, made, optional)
        if self.program.variants and not whole.images:
            whole.build.compiled = False
        return whole

    def _add(self, whole: TritonBuild, variant: triton_pb2.TritonProgram.Variant) -> None:
        place, i = self.places[variant.name]
        image = _read(place / f"{i}.image", plan_pb2.Image)
        data = read_child_file(place / f"{i}.hsaco", _MAX_OBJECT_BYTES)
        problem = "it is missing or too large" if image is None or data is None else ""
        if image is not None and data is not None:
            problem = images.problem(self.program, variant, image, data, self.target)
        if problem or image is None:
            shown = programs.display_name(self.program, variant)
            raise errors.Internal(
                "TRITON_OBJECT_MALFORMED", f"failed to read the {self.target} code object of {shown}: {problem}"
            )
        for slot, known in zip(image.layout, programs.argument_slots(variant), strict=False):
            slot.name = known.name
        whole.images[variant.name] = image
        whole.objects[variant.name] = place / f"{i}.hsaco"
        display_name = programs.display_name(self.program, variant)
        whole.build.kernels.add(name=variant.name, display_name=display_name, resources=image.resources)

    def _tell(
        self,
        whole: TritonBuild,
        variant: triton_pb2.TritonProgram.Variant,
        made: compiler_pb2.TargetBuild | None,
        optional: bool,
    ) -> None:
        """Adds why a variant did not compile: errors, or notes for one that is dispensable."""
        shown = programs.display_name(self.program, variant)
        late = compiler_pb2.Diagnostic(level=compiler_pb2.Diagnostic.ERROR, message="there was no time left for it")
        for diagnostic in _bounded(made.diagnostics) if made is not None else [late]:
            if optional:
                diagnostic.level = compiler_pb2.Diagnostic.NOTE
                diagnostic.message = f"the configuration {shown} is left out: {diagnostic.message}"
            if diagnostic not in whole.build.diagnostics:
                whole.build.diagnostics.append(diagnostic)


def _read(path: Path, kind: type[_Read]) -> _Read | None:
    """A message that a child left, or None."""
    data = read_child_file(path, _MAX_MESSAGE_BYTES)
    if data is None:
        return None
    try:
        return kind.FromString(data)
    except DecodeError:
        return None


def _bounded(diagnostics: Collection[compiler_pb2.Diagnostic]) -> list[compiler_pb2.Diagnostic]:
    return [
        compiler_pb2.Diagnostic(
            level=diagnostic.level,
            file=diagnostic.file[:512],
            line=diagnostic.line,
            column=diagnostic.column,
            message=diagnostic.message[: complaints.MAX_MESSAGE_CHARACTERS],
        )
        for diagnostic in list(diagnostics)[:40]
    ]
