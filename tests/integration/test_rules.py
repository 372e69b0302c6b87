"""Rules write candidates: tracing in the real sandbox, compiling with the real compiler."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import pytest_asyncio

from kernelvault import digest, errors
from kernelvault.replay.reference import References
from kernelvault.sandbox import Sandbox
from kernelvault.v1 import compiler_pb2, generator_pb2, kernel_pb2, profiler_pb2
from orchestrator import suite
from svc_compiler.hip import gpu
from svc_compiler.hip.toolchain import Toolchain
from svc_generator.backends.base import Completion
from svc_generator.rules.backend import PRELOAD, RulesBackend
from svc_generator.rules.schedules import LADDER
from tests.recording import PREFIX

pytestmark = pytest.mark.asyncio(loop_scope="module")
SAMPLE = ("softmax", "matmul", "layer_norm", "qwen3_rotary", "cumulative_sum", "cross_entropy", "linear_gelu")
UNKNOWN = """
import torch
class Model(torch.nn.Module):
    def forward(self, x):
        return torch.linalg.inv(x) + 1
def get_inputs(): return [torch.randn(4, 4)]
def get_init_inputs(): return []
"""


class Rules:
    """The backend with what it needs, and tasks described by their real references."""

    def __init__(self, sandbox: Sandbox, folder: Path) -> None:
        self.sandbox = sandbox
        self.backend = RulesBackend(sandbox, folder)
        self._references = References(sandbox, folder / "references", b"secret" * 8)

    async def task(self, title: str) -> kernel_pb2.Task:
        """A task of the suite with its cases."""
        return await self.described(suite.read(next(p for p in suite.tasks() if suite.title(p) == title)))

    async def described(self, task: kernel_pb2.Task) -> kernel_pb2.Task:
        cases, _ = await self._references.describe(task, max_cases=6)
        task.cases.extend(cases)
        return task

    async def write(self, task: kernel_pb2.Task, count: int = 1, **request: object) -> list[Completion]:
        """The completions of one call."""
        asked = generator_pb2.GenerateCandidatesRequest(candidate_count=count, **request)  # type: ignore[arg-type]
        return [completion async for completion in self.backend.generate(task, asked)]


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def rules(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Rules]:
    """One warm sandbox for all tests of the module."""
    sandbox = await Sandbox.start(preload=[*PRELOAD, "kernelvault.replay.reference_child"])
    yield Rules(sandbox, tmp_path_factory.mktemp("rules"))
    await sandbox.close()


def _text(completion: Completion) -> str:
    return completion.sources[0].contents.decode()


def _attempt(completion: Completion, bound: str = "") -> generator_pb2.Attempt:
    """An earlier attempt that passed; with a bound, it was profiled."""
    attempt = generator_pb2.Attempt(
        candidate=kernel_pb2.Candidate(sources=completion.sources),
        report=compiler_pb2.VerificationReport(verdict=compiler_pb2.VerificationReport.PASSED),
    )
    if bound:
        kernel = profiler_pb2.Profile.KernelEstimate(time_ns=1000, bound=bound)
        attempt.profile.cases.append(profiler_pb2.Profile.CaseEstimate(kernels=[kernel]))
    return attempt


async def test_the_same_request_gives_the_same_source(rules: Rules, tmp_path: Path) -> None:
    """Nothing of a source depends on what the backend did before."""
    task = await rules.task("qwen3_rotary")
    fresh = RulesBackend(rules.sandbox, tmp_path)
    again = [c async for c in fresh.generate(task, generator_pb2.GenerateCandidatesRequest(candidate_count=9))]
    assert [_text(c) for c in await rules.write(task, 9)] == [_text(c) for c in again]


async def test_each_attempt_gets_a_new_variant_until_there_are_none(rules: Rules) -> None:
    """The ladder is climbed from its foot; a source that was tried is not written again."""
    task = await rules.task("matmul")
    everything = await rules.write(task, 9)
    assert [c.rationale.split(":")[0] for c in everything] == [schedule.name for schedule in LADDER]
    [second] = await rules.write(task, attempts=[_attempt(everything[0])])
    assert second == everything[1] or _text(second) == _text(everything[1])
    assert await rules.write(task, attempts=[_attempt(c) for c in everything]) == []


async def test_what_bounds_the_kernel_chooses_the_next_variant(rules: Rules) -> None:
    """A compute-bound product goes to register tiles at once, a launch-bound one to fusion."""
    task = await rules.task("matmul")
    [first] = await rules.write(task)
    for bound, expected in (("compute", "vectors"), ("latency", "blocks"), ("launch", "fused")):
        [following] = await rules.write(task, attempts=[_attempt(first, bound)])
        assert following.rationale.startswith(expected)


async def test_samples_that_the_caller_has_are_left_out(rules: Rules) -> None:
    """A repeated call goes on where the first one stopped."""
    task = await rules.task("matmul")
    request = generator_pb2.GenerateCandidatesRequest(candidate_count=2)
    rest = [c async for c in rules.backend.generate(task, request, done=frozenset({0}))]
    assert [c.sample_index for c in rest] == [1]


async def test_an_operator_without_a_rule_is_named(rules: Rules) -> None:
    """What cannot be lowered is said plainly."""
    task = await rules.described(
        kernel_pb2.Task(title="inverse", reference=digest.artifact("inverse.py", UNKNOWN.encode()))
    )
    with pytest.raises(errors.FailedPrecondition, match="linalg_inv_ex: there is no rule for it") as raised:
        await rules.write(task)
    assert raised.value.reason == "NOT_LOWERABLE"
    assert raised.value.metadata["operator"] == "linalg_inv_ex"


async def test_each_dtype_has_a_launcher(rules: Rules) -> None:
    """Cases of other dtypes than float32 call a launcher of their own."""
    [candidate] = await rules.write(await rules.task("softmax"))
    assert re.findall(r'extern "C" void (\w+)\(', _text(candidate)) == ["run", "run_float16", "run_bfloat16"]


async def test_a_torch_extension_on_request(rules: Rules) -> None:
    """hip-torch gets the same kernels behind `forward`."""
    [candidate] = await rules.write(await rules.task("softmax"), format=kernel_pb2.Candidate.HIP_TORCH)
    assert candidate.entry_point == "forward"
    assert 'm.def("forward", &forward);' in _text(candidate)
    assert 'extern "C"' not in _text(candidate)


async def test_a_torch_extension_returns_the_sizes_of_the_reference(rules: Rules) -> None:
    """A reduced dimension that the reference drops is dropped, though the kernels keep it as 1."""
    [candidate] = await rules.write(await rules.task("sum_all"), format=kernel_pb2.Candidate.HIP_TORCH)
    assert "torch::empty({}, " in _text(candidate)


async def test_a_format_of_another_language_is_refused(rules: Rules) -> None:
    """A format and a language that do not fit are named."""
    with pytest.raises(errors.InvalidArgument, match="language: a HIP_ABI is in another language"):
        await rules.write(
            await rules.task("softmax"), language=kernel_pb2.Candidate.TRITON, format=kernel_pb2.Candidate.HIP_ABI
        )


@pytest.mark.parametrize("title", SAMPLE)
async def test_sources_know_no_wave(rules: Rules, title: str) -> None:
    """Kernels run on waves of any size: no shuffles, ballots, wave sizes or assembly."""
    for candidate in await rules.write(await rules.task(title), 9):
        assert not re.search(r"__shfl|__ballot|__any|__all|warpSize|WAVEFRONT|\basm\b|__builtin_", _text(candidate))


@pytest.mark.slow
@pytest.mark.parametrize("title", SAMPLE)
async def test_sources_compile_for_the_gpu(rules: Rules, title: str, tmp_path: Path) -> None:
    """Every variant compiles for gfx942 without a diagnostic."""
    toolchain = Toolchain.find(PREFIX, tmp_path / "cache")
    for candidate in await rules.write(await rules.task(title), 9):
        (tmp_path / "kernel.hip").write_bytes(candidate.sources[0].contents)
        built = await gpu.compile_gpu(rules.sandbox, toolchain, tmp_path, "kernel.hip", "gfx942")
        assert built.build.compiled
        assert not built.build.diagnostics
