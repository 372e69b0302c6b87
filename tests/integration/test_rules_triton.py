"""Rules write Triton: TorchInductor in the real sandbox, for a device that is not there."""

from __future__ import annotations

import ast
import re
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import pytest_asyncio

from kernelvault import digest, errors
from kernelvault.replay.reference import References
from kernelvault.sandbox import Sandbox
from kernelvault.v1 import generator_pb2, kernel_pb2
from orchestrator import suite
from svc_generator.backends.base import Completion
from svc_generator.rules.backend import PRELOAD, RulesBackend
from svc_generator.rules.inductor.variants import LADDER

pytestmark = [pytest.mark.asyncio(loop_scope="module"), pytest.mark.slow]
TRITON = kernel_pb2.Candidate.TRITON
SAMPLE = ("softmax", "matmul", "layer_norm", "linear_gelu", "cross_entropy")
# What host code may call: allocations, views and arithmetic on sizes.
HOST_CALLS = {"contiguous", "size", "empty", "empty_strided", "as_strided", "cdiv", "next_power_of_2", "min", "max"}
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
        asked = generator_pb2.GenerateCandidatesRequest(language=TRITON, candidate_count=count, **request)  # type: ignore[arg-type]
        return [completion async for completion in self.backend.generate(task, asked)]


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def rules(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Rules]:
    """One backend for all tests of the module."""
    sandbox = await Sandbox.start(preload=[*PRELOAD, "kernelvault.replay.reference_child"])
    rules = Rules(sandbox, tmp_path_factory.mktemp("rules"))
    yield rules
    await rules.backend.close()
    await sandbox.close()


def _text(completion: Completion) -> str:
    return completion.sources[0].contents.decode()


async def test_the_same_request_gives_the_same_source(rules: Rules, tmp_path: Path) -> None:
    """Nothing of a source depends on what the backend did before."""
    task = await rules.task("softmax")
    [first] = await rules.write(task)
    await rules.write(await rules.task("relu"))
    [again] = await rules.write(task)
    assert _text(first) == _text(again)


@pytest.mark.parametrize("title", SAMPLE)
async def test_host_code_computes_nothing(rules: Rules, title: str) -> None:
    """Wrappers allocate, view and launch; torch never sees an element."""
    [candidate] = await rules.write(await rules.task(title))
    assert (candidate.format, candidate.entry_point) == (kernel_pb2.Candidate.TRITON_MODULE, "module_fn")
    module = ast.parse(_text(candidate))
    host = [node for node in module.body if isinstance(node, ast.FunctionDef) and not node.decorator_list]
    calls = [node.func for function in host for node in ast.walk(function) if isinstance(node, ast.Call)]
    named = {re.split(r"[.\[]", ast.unparse(call))[-1] for call in calls if not isinstance(call, ast.Subscript)}
    assert {name for name in named if not name.startswith(("_call", "grid_2d", "TypeError"))} <= HOST_CALLS


async def test_sizes_are_arguments(rules: Rules) -> None:
    """A size that differs between the cases is no number in the source."""
    [candidate] = await rules.write(await rules.task("softmax"))
    assert "x_size1 = x.size(1)" in _text(candidate)
    assert not re.search(r"\b(33|1000|4096)\b", _text(candidate).replace("min(1024", ""))


async def test_dtypes_share_their_kernels(rules: Rules) -> None:
    """float32, float16 and bfloat16 differ in what is loaded, not in the kernel; the product is of what was loaded."""
    [candidate] = await rules.write(await rules.task("matmul"))
    text = _text(candidate)
    assert text.count("@triton.jit") == 1
    assert "dtype=a.dtype" in text
    assert ".to(tl.float32)" not in text


async def test_numbers_that_differ_are_arguments(rules: Rules) -> None:
    """A scalar of the call reaches the kernel."""
    [candidate] = await rules.write(await rules.task("clamp"))
    assert "def module_fn(x, low, high):" in _text(candidate)
    assert re.search(r"clamp_\w*kernel\[.*\]\(x, out, x_size0, low, high, ", _text(candidate))


async def test_each_attempt_gets_a_new_variant_until_there_are_none(rules: Rules) -> None:
    """A source that was tried is not written again."""
    task = await rules.task("sum_rows")
    everything = await rules.write(task, 9)
    assert [c.rationale.split(":")[0] for c in everything] == [variant.name for variant in LADDER]
    tried = [generator_pb2.Attempt(candidate=kernel_pb2.Candidate(sources=c.sources)) for c in everything]
    assert await rules.write(task, attempts=tried) == []


async def test_strided_inputs_are_copied(rules: Rules) -> None:
    """Kernels see contiguous tensors whatever the caller has."""
    [candidate] = await rules.write(await rules.task("layer_norm"))
    assert all(f"    {name} = {name}.contiguous()\n" in _text(candidate) for name in ("x", "norm_weight", "norm_bias"))


async def test_an_operator_without_a_rule_is_named(rules: Rules) -> None:
    """What cannot be lowered is said plainly."""
    reference = digest.artifact("inverse.py", UNKNOWN.encode())
    task = await rules.described(kernel_pb2.Task(title="inverse", reference=reference))
    with pytest.raises(errors.FailedPrecondition, match="linalg_inv_ex") as raised:
        await rules.write(task)
    assert raised.value.reason == "NOT_LOWERABLE"
    assert "linalg_inv_ex" in raised.value.metadata["operator"]
