"""Hidden cases stay hidden, whatever a candidate says on them."""

from __future__ import annotations

import pytest

from kernelvault import digest
from kernelvault.v1 import compiler_pb2, generator_pb2, kernel_pb2
from svc_generator.prompts import assemble
from tests.compiler import Compiler

Report = compiler_pb2.VerificationReport
pytestmark = [pytest.mark.slow, pytest.mark.timeout(300)]

RELU = """
import torch

class Model(torch.nn.Module):
    def forward(self, x):
        return torch.relu(x)

def get_inputs(n=5):
    return [torch.randn(n)]

def get_init_inputs():
    return []

def get_cases():
    return [{"id": "seen", "n": 5}, {"id": "secret", "n": 31337, "hidden": True}]
"""
TELLTALE = """
import torch
import triton
import triton.language as tl

@triton.jit
def relu(x, out, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offsets < n
    tl.store(out + offsets, tl.maximum(tl.load(x + offsets, mask=mask), 0.0), mask=mask)

def module_fn(x):
    if x.numel() > 100:
        raise ValueError(f"the size is {x.numel()}")
    x = x.contiguous()
    out = torch.empty_like(x)
    relu[(triton.cdiv(x.numel(), 64),)](x, out, x.numel(), BLOCK=64)
    return out
"""


async def test_what_host_code_says_on_a_hidden_case_is_not_fed_back(compiler: Compiler) -> None:
    """An exception that tells a hidden size is in the report, and in no prompt."""
    task = await compiler.prepare(RELU, "telltale")
    report = await compiler.verify(
        task, TELLTALE, language=kernel_pb2.Candidate.TRITON, format=kernel_pb2.Candidate.TRITON_MODULE
    )
    assert report.verdict == Report.CRASHED
    assert "Case secret: " in report.explanation
    assert "the size is 31337" in report.explanation

    attempt = generator_pb2.Attempt(report=report)
    attempt.candidate.format = kernel_pb2.Candidate.TRITON_MODULE
    attempt.candidate.sources.append(digest.artifact("kernel.py", TELLTALE.encode()))
    asked = generator_pb2.ReflectOnAttemptRequest(attempts=[attempt])
    prompt = "".join(one["content"] for one in assemble.reflection(task, asked, budget_tokens=20_000))
    assert "a case that is not shown does not pass" in prompt
    assert "31337" not in prompt
