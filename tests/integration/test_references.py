"""References are foreign code: run in the sandbox, checked, and blamed in words that name the remedy."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path

import numpy as np
import pytest

from kernelvault import errors
from kernelvault.replay import bundle
from kernelvault.replay.compare import compare
from kernelvault.replay.reference import ReferenceFault, References
from kernelvault.sandbox import Job, Limits, Outcome, Sandbox, memory
from kernelvault.v1 import kernel_pb2
from tests.references import LAYER, SECRET, described, module, references, task, torch_sandbox

__all__ = ["references", "torch_sandbox"]

Case = kernel_pb2.Case
pytestmark = pytest.mark.asyncio(loop_scope="module")
_MATMUL = """
import torch
M = 16384
K, N = 16 * 1024, 16384
class Model(torch.nn.Module):
    def forward(self, a, b):
        return a @ b
def get_inputs():
    return [torch.randn(M, K), torch.randn(K, N)]
def get_init_inputs():
    return []
"""


class Counting:
    """A sandbox that counts its jobs."""

    def __init__(self, sandbox: Sandbox) -> None:
        self._sandbox = sandbox
        self.runs = 0

    async def run(self, job: Job) -> Outcome:
        """Runs the job."""
        self.runs += 1
        return await self._sandbox.run(job)


async def test_a_task_with_get_inputs_only_gets_varied_cases(references: References) -> None:
    """Cases differ by seed, distribution and strides; the call signature is named in a candidate's order."""
    cases, notes = await references.describe(task(LAYER), max_cases=8)
    assert [case.id for case in cases] == [
        "given",
        "normal-strided",
        "large",
        "negative",
        "uniform-strided",
        "tiny",
        "zeros",
        "given-strided",
    ]
    assert [p.name for p in cases[0].parameters] == ["x", "norm.weight", "norm.bias", "scale", "cols", "eps"]
    assert [p.WhichOneof("value") for p in cases[0].parameters][3:] == ["float_value", "int_value", "float_value"]
    assert list(cases[1].parameters[0].tensor.strides) == [1, 4]
    assert [(o.name, list(o.tensor.dims)) for o in cases[0].outputs] == [("out", [4, 33])]
    assert notes == []


async def test_get_cases_names_shapes_and_distributions_rotate(references: References) -> None:
    """Each case has its shape, dtype and kind; distributions that the operator does not allow are passed over."""
    rest = """
def get_cases():
    small = [{"id": f"c{i}", "rows": 2 + i} for i in range(5)]
    return [*small, {"id": "big", "kind": "performance", "rows": 1 << 16}, {"id": "half", "dtype": torch.float16}]
def get_inputs(rows=3, dtype=torch.float32):
    return [torch.rand(rows, 7, dtype=dtype)]
"""
    cases, _ = await references.describe(task(module("return torch.log(x + 1e-3)", rest=rest)), max_cases=10)
    assert [case.id for case in cases] == ["c0", "c1", "c2", "c3", "c4", "big", "half"]
    assert [list(case.parameters[0].tensor.dims) for case in cases[:2]] == [[2, 7], [3, 7]]
    assert cases[5].kind == Case.PERFORMANCE
    assert cases[5].distribution == Case.GIVEN
    assert json.loads(cases[6].arguments_json) == {"dtype": "torch.float16"}
    assert cases[6].parameters[0].tensor.dtype == "float16"
    used = {case.distribution for case in cases}
    assert Case.NORMAL not in used  # log of a negative number
    assert {Case.GIVEN, Case.UNIFORM, Case.TINY, Case.ZEROS} == used


async def test_large_inputs_are_shrunk_and_the_original_is_kept_for_performance(references: References) -> None:
    """16384-cubed becomes what the CPU model can run, and a note says so; its true size is a performance case."""
    cases, notes = await references.describe(task(_MATMUL), max_cases=5)
    assert dict(cases[0].shrunk) == {"M": 256, "K": 256, "N": 256}
    assert [list(p.tensor.dims) for p in cases[0].parameters] == [[256, 256], [256, 256]]
    resized = next(case for case in cases if case.id == "resized")
    assert list(resized.outputs[0].tensor.dims) == [193, 256]
    assert cases[-1].id == "original"
    assert cases[-1].kind == Case.PERFORMANCE
    assert list(cases[-1].parameters[0].tensor.dims) == [16384, 16384]
    assert notes == [
        "correctness cases use smaller inputs, so that the CPU model can run them: "
        "K from 16384 to 256, M from 16384 to 256, N from 16384 to 256"
    ]


_LAYERS = """
import torch
layer_sizes = [16384, 8192]
class Model(torch.nn.Module):
    def __init__(self, sizes):
        super().__init__()
        self.layers = torch.nn.Sequential(*(torch.nn.Linear(a, b) for a, b in zip([64, *sizes], sizes)))
    def forward(self, x):
        return self.layers(x)
def get_inputs():
    return [torch.rand(64, 64)]
def get_init_inputs():
    return [layer_sizes]
"""
_ON_A_GPU = """
import torch
class Model(torch.nn.Module):
    def forward(self, q, k):
        return (q @ k.to("cuda")).cuda()
N = 16384
def get_inputs():
    return [torch.rand(N, 64, device="cuda", dtype=torch.float16), torch.rand(64, N).half().cuda()]
"""


async def test_integers_of_a_list_are_shrunk_one_by_one(references: References) -> None:
    """KernelBench keeps the sizes of layers in lists."""
    cases, _ = await references.describe(task(_LAYERS), max_cases=1)
    assert set(cases[0].shrunk) == {"layer_sizes[0]", "layer_sizes[1]"}
    weight = next(p.tensor for p in cases[0].parameters if p.name == "layers.1.weight")
    assert list(weight.dims) == [cases[0].shrunk["layer_sizes[1]"], cases[0].shrunk["layer_sizes[0]"]]


async def test_a_reference_that_asks_for_a_gpu_runs_on_the_cpu(references: References) -> None:
    """KernelBench's attention makes its inputs on `cuda`; nobody has to edit it, and it is shrunk like any other."""
    cases, _ = await references.describe(task(_ON_A_GPU), max_cases=1)
    assert set(cases[0].shrunk) == {"N"}
    assert cases[-1].id == "original"


async def test_a_case_that_is_too_large_to_write_says_what_to_do(torch_sandbox: Sandbox, tmp_path: Path) -> None:
    """Sizes that are no module-level integers cannot be shrunk: the author hears how to name them."""
    references = References(torch_sandbox, tmp_path, SECRET, limits=Limits(file_bytes=4 << 20))
    made = await described(references, module("return x + 1", inputs="torch.rand(1024, 1024)"))
    with pytest.raises(ReferenceFault, match="has more than 4 MiB of inputs or outputs in a case; name the sizes as"):
        await references.evaluate(made, made.cases[0])


async def test_an_evaluation_holds_inputs_and_outputs_in_two_precisions(references: References) -> None:
    """Inputs come in signature order with numbers; float64 differs from float32 by rounding only."""
    made = await described(references, LAYER)
    evaluation = await references.evaluate(made, made.cases[1])
    given = bundle.read(evaluation.inputs.read_bytes())
    assert [item.name for item in given] == ["x", "norm.weight", "norm.bias", "scale", "cols", "eps"]
    assert [item.scalar for item in given[3:]] == [1.5, 33, 1e-5]
    x, weight, bias = (bundle.to_numpy(item).astype(np.float64) for item in given[:3])
    expected = (x - x.mean(-1, keepdims=True)) / np.sqrt(x.var(-1, keepdims=True) + 1e-5)
    exact, length = bundle.read(evaluation.exact.read_bytes())
    np.testing.assert_allclose(bundle.to_numpy(exact), (expected * weight + bias) * 1.5, rtol=1e-12, atol=1e-12)
    assert length.scalar == 34
    (working,) = bundle.read(evaluation.working.read_bytes())
    assert working.view.dtype == "float32"
    np.testing.assert_allclose(bundle.to_numpy(working), bundle.to_numpy(exact), rtol=1e-4, atol=1e-5)


async def test_parameters_that_are_born_constant_vary(references: References) -> None:
    """A kernel that leaves out the ones and zeros of a norm must not pass."""
    made = await described(references, LAYER)
    evaluation = await references.evaluate(made, made.cases[0])
    _, weight, bias, *_ = bundle.read(evaluation.inputs.read_bytes())
    assert np.ptp(bundle.to_numpy(weight)) > 0.1
    assert np.ptp(bundle.to_numpy(bias)) > 0.1


async def test_seeds_differ_between_cases_and_secrets(torch_sandbox: Sandbox, tmp_path: Path) -> None:
    """Neither another case of a distribution nor another server sees the same values."""
    values = []
    for secret in (b"one", b"two"):
        references = References(torch_sandbox, tmp_path / secret.decode(), secret)
        made = await described(references, LAYER)
        for case in (made.cases[0], made.cases[-1]):
            values.append((await references.evaluate(made, case)).inputs.read_bytes())
    assert len(set(values)) == 4


async def test_results_are_cached_and_concurrent_calls_joined(torch_sandbox: Sandbox, tmp_path: Path) -> None:
    """Ten callers start one child; a second server with the same cache starts none."""
    counting = Counting(torch_sandbox)
    references = References(counting, tmp_path, SECRET)
    made = await described(references, LAYER)
    counting.runs = 0
    await asyncio.gather(*(references.evaluate(made, case) for case in [*made.cases[:5], *made.cases[:5]]))
    assert counting.runs == 1
    again = References(counting, tmp_path, SECRET)
    await again.evaluate(made, made.cases[3])
    assert counting.runs == 1


async def test_performance_inputs_come_without_outputs(references: References) -> None:
    """The inputs of a performance case are made without running the reference on them."""
    rest = """
def get_cases():
    return [{"id": "small"}, {"id": "large", "kind": "performance", "rows": 5000}]
def get_inputs(rows=2):
    return [torch.randn(rows, 256)]
"""
    made = await described(references, module("assert x.device.type == 'meta' or len(x) < 9\nreturn x + 1", rest=rest))
    (item,) = bundle.read((await references.inputs(made, made.cases[1])).read_bytes())
    assert list(item.view.dims) == [5000, 256]


_LOOKUP = """
import torch

class Model(torch.nn.Module):
    def forward(self, table, rows, scale):
        return table[rows] * scale

def get_inputs(count=3):
    return [torch.randn(1000, 64), torch.randint(0, 1000, (count,)), 2.5]

def get_init_inputs():
    return []

def get_cases():
    return [{"id": "small"}, *({"id": f"large-{n}", "kind": "performance", "count": n} for n in (5000, 7000))]
"""


async def test_sample_inputs_hold_integers_only(torch_sandbox: Sandbox, tmp_path: Path) -> None:
    """Integers are the case's own, floating-point values are left out; one child draws all performance cases."""
    counting = Counting(torch_sandbox)
    references = References(counting, tmp_path, SECRET)
    made = await described(references, _LOOKUP)
    counting.runs = 0
    sampled = [bundle.read((await references.sample_inputs(made, case)).read_bytes()) for case in made.cases[1:]]
    assert counting.runs == 1
    honest = bundle.read((await references.inputs(made, made.cases[1])).read_bytes())
    table, rows, scale = sampled[0]
    assert (table.view.dtype, list(table.view.dims), table.storage.nbytes) == ("float32", [0], 0)
    assert (rows.view, rows.storage, scale.scalar) == (honest[1].view, honest[1].storage, 2.5)
    assert list(sampled[1][1].view.dims) == [7000]


async def test_sample_inputs_without_integers_cost_no_process(torch_sandbox: Sandbox, tmp_path: Path) -> None:
    """Tasks with equal dtypes share one small bundle."""
    counting = Counting(torch_sandbox)
    references = References(counting, tmp_path, SECRET)
    cases = [(await described(references, source)).cases[0] for source in (LAYER, LAYER + "\n")]
    counting.runs = 0
    paths = {await references.sample_inputs(task(source), case) for source, case in zip("ab", cases, strict=True)}
    assert (counting.runs, len(paths)) == (0, 1)
    items = bundle.read(paths.pop().read_bytes())
    assert [item.view.dtype if item.view else None for item in items] == ["float32"] * 3 + [None] * 3


@pytest.mark.parametrize(
    ("source", "kind", "message"),
    [
        ("x = 1", errors.InvalidArgument, "reference: defines no class Model; define class Model(torch.nn.Module), "),
        ("class Model: pass", errors.InvalidArgument, "reference: defines no function get_inputs; "),
        (
            "def f(:\n",
            errors.InvalidArgument,
            "reference: does not parse: line 1: invalid syntax; send a Python module",
        ),
        (
            module("return x", rest="raise ValueError('no')"),
            errors.FailedPrecondition,
            "reference: importing it raised ValueError: no (line 12)",
        ),
        (
            module("return x", inputs="1 / 0"),
            errors.FailedPrecondition,
            "reference: get_inputs() raised ZeroDivisionError: division by zero (line 8)",
        ),
        (
            module("return x @ x"),
            errors.FailedPrecondition,
            "reference: Model.forward raised RuntimeError: mat1 and mat2 shapes cannot be multiplied ",
        ),
        (
            module("return 3"),
            errors.FailedPrecondition,
            "reference: Model.forward returned int 3 as out; return tensors only",
        ),
        (
            module("return x + torch.rand(8)"),
            errors.FailedPrecondition,
            "reference: is not deterministic: out differs between two runs on the same inputs; ",
        ),
        (
            module("return x.add_(1)"),
            errors.FailedPrecondition,
            "reference: changes its inputs: x differs after Model.forward; work on a copy of it",
        ),
        (module("import os\nos._exit(0)"), errors.FailedPrecondition, "reference: ends its process without a result"),
        (
            module("return x", rest="def get_cases(): return [{'kind': 'perf'}]"),
            errors.InvalidArgument,
            "reference: get_cases()[0]['kind'] is 'perf'; use 'correctness' or 'performance'",
        ),
        (
            module("return x", rest="def get_cases(): return [{'rowz': 3}]"),
            errors.InvalidArgument,
            "reference: get_cases()[0] has 'rowz', which neither get_inputs nor get_init_inputs takes",
        ),
        (
            module("return x", rest="def get_cases(): return [{'distributions': ['gauss']}]"),
            errors.InvalidArgument,
            "reference: get_cases()[0]['distributions'] is ['gauss']; list some of given, normal, ",
        ),
        (
            module("return x[0]", inputs="[torch.randn(3)]"),
            errors.InvalidArgument,
            "reference: get_inputs gives a list of tensors for 'x'; give each tensor as an input",
        ),
        (
            module("return torch.complex(x, x)"),
            errors.FailedPrecondition,
            "reference: uses tensors of complex64; use one of float64, float32",
        ),
        ("", errors.InvalidArgument, "reference: is empty; send the Python module in `reference.contents`"),
    ],
)
async def test_an_unfit_reference_is_told_what_to_do(
    references: References, source: str, kind: type[errors.Error], message: str
) -> None:
    """Each way to be wrong has its status, its field and its remedy."""
    with pytest.raises(kind) as caught:
        await references.describe(task(source), max_cases=5)
    assert str(caught.value).startswith(message)


@pytest.mark.parametrize(
    ("source", "message"),
    [
        (
            module("while True: pass"),
            "reference: does not end within 1 s; look for an endless loop, or use smaller inputs",
        ),
        (
            module("return x", inputs="torch.ones(25 << 30)"),
            "reference: needs more than 1 GiB of memory; use smaller inputs",
        ),
        (
            module("return x", inputs="bytearray(100 << 30)"),
            "reference: needs more than 1 GiB of memory; use smaller inputs",
        ),
    ],
)
async def test_a_greedy_reference_ends_within_its_limits(
    torch_sandbox: Sandbox, tmp_path: Path, source: str, message: str
) -> None:
    """An endless loop and 100 GB end soon, with words and without harm."""
    limits = Limits(wall_seconds=1, cpu_seconds=1, memory_bytes=1 << 30)
    with pytest.raises(errors.FailedPrecondition) as caught:
        await References(torch_sandbox, tmp_path, SECRET, limits=limits).describe(task(source), max_cases=5)
    assert caught.value.reason == "REFERENCE_UNFIT"
    assert str(caught.value).startswith(message)


async def test_a_fault_in_one_case_leaves_the_others(references: References) -> None:
    """The case that fails is the reference's fault; its siblings have their values."""
    rest = """
def get_cases():
    return [{"id": "a"}, {"id": "b", "rows": 5}]
def get_inputs(rows=4):
    return [torch.randn(rows, 8)]
"""
    made = await described(references, module("return x + 1", rest=rest))
    made.cases[1].parameters[0].tensor.dims[0] = 77
    await references.evaluate(made, made.cases[0])
    with pytest.raises(ReferenceFault, match="case b: gives other inputs or outputs than the task describes"):
        await references.evaluate(made, made.cases[1])


async def test_a_child_cannot_hand_out_files_of_others(references: References) -> None:
    """A result that is no bundle, or a link, is a fault of the reference and is not kept."""
    made = await described(references, module("return x + 1"))
    source = module("open('0.json', 'w').write('{}')\nopen('0.inputs', 'w').write('no')\nimport os\nos._exit(0)")
    made.reference.CopyFrom(task(source).reference)
    with pytest.raises(ReferenceFault, match="case given: gives other inputs or outputs"):
        await references.evaluate(made, made.cases[0])


async def test_a_reference_that_cannot_run_in_float64_says_so(references: References) -> None:
    """Code that is tied to float32 is compared with its own dtype, with a note."""
    made = await described(references, module("return x.contiguous().view(torch.int32) & -2"))
    evaluation = await references.evaluate(made, made.cases[0])
    assert evaluation.notes[0].startswith("the reference ")
    assert evaluation.notes[0].endswith("its own dtype is compared")


async def test_a_cast_inside_a_module_is_exact_in_float64(references: References) -> None:
    """Conversions to float32 inside a module (as in transformers' norms) do not round the float64 result."""
    made = await described(references, module("return (x.to(torch.float32) / 3).to(x.dtype)"))
    evaluation = await references.evaluate(made, made.cases[0])
    x = bundle.to_numpy(bundle.read(evaluation.inputs.read_bytes())[0])
    exact = bundle.to_numpy(bundle.read(evaluation.exact.read_bytes())[0])
    np.testing.assert_array_equal(exact, x.astype(np.float64) / 3)


async def test_tied_parameters_share_their_storage(references: References) -> None:
    """Two names of one parameter stand in the signature, and once in the bundle."""
    source = """
import torch
class Model(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.a = torch.nn.Linear(64, 64, bias=False)
        self.b = torch.nn.Linear(64, 64, bias=False)
        self.b.weight = self.a.weight
    def forward(self, x):
        return self.b(self.a(x))
def get_inputs():
    return [torch.randn(2, 64)]
"""
    made = await described(references, source, 1)
    evaluation = await references.evaluate(made, made.cases[0])
    _, one, other = bundle.read(evaluation.inputs.read_bytes())
    assert (one.name, other.name) == ("a.weight", "b.weight")
    assert one.storage is other.storage


async def test_transformers_runs_inside_the_sandbox(references: References) -> None:
    """A reference may import a model of transformers: readable, without a network."""
    source = """
import torch
from transformers.models.llama.modeling_llama import LlamaRMSNorm as Norm
class Model(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.norm = Norm(16)
    def forward(self, x):
        return self.norm(x)
def get_inputs():
    return [torch.randn(2, 16, dtype=torch.bfloat16)]
"""
    made = await described(references, source, 2)
    assert made.cases[0].parameters[1].tensor.dtype == "bfloat16"


async def test_outputs_are_compared_in_a_third_process(references: References, torch_sandbox: Sandbox) -> None:
    """The reference's own outputs pass through the whole path; zeros do not."""
    made = await described(references, LAYER)
    evaluation = await references.evaluate(made, made.cases[0])
    right = evaluation.working.read_bytes()
    items = [bundle.Item(i.name, i.view, memoryview(bytes(i.storage.nbytes))) for i in bundle.read(right)]
    after = memory.sealed(evaluation.inputs.read_bytes())
    for outputs, passed in ((right, True), (bundle.pack(items), False)):
        descriptors = [memory.sealed(outputs), memory.sealed(outputs)]
        result = await compare(torch_sandbox, evaluation, made.cases[0], descriptors, after)
        assert result.passed is passed
        assert result.outputs[0].tolerance.relative == pytest.approx(1.4e-6, rel=0.1)
