"""Small HIP programs with known results: compiled, recorded and replayed as a candidate is, compared with numpy.

A feature is a folder: `NAME.hip` is a program with a `run` launcher (docs/candidates.md, `hip-abi`: inputs, scalars,
sizes, outputs, stream), and the function NAME of `test_FEATURE.py` says what it must give. Programs share headers.
"""

from __future__ import annotations

import dataclasses
import functools
import inspect
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from google.protobuf import duration_pb2

from kernelvault import digest
from kernelvault.replay import bundle
from kernelvault.replay.cpu_model import CpuModel
from kernelvault.replay.replays import Replay
from kernelvault.sandbox.metering import MeteredSandbox
from kernelvault.v1 import artifact_pb2, compiler_pb2, kernel_pb2, plan_pb2
from svc_compiler.actions import Work
from svc_compiler.hip import image
from svc_compiler.hip.toolchain import Toolchain
from svc_compiler.refusal import Refused
from svc_compiler.verify.build import HipBuilder
from svc_compiler.verify.hip import HipFrontend
from svc_compiler.verify.verification import Subject
from tests.conformance.counts import SAMPLES, Counts
from tests.conformance.ends import End, NeedsDevice, Refuses, Unsafe, check_end
from tests.cpu_model import arrays, item

__all__ = [
    "MARKS", "Array", "Counts", "Feature", "Machine", "NeedsDevice", "Program", "Refuses", "Unsafe", "integers",
    "lane_masks", "numbers",
]  # fmt: skip

Array = np.ndarray
Verdict = compiler_pb2.VerificationReport.Verdict
# Of tests that use the machine.
MARKS = (pytest.mark.slow, pytest.mark.asyncio(loop_scope="session"))
_REPETITIONS = 2
_TIMEOUT_S = 30
_NUMBERS: dict[type, Callable[[Any], dict[str, Any]]] = {
    bool: lambda number: {"bool_value": number},
    int: lambda number: {"int_value": number},
    float: lambda number: {"float_value": number},
}


@dataclasses.dataclass(frozen=True)
class Program:
    """A program and what it must give: arrays, one for each output, what is counted, or how it ends."""

    source: Path
    inputs: dict[str, Any]
    format: kernel_pb2.Candidate.Format
    ulp: float
    atol: float
    target: str
    # Of the output of a program that does not end with one.
    shape: tuple[int, ...]
    expected: Callable[..., Any]

    @functools.cached_property
    def end(self) -> Any:
        """A tuple of arrays, one for each output, counts, or how else it ends."""
        given = self.expected(**self.inputs)
        return given if isinstance(given, End | Counts | tuple) else (given,)


class Feature:
    """The programs of a feature, by name, declared in its test file."""

    def __init__(self, file: str) -> None:
        self._folder = Path(file).parent
        self.programs: dict[str, Program] = {}

    def program(
        self,
        *,
        format: kernel_pb2.Candidate.Format = kernel_pb2.Candidate.HIP_ABI,
        ulp: float = 0,
        atol: float = 0,
        target: str = "gfx942",
        shape: tuple[int, ...] = (),
        **inputs: Any,
    ) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
        """Declares the program of the decorated function's name, which gets the inputs and returns the outputs.

        Inputs are arrays, ints, floats or bools; unsigned arrays travel as signed ones. Outputs are equal bit for bit
        (any NaN equals any), or differ by at most `ulp` units in the last place of the expected value, or by `atol`.
        A program that ends otherwise has one float32 output of `shape`, the first input's unless told.
        """

        def declare(function: Callable[..., Any]) -> Callable[..., Any]:
            assert inspect.getdoc(function), f"{function.__name__} does not say what it shows"
            source = self._folder / f"{function.__name__}.hip"
            self.programs[function.__name__] = Program(source, inputs, format, ulp, atol, target, shape, function)
            return function

        return declare

    def test(self) -> Callable[..., Any]:
        """`test_FEATURE = FEATURE.test()` is a test of each program that was declared before."""
        undeclared = {path.stem for path in self._folder.glob("*.hip")} ^ set(self.programs)
        assert not undeclared, f"have no twin: {sorted(undeclared)}"

        async def test(machine: Machine, program: Program, tmp_path: Path) -> None:
            """Each program does what its twin says."""
            await machine.check(program, tmp_path)

        programs = pytest.mark.parametrize("program", self.programs.values(), ids=list(self.programs))
        for mark in (programs, *MARKS):
            test = mark(test)
        return test


class _Digests:
    """Stands where code objects are stored: conformance needs none of them again."""

    async def put(self, data: bytes) -> artifact_pb2.Digest:
        return digest.of_bytes(data)


class Machine:
    """Runs programs."""

    def __init__(self, sandbox: MeteredSandbox, toolchain: Toolchain) -> None:
        self._model = CpuModel(sandbox, locate=functools.partial(image.locate, sandbox, toolchain))
        builder = HipBuilder(sandbox, toolchain, _Digests())  # type: ignore[arg-type]
        self._frontend = HipFrontend(sandbox, builder, self._model)

    async def check(self, program: Program, folder: Path) -> None:
        """Fails where the program does anything but what is expected of it."""
        expected = program.end
        if isinstance(expected, Counts):
            await self._check_counts(program, expected, folder)
            return
        try:
            replay = await self._replay(program, folder)
        except Refused as refused:
            assert isinstance(expected, End), refused
            check_end(program.source, expected, refused.verdict, refused.explanation, refused.findings, replayed=False)
            return
        try:
            if replay.fault is not None or replay.findings:
                verdict, explanation = replay.fault or (Verdict.UNSAFE, "")
                assert isinstance(expected, End), (explanation, replay.findings)
                check_end(program.source, expected, verdict, explanation, replay.findings, replayed=True)
                return
            assert isinstance(expected, tuple), f"nothing was found: {expected}"
            for descriptor in replay.outputs:
                given = arrays(descriptor)
                for number, (one, other) in enumerate(zip(given, expected, strict=True)):
                    _check_equal(f"output {number}", one, _signed(other), program.ulp, program.atol)
        finally:
            replay.close()

    async def _check_counts(self, program: Program, expected: Counts, folder: Path) -> None:
        plan, image_, inputs = await self._record(program, folder)
        for blocks in SAMPLES:
            replay = await self._model.replay(plan, image_, inputs, timeout_s=_TIMEOUT_S, sample_blocks=blocks)
            replay.close()
            assert replay.fault is None, replay.fault
            [counters] = replay.counters
            expected.check(counters)

    async def _replay(self, program: Program, folder: Path) -> Replay:
        plan, image_, inputs = await self._record(program, folder)
        return await self._model.replay(plan, image_, inputs, timeout_s=_TIMEOUT_S, repetitions=_REPETITIONS)

    async def _record(self, program: Program, folder: Path) -> tuple[plan_pb2.LaunchPlan, Path, Path]:
        """The plan of the program's case, its image, and the bundle of its inputs."""
        sources, inputs = folder / "sources", folder / "inputs"
        sources.mkdir()
        for file in (program.source, *program.source.parent.glob("*.h")):
            shutil.copy(file, sources)
        inputs.write_bytes(bundle.pack([item(name, array) for name, array in _inputs(program).items()]))

        async def given(case: kernel_pb2.Case) -> Path:
            return inputs

        subject = Subject(
            work=_work(program),
            folder=sources,
            draft=compiler_pb2.VerificationReport(),
            progress=lambda stage: None,
            inputs=given,
        )
        recorded = await self._frontend.launch_plans(subject)
        [plan] = recorded.plans
        return plan, recorded.image, inputs


def _work(program: Program) -> Work:
    action = compiler_pb2.VerifyAction(
        sources=[artifact_pb2.Artifact(path=program.source.name, contents=program.source.read_bytes())],
        language=kernel_pb2.Candidate.HIP,
        format=program.format,
        targets=[program.target],
        timeout=duration_pb2.Duration(seconds=_TIMEOUT_S),
    )
    return Work(action, kernel_pb2.Task(cases=[_case(program)]), digest.of_message(action))


def _inputs(program: Program) -> dict[str, Array]:
    return {name: _signed(value) for name, value in program.inputs.items() if isinstance(value, Array)}


def _case(program: Program) -> kernel_pb2.Case:
    case = kernel_pb2.Case(id="case")
    inputs = _inputs(program)
    for name, array in inputs.items():
        case.parameters.add(name=name, tensor=bundle.contiguous_view(array.dtype.name, array.shape))
    for name, value in program.inputs.items():
        if not isinstance(value, Array):
            case.parameters.add(name=name, **_NUMBERS[type(value)](value))
    outputs = program.end
    if not isinstance(outputs, tuple):
        outputs = (np.zeros(program.shape or next(iter(inputs.values())).shape, np.float32),)
    for number, array in enumerate(map(_signed, outputs)):
        case.outputs.add(name=f"out{number}", tensor=bundle.contiguous_view(array.dtype.name, array.shape))
    return case


def _signed(value: Any) -> Array:
    """A contiguous array; torch has no wide unsigned dtypes."""
    array = np.ascontiguousarray(value)
    return array.view(f"int{8 * array.itemsize}") if array.dtype.kind == "u" and array.itemsize > 1 else array


def _check_equal(what: str, given: Array, expected: Array, ulp: float, atol: float) -> None:
    assert (given.dtype, given.shape) == (expected.dtype, expected.shape), what
    if given.dtype.kind != "f":
        np.testing.assert_array_equal(given, expected, what)
        return
    one, other = given.astype(np.float64), expected.astype(np.float64)
    with np.errstate(invalid="ignore"):
        near = np.abs(one - other) <= np.maximum(ulp * np.spacing(np.abs(expected)).astype(np.float64), atol)
    same = (one == other) & (np.signbit(one) == np.signbit(other)) if not ulp and not atol else one == other
    wrong = ~(near & (ulp + atol > 0) | same | (np.isnan(one) & np.isnan(other)))
    assert not wrong.any(), f"{what}: {one[wrong][:5]} instead of {other[wrong][:5]} at {np.argwhere(wrong)[:5]}"


def lane_masks(yes: Array) -> Array:
    """Masks of lanes, the last axis, as int64."""
    return (yes.astype(np.uint64) << np.arange(64, dtype=np.uint64)).sum(-1, dtype=np.uint64).view(np.int64)


def numbers(count: int, seed: int = 1, low: float = -1, high: float = 1, dtype: Any = np.float32) -> Array:
    """Random floats."""
    return np.random.default_rng(seed).uniform(low, high, count).astype(dtype)


def integers(count: int, seed: int = 1, low: int = -1000, high: int = 1000, dtype: Any = np.int32) -> Array:
    """Random integers, `high` excluded."""
    return np.random.default_rng(seed).integers(low, high, count, dtype=dtype)
