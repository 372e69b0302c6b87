"""A module becomes a function that is really called, or its author hears why not."""

from __future__ import annotations

import pytest

from kernelvault import digest, errors
from kernelvault.replay.reference import References
from kernelvault.replay.standardize import standardize
from kernelvault.sandbox import Sandbox
from kernelvault.v1 import kernel_pb2
from tests.references import LAYER, described, module, references, torch_sandbox

__all__ = ["references", "torch_sandbox"]

pytestmark = pytest.mark.asyncio(loop_scope="module")


async def _functional(references: References, sandbox: Sandbox, source: str) -> str:
    made = await described(references, source, 3)
    return (await standardize(references, sandbox, made)).contents.decode()


async def test_a_module_gets_its_functional_form(references: References, torch_sandbox: Sandbox) -> None:
    """The file stays, `module_fn` takes what a candidate gets, and forward calls it through `fn`."""
    text = await _functional(references, torch_sandbox, LAYER)
    assert (
        "def module_fn(x, norm_weight, norm_bias, scale, cols, eps):\n"
        "    layer_norm = F.layer_norm(x, (33,), weight=norm_weight, bias=norm_bias, eps=1e-05)\n"
        "    mul = layer_norm * scale\n"
        "    return mul\n"
    ) in text
    assert (
        "    def forward(self, x, scale, fn=module_fn):\n        return fn(x, self.norm.weight, self.norm.bias, "
        in text
    )
    assert "import torch.nn.functional as F\n" in text


async def test_numbers_that_differ_between_cases_become_arguments(
    references: References, torch_sandbox: Sandbox
) -> None:
    """One function holds for all cases: sizes are expressed by the numbers that a candidate gets."""
    rest = """
def get_cases():
    return [{"id": "a", "rows": 2, "cols": 8}, {"id": "b", "rows": 3, "cols": 5, "dtype": torch.float16}]
"""
    text = await _functional(references, torch_sandbox, LAYER + rest)
    assert "F.layer_norm(x, (cols,), weight=norm_weight, bias=norm_bias, eps=1e-05)" in text


async def test_old_style_super_calls_survive(references: References, torch_sandbox: Sandbox) -> None:
    """KernelBench's modules call super(Model, self).__init__()."""
    source = LAYER.replace("super().__init__()", "super(Model, self).__init__()")
    assert "super(Model, self).__init__()" in await _functional(references, torch_sandbox, source)


@pytest.mark.parametrize(
    ("forward", "message"),
    [
        ("return x * 2 if x.sum() > 0 else x * 3", r"torch.fx cannot trace it: .* at `return x \* 2 if .*` \(line 5\)"),
        ("return x + self.__class__.TABLE", "the tensor .* is neither a parameter nor a buffer"),
    ],
)
async def test_what_cannot_be_traced_is_named(
    references: References, torch_sandbox: Sandbox, forward: str, message: str
) -> None:
    """Control flow on data, and tensors outside the state, are told with the line or the tensor."""
    source = module(forward, rest="Model.TABLE = torch.arange(8.0)")
    with pytest.raises(errors.FailedPrecondition, match=message) as caught:
        await _functional(references, torch_sandbox, source)
    assert caught.value.reason == "NOT_TRACEABLE"


_FORM = """
import torch

def module_fn(x):
    return {function}

class Model(torch.nn.Module):
    def forward(self, x, fn=module_fn):
        return {call}

def get_inputs():
    return [torch.randn(4, 8)]
"""


@pytest.mark.parametrize(
    ("function", "call", "message"),
    [
        ("torch.relu(x)", "torch.relu(x)", "Model.forward does not call the fn that it is given"),
        ("torch.relu(x)", "(fn(x), torch.relu(x))[1]", "out does not change when fn returns something else"),
        ("torch.relu(x) + 1", "fn(x)", "the default call gives other values of out: 32 of 32 elements differ"),
        ("torch.relu(x)[:1]", "fn(x)", r"the default call gives out as \[1, 8\] torch.float32, the module \[4, 8\]"),
        ("torch.relu(x)", "fn(x, 1)", r"raised TypeError: module_fn\(\) takes 1 positional argument but 2 were given"),
    ],
)
async def test_a_given_form_is_checked(
    references: References, torch_sandbox: Sandbox, function: str, call: str, message: str
) -> None:
    """A form that ignores its function, or computes something else, is refused with the case and the difference."""
    made = await described(references, module("return torch.relu(x)"), 2)
    form = _FORM.format(function=function, call=call)
    made.functional.CopyFrom(digest.artifact("functional.py", form.encode()))
    with pytest.raises(errors.FailedPrecondition, match=f"reference: case given: .*{message}") as caught:
        await standardize(references, torch_sandbox, made)
    assert caught.value.reason == "NOT_EQUIVALENT"


async def test_a_right_form_is_returned_as_it_was(references: References, torch_sandbox: Sandbox) -> None:
    """A given form that passes is not rewritten."""
    made = await described(references, module("return torch.relu(x)"), 2)
    form = _FORM.format(function="torch.relu(x)", call="fn(x)")
    made.functional.CopyFrom(digest.artifact("mine.py", form.encode()))
    assert await standardize(references, torch_sandbox, made) == made.functional


async def test_a_task_without_cases_is_refused(references: References, torch_sandbox: Sandbox) -> None:
    """There is nothing to check a form on."""
    with pytest.raises(errors.InvalidArgument, match=r"task\.cases: is empty; prepare the task first"):
        await standardize(references, torch_sandbox, kernel_pb2.Task())
