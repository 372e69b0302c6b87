"""A Triton module's host code becomes a launch plan, with the real sandbox, torch and Triton."""

from __future__ import annotations

import struct
from collections.abc import AsyncIterator

import pytest
import pytest_asyncio

from kernelvault.sandbox import Sandbox
from kernelvault.v1 import compiler_pb2, kernel_pb2, plan_pb2
from svc_compiler.triton import capture, compile
from tests.capturing import PREFIX, Captures, case, function, line_of
from tests.recording import kinds, pointers, tensor, verdict

pytestmark = pytest.mark.asyncio(loop_scope="module")
Finding = compiler_pb2.Finding
Parameter = kernel_pb2.Parameter


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def captures(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Captures]:
    """One warm sandbox for all tests of the module."""
    sandbox = await Sandbox.start(preload=[*capture.PRELOAD, *compile.PRELOAD])
    await sandbox.ready()
    yield Captures(sandbox, tmp_path_factory.mktemp("sources"))
    await sandbox.close()


RETURN_ADD = "return add(a, b, torch.empty_like(a))"


async def test_a_launch_is_recorded(captures: Captures) -> None:
    """A launch has its grid, its argument bytes, and the buffers that its pointers mean."""
    captured = await captures.capture(function(RETURN_ADD))
    plan, program = captured.plan, captured.program
    assert [(b.name, b.role, b.size_bytes) for b in plan.buffers] == [
        ("a", plan_pb2.Buffer.INPUT, 4000),
        ("b", plan_pb2.Buffer.INPUT, 4000),
        ("scratch 1", plan_pb2.Buffer.SCRATCH, 4000),
    ]
    [operation] = plan.operations
    assert operation.phase == plan_pb2.Operation.CALL
    assert (operation.launch.grid.x, operation.launch.grid.y, operation.launch.grid.z) == (4, 1, 1)
    assert pointers(plan) == [(0, "a", 0), (8, "b", 0), (16, "scratch 1", 0)]
    assert operation.launch.arguments == bytes(24) + struct.pack("<i", 1000)
    [variant] = program.variants
    assert [kernel.name for kernel in plan.kernels] == [variant.name]
    assert plan.kernels[0].display_name == "add_kernel[BLOCK=256, num_stages=2, num_warps=4]"
    assert [(r.buffer, list(r.view.dims)) for r in plan.results] == [(2, [1000])]
    assert (plan.data_dependent, list(plan.limitations), plan.returns_sequence) == (False, [], False)


async def test_text_and_place_of_a_kernel(captures: Captures) -> None:
    """The program holds the kernel's text and the line of its `def` in the author's file."""
    source = function(RETURN_ADD)
    captured = await captures.capture(source)
    [written] = captured.program.functions
    assert (written.name, written.file, written.line) == ("add_kernel", "kernel.py", line_of(source, "def add_kernel"))
    assert written.source.startswith("def add_kernel(a, b, c, n, BLOCK: tl.constexpr):\n")
    assert {name: value.imported for name, value in written.globals.items()} == {"tl": "triton.language"}


async def test_alignment_is_told_as_it_is(captures: Captures) -> None:
    """A view with an odd offset is not aligned; a size of 1000 is no multiple of 16, one of 1024 is."""
    source = function("n = 1024\nadd_kernel[(4,)](a[1:], b, b, n, BLOCK=256)\nreturn b")
    captured = await captures.capture(source, case([tensor("a", [1025]), tensor("b", [1024])], [tensor("o", [1024])]))
    [variant] = captured.program.variants
    divisible = {
        parameter.name: [a.value for a in parameter.attributes if a.name == "tt.divisibility"]
        for parameter in variant.parameters
    }
    assert divisible == {"a": [], "b": [16], "c": [16], "n": [16], "BLOCK": []}
    assert pointers(captured.plan) == [(0, "a", 4), (8, "b", 0), (16, "b", 0)]


@pytest.mark.parametrize(
    ("grid", "expected"),
    [
        ("(4,)", (4, 1, 1)),
        ("[4, 2]", (4, 2, 1)),
        ("(1, 2, 3)", (1, 2, 3)),
        ("lambda meta: (triton.cdiv(1000, meta['BLOCK']),)", (4, 1, 1)),
        ("(torch.Size([7])[0], 1)", (7, 1, 1)),
    ],
)
async def test_grids(captures: Captures, grid: str, expected: tuple[int, int, int]) -> None:
    """Grids may be tuples, lists or functions of the meta-parameters."""
    plan = await captures.plan(function(f"add_kernel[{grid}](a, b, b, 1000, BLOCK=256)\nreturn b"))
    grid_of = plan.operations[0].launch.grid
    assert (grid_of.x, grid_of.y, grid_of.z) == expected


async def test_an_empty_grid_launches_nothing(captures: Captures) -> None:
    """As Triton has it."""
    plan = await captures.plan(function("add_kernel[(0,)](a, b, b, 1000, BLOCK=256)\nreturn torch.zeros_like(a)"))
    assert kinds(plan) == ["fill"]


SCALARS = (
    PREFIX
    + """
@triton.jit
def k(x, n, i, f, flag, nothing, one, wide, h: tl.float16, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    v = tl.load(x + at, mask=at < n) * f + i + wide + h
    if flag:
        v += 1
    if nothing is not None:
        v += one
    tl.store(x + at, v, mask=at < n)


def module_fn(x, n, scale, flag):
    k[(1,)](x, n, -5, scale, flag, None, 1, 1 << 40, 1.0, BLOCK=64)
    return x
"""
)


async def test_scalars(captures: Captures) -> None:
    """Scalars have the types that Triton gives them; None and 1 are constants and no arguments."""
    given = [
        tensor("x", [50], "bfloat16"),
        Parameter(name="n", int_value=50),
        Parameter(name="scale", float_value=0.1),
        Parameter(name="flag", bool_value=True),
    ]
    captured = await captures.capture(SCALARS, case(given, [tensor("x", [50], "bfloat16")]))
    [variant] = captured.program.variants
    types = {one.name: one.type for one in variant.parameters if one.WhichOneof("kind") == "type"}
    assert types == {"x": "*bf16", "n": "i32", "i": "i32", "f": "fp32", "flag": "u1", "wide": "i64", "h": "fp16"}
    expected = bytes(8) + struct.pack("<iif?3xqe", 50, -5, 0.1, True, 1 << 40, 1.0)
    assert captured.plan.operations[0].launch.arguments == expected


async def test_views_fills_copies_and_constants(captures: Captures) -> None:
    """What moves data and does not compute becomes operations; views and allocations are free."""
    body = """
    n = a.shape[0]
    x = a.view(10, 100).t()[2:, 1:]
    y = torch.zeros(n, device=a.device)
    z = torch.full((n,), 2.5, device="cuda", dtype=torch.float16)
    z[:10].fill_(1)
    w = x.contiguous()
    y.copy_(a)
    h = b.to(torch.float16)
    table = torch.tensor([1, 2, 3], device=a.device)
    steps = torch.arange(5, device="cuda")
    x.zero_()
    a.cuda().to("cuda:0").to(a.device, torch.float32)
    return add(y, b, torch.empty(n, device=b.device, dtype=b.dtype))
    """
    plan = await captures.plan(function("\n".join(line.strip() for line in body.strip().splitlines())))
    assert kinds(plan) == [
        *("fill", "fill", "fill", "convert", "copy", "convert", "upload", "upload", "fill", "convert", "launch"),
    ]
    assert plan.operations[0].fill.pattern == bytes(4)
    assert plan.operations[1].fill.pattern == struct.pack("<e", 2.5)
    assert (plan.operations[2].fill.size_bytes, plan.operations[2].fill.offset) == (20, 0)
    assert list(plan.operations[3].convert.source_view.dims) == [98, 9]
    assert plan.operations[5].convert.destination_view.dtype == "float16"
    assert plan.operations[6].upload.data == struct.pack("<3q", 1, 2, 3)
    # A strided fill: one element, spread.
    assert list(plan.operations[9].convert.source_view.strides) == [0, 0]


async def test_streams_events_and_properties(captures: Captures) -> None:
    """An MI300X answers, and the plan lists what host code was told."""
    body = """
    device = torch.cuda.current_device()
    properties = torch.cuda.get_device_properties(device)
    units = properties.multi_processor_count
    more = triton.runtime.driver.active.utils.get_device_properties(device)["multiprocessor_count"]
    assert units == more == 304 and properties.gcnArchName.startswith("gfx942")
    assert torch.cuda.is_available() and torch.version.hip
    assert a.is_cuda and a.device == torch.device("cuda:0") and a.get_device() == 0
    assert triton.runtime.driver.active.get_current_target().arch == "gfx942"
    stream = torch.cuda.Stream()
    event = torch.cuda.Event(enable_timing=True)
    with torch.cuda.stream(stream), torch.cuda.device(a.device):
        out = add(a, b, torch.empty_like(a))
    event.record()
    torch.cuda.current_stream().wait_stream(stream)
    torch.cuda.synchronize()
    g = torch.Generator(device="cuda")
    return out
    """
    lines = [line[4:] for line in body.strip("\n").splitlines()]
    plan = await captures.plan(function("\n".join(lines)))
    assert {one.name: one.value for one in plan.assumed_properties} == {
        "multi_processor_count": 304,
        "multiprocessor_count": 304,
    }


AUTOTUNED = (
    PREFIX
    + """
@triton.autotune(
    configs=[triton.Config({"BLOCK": b}, num_warps=w) for b in (128, 256, 512) for w in (2, 4)],
    key=["n"],
    reset_to_zero=["c"],
)
@triton.heuristics({"EVEN": lambda args: args["n"] % args["BLOCK"] == 0})
@triton.jit
def k(a, c, n, BLOCK: tl.constexpr, EVEN: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.atomic_add(c + at, tl.load(a + at, mask=at < n), mask=at < n)


def module_fn(a, b):
    c = torch.zeros_like(a)
    k[lambda meta: (triton.cdiv(a.numel(), meta["BLOCK"]),)](a, c, a.numel())
    return c
"""
)


async def test_autotuned_kernels_carry_their_configurations(captures: Captures) -> None:
    """Trials leave no operation; the launch has all other configurations as alternatives, each with its own grid."""
    captured = await captures.capture(AUTOTUNED)
    assert kinds(captured.plan) == ["fill", "launch"]
    launch = captured.plan.operations[1].launch
    names = [kernel.display_name for kernel in captured.plan.kernels]
    assert names[launch.kernel] == "k[BLOCK=128, EVEN=False, num_stages=3, num_warps=2]"
    assert [(one.grid.x, names[one.kernel][:11]) for one in launch.alternatives] == [
        (8, "k[BLOCK=128"),
        (4, "k[BLOCK=256"),
        (4, "k[BLOCK=256"),
        (2, "k[BLOCK=512"),
        (2, "k[BLOCK=512"),
    ]


async def test_many_configurations_are_capped(captures: Captures) -> None:
    """At most 24 configurations are considered, and the capture says so."""
    captured = await captures.capture(AUTOTUNED.replace("(2, 4)]", "(1, 2, 4, 8, 16) for s in (1, 2)]"))
    assert len(captured.plan.operations[1].launch.alternatives) <= 23
    assert captured.notes == ["an autotuned kernel has more than 24 configurations; the first were considered"]


CLOSURE = (
    PREFIX
    + """
SCALE: tl.constexpr = tl.constexpr(3)


@triton.jit
def scaled(x, factor: tl.constexpr = 2):
    return x * factor * SCALE


def make(kind, table):
    @triton.jit
    def k(x, n, BLOCK: tl.constexpr):
        at = tl.arange(0, BLOCK)
        v = scaled(tl.load(x + at, mask=at < n)).to(kind)
        tl.store(x + at, v + table[1], mask=at < n)

    return k


KERNELS = {torch.float32: make(tl.float32, (1, 2.5))}


def module_fn(a, b):
    KERNELS[a.dtype][(1,)](a, 1000, BLOCK=1024)
    return a
"""
)


async def test_closures_and_called_functions(captures: Captures) -> None:
    """A kernel takes along what it captures: constants, dtypes, tuples, and functions with theirs."""
    captured = await captures.capture(CLOSURE)
    functions = {one.name: one for one in captured.program.functions}
    captured_names = functions["k"].globals
    assert captured_names["kind"].dtype == "fp32"
    assert [one.WhichOneof("value") for one in captured_names["table"].tuple.values] == ["integer", "number"]
    assert captured.program.functions[captured_names["scaled"].function].name == "scaled"
    scale = functions["scaled"].globals["SCALE"]
    assert (scale.integer, scale.constexpr) == (3, True)
    assert functions["k"].line == line_of(CLOSURE, "def k(")


REFERENCE = """
import torch

class Model(torch.nn.Module):
    def __init__(self, features, scale):
        super().__init__()
        self.linear = torch.nn.Linear(features, 4)
        self.register_buffer("shift", torch.zeros(4))

    def forward(self, x, alpha):
        return self.linear(x) * alpha + self.shift

def get_inputs(rows=3):
    return [torch.randn(rows, 8), 0.5]

def get_init_inputs(features=8):
    return [features, 2.0]
"""
MODEL = (
    PREFIX
    + """
@triton.jit
def k(x, w, b, s, out, alpha, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    tl.store(out + at, tl.load(x + at) * alpha + tl.load(w + at) + tl.load(b + at) + tl.load(s + at))


class ModelNew(torch.nn.Module):
    def __init__(self, features, scale):
        super().__init__()
        assert (features, scale) == (8, 2.0)
        self.linear = torch.nn.Linear(features, 4)
        torch.nn.init.zeros_(self.linear.bias)
        self.register_buffer("shift", torch.zeros(4))
        self.transposed = self.linear.weight.detach().t().contiguous()
        self.rates = [rate.item() for rate in torch.linspace(0, 1, 3)]

    def forward(self, x, alpha):
        out = torch.empty(x.shape[0], 4, device=x.device)
        k[(1,)](x, self.transposed, self.linear.bias, self.shift, out, alpha, BLOCK=4)
        return out
"""
)


def model_case() -> kernel_pb2.Case:
    """A case of REFERENCE."""
    parameters = [
        tensor("x", [3, 8]),
        tensor("linear.weight", [4, 8]),
        tensor("linear.bias", [4]),
        tensor("shift", [4]),
        Parameter(name="alpha", float_value=0.5),
        Parameter(name="features", int_value=8),
        Parameter(name="scale", float_value=2.0),
    ]
    for parameter in parameters[1:4]:
        parameter.of_model = True
    return case(parameters, [tensor("out", [3, 4])])


async def test_a_model_is_bound_by_name(captures: Captures) -> None:
    """`ModelNew` holds the case's parameters and buffers; what it makes of them while it is made is done once."""
    plan = await captures.plan(MODEL, model_case(), reference=REFERENCE)
    assert [(b.name, b.role) for b in plan.buffers if b.role == plan_pb2.Buffer.INPUT] == [
        ("linear.weight", plan_pb2.Buffer.INPUT),
        ("linear.bias", plan_pb2.Buffer.INPUT),
        ("shift", plan_pb2.Buffer.INPUT),
        ("x", plan_pb2.Buffer.INPUT),
    ]
    phases = [(operation.phase, kind) for operation, kind in zip(plan.operations, kinds(plan), strict=True)]
    assert phases == [(plan_pb2.Operation.INIT, "convert"), (plan_pb2.Operation.CALL, "launch")]
    names = [name for _, name, _ in pointers(plan, 1)]
    assert names == ["x", "scratch 1", "linear.bias", "shift", "scratch 2"]


async def test_inputs_are_never_prepared(captures: Captures) -> None:
    """What uses an input belongs to the call, and all that follows, whatever the recording says."""
    described = model_case()
    for parameter in described.parameters:
        parameter.of_model = False
    plan = await captures.plan(MODEL, described, reference=REFERENCE)
    assert [operation.phase for operation in plan.operations] == [plan_pb2.Operation.CALL] * 2


@pytest.mark.parametrize(
    ("was", "becomes", "message"),
    [
        ("self.linear =", "self.dense =", "lacks `linear.weight`, `linear.bias` and has `dense.weight`, `dense.bias`"),
        ("Linear(features, 4)", "Linear(features, 5)", "`ModelNew.linear.weight` has shape [5, 8], the reference's"),
        ('self.register_buffer("shift"', 'self.register_buffer("moved"', "lacks `shift` and has `moved`"),
    ],
)
async def test_a_model_of_another_form_is_refused(captures: Captures, was: str, becomes: str, message: str) -> None:
    """A missing, additional or differently shaped parameter is named."""
    source = MODEL.replace(was, becomes).replace(
        "self.linear.", "self.dense." if "dense" in becomes else "self.linear."
    )
    refused = await captures.refusal(source, model_case(), reference=REFERENCE)
    assert verdict(refused) == "REJECTED"
    assert message in refused.explanation


@pytest.mark.parametrize(
    ("call", "name"),
    [
        ("torch.softmax(a, -1)", "torch.softmax"),
        ("a + b", "torch.Tensor.add"),
        ("a.sum()", "torch.Tensor.sum"),
        ("torch.nn.functional.gelu(a)", "torch.nn.functional.gelu"),
        ("torch.cat([a, b])", "torch.cat"),
        ("torch.matmul(a, b)", "torch.matmul"),
        ("torch.randn(3, device='cuda')", "torch.randn"),
        ("a[b > 0]", "torch.Tensor.gt"),
    ],
)
async def test_foreign_operators_are_named(captures: Captures, call: str, name: str) -> None:
    """A computation by torch on the device is refused with the operator and the line."""
    source = function(f"x = {call}\n{RETURN_ADD}")
    refused = await captures.refusal(source)
    line = line_of(source, f"x = {call}")
    assert verdict(refused) == "REJECTED"
    assert f"`{name}` (kernel.py:{line})" in refused.explanation
    assert (refused.findings[0].kind, refused.findings[0].location) == (Finding.FOREIGN_OPERATOR, f"kernel.py:{line}")


async def test_an_allowed_operator_needs_a_device(captures: Captures) -> None:
    """What the task leaves to torch breaks no rule, and no plan holds it."""
    refused = await captures.refusal(function(f"x = torch.softmax(a, -1)\n{RETURN_ADD}"), allowed=["aten::softmax"])
    assert verdict(refused) == "NEEDS_DEVICE"
    assert "the task allows torch's `torch.softmax`" in refused.explanation


async def test_reading_ends_the_plan_without_an_oracle(captures: Captures) -> None:
    """A plan that depends on data ends before the first read, and says which it is."""
    plan = await captures.plan(function("add(a, b, b)\nn = int(b[3])\nreturn b[:n]"))
    assert plan.data_dependent
    assert kinds(plan) == ["launch"]
    [result] = plan.results
    assert (plan.buffers[result.buffer].name, result.view.offset_elements, list(result.view.dims)) == ("b", 3, [])
    assert list(plan.limitations) == ["host code reads device memory (int)"]


@pytest.mark.parametrize(
    "read", ["b[0].item()", "float(b[0])", "b[:1].tolist()[0]", "b[:1].cpu()[0].item()", "b.to('cpu')[0].item()"]
)
async def test_an_oracle_answers_reads(captures: Captures, read: str) -> None:
    """The plan so far, whose only result is what is read, is answered; host code goes on with that."""
    asked = []

    async def oracle(plan: plan_pb2.LaunchPlan, program: object) -> bytes:
        asked.append(kinds(plan))
        count = plan.results[0].view.dims[0] if plan.results[0].view.dims else 1
        return struct.pack("<f", 3.0) * count

    source = function(f"add(a, b, b)\nk = {read}\nif k > 2:\n    add(a, a, b)\nreturn b")
    plan = await captures.plan(source, oracle=oracle)
    assert asked == [["launch"]]
    assert kinds(plan) == ["launch", "launch"]
    assert plan.data_dependent


async def test_a_branch_on_a_tensor_is_a_read(captures: Captures) -> None:
    """`if tensor:` asks for its value."""
    plan = await captures.plan(function("if a[0]:\n    return add(a, b, a)\nreturn b"))
    assert list(plan.limitations) == ["host code reads device memory (bool)"]


async def test_computing_with_what_was_read_is_refused(captures: Captures) -> None:
    """Host code decides by what it reads; it does not compute results of it."""

    async def oracle(plan: plan_pb2.LaunchPlan, program: object) -> bytes:
        return struct.pack("<1000f", *range(1000))

    source = function("host = a.cpu() * 2\nreturn host.cuda()")
    refused = await captures.refusal(source, oracle=oracle)
    assert verdict(refused) == "REJECTED"
    assert "and then sends 4000 bytes to it" in refused.explanation


@pytest.mark.parametrize(
    ("source", "ending", "message"),
    [
        ("def module_fn(a, b)\n    return a\n", "COMPILE_FAILED", "kernel.py:1: SyntaxError: expected ':'"),
        ("import nonesuch\n", "CRASHED", "kernel.py:1: ModuleNotFoundError: No module named 'nonesuch'"),
        ("x = 1\n", "REJECTED", "neither `module_fn` nor `ModelNew`"),
        (
            "def module_fn(a, b):\n    return 1 / 0\n",
            "CRASHED",
            "Host code threw an exception: kernel.py:2: ZeroDivisionError: division by zero",
        ),
        (
            "def module_fn(a):\n    return a\n",
            "CRASHED",
            "too many positional arguments; it is called with (a, b)",
        ),
        ("import os\ndef module_fn(a, b):\n    os._exit(3)\n", "CRASHED", "ended its process"),
        ("import sys\ndef module_fn(a, b):\n    sys.exit(3)\n", "CRASHED", "ended its process instead of returning"),
        ("def module_fn(a, b):\n    pass\n", "MISMATCHED", "The function returns nothing"),
        ("def module_fn(a, b):\n    return 7\n", "MISMATCHED", "The function returns int 7"),
        ("def module_fn(a, b):\n    return a, b\n", "MISMATCHED", "2 tensors are returned, 1 are expected"),
        ("def module_fn(a, b):\n    return a[:10]\n", "MISMATCHED", "out: shape is [10], expected [1000]"),
        (
            "def module_fn(a, b):\n    return a.half()\n",
            "MISMATCHED",
            "out: dtype is float16, expected float32",
        ),
        (
            "import torch\ndef module_fn(a, b):\n    return torch.zeros(1000)\n",
            "MISMATCHED",
            "The function returns a tensor on the CPU",
        ),
    ],
)
async def test_endings(captures: Captures, source: str, ending: str, message: str) -> None:
    """Each way to end has its verdict, and words that tell where."""
    refused = await captures.refusal(source)
    assert (verdict(refused), message in refused.explanation) == (ending, True), refused.explanation


async def test_a_loop_without_end_times_out(captures: Captures) -> None:
    """Host code has a time limit."""
    refused = await captures.refusal("def module_fn(a, b):\n    while True:\n        pass\n", timeout_s=1)
    assert verdict(refused) == "TIMED_OUT"


async def test_memory_is_bounded(captures: Captures) -> None:
    """Host memory is the sandbox's to give."""
    refused = await captures.refusal("import torch\ndef module_fn(a, b):\n    x = torch.ones(1 << 30)\n    return a\n")
    assert verdict(refused) == "CRASHED"


async def test_large_tensors_take_no_memory(captures: Captures) -> None:
    """A matmul of 8192³ is captured as fast as a small one."""
    given = [tensor(name, [8192, 8192], "float16") for name in "ab"]
    source = function("c = torch.empty((8192, 8192), device=a.device)\nreturn add(a, b, c)")
    plan = await captures.plan(source, case(given, [tensor("out", [8192, 8192])]))
    assert plan.operations[0].launch.grid.x == 8192 * 32


@pytest.mark.parametrize(
    ("before", "body", "ending", "message"),
    [
        ("STEP = [0]", f"STEP[0] += 1\nif STEP[0] > 1:\n    return a\n{RETURN_ADD}", "REJECTED", "keeps state"),
        ("STEP = [0]", f"STEP[0] += 1\nif STEP[0] > 1:\n    a[0].item()\n{RETURN_ADD}", "REJECTED", "reads more"),
        (
            "CACHE = {}",
            "if 0 not in CACHE:\n    CACHE[0] = add(a, b, torch.empty_like(a))\nreturn CACHE[0]",
            "REJECTED",
            "keeps state",
        ),
        (
            "import random\nSTEP = [1, 0]",
            "add_kernel[(1,)](a, b, b, random.randint(9, 1 << 20) * 16 + STEP.pop(), BLOCK=256)\nreturn b",
            "NEEDS_DEVICE",
            "other numbers",
        ),
        ("", "return add(a, torch.randn(1000).cuda(), b)", "NEEDS_DEVICE", "other numbers"),
    ],
)
async def test_state_between_calls(captures: Captures, before: str, body: str, ending: str, message: str) -> None:
    """A call that does something else the second time cannot be replayed."""
    refused = await captures.refusal(function(body, before))
    assert (verdict(refused), message in refused.explanation) == (ending, True), refused.explanation


async def test_a_cached_workspace_is_no_state(captures: Captures) -> None:
    """A buffer that is kept and filled again by each call is the author's good right."""
    body = "if not CACHE:\n    CACHE.append(torch.empty_like(a))\nCACHE[0].zero_()\nreturn add(a, CACHE[0], b)"
    plan = await captures.plan(function(body, "CACHE = []"))
    assert kinds(plan) == ["fill", "launch"]


async def test_addresses_as_integers_are_refused(captures: Captures) -> None:
    """A plan moves buffers; an address in a number would stay."""
    refused = await captures.refusal(function("add_kernel[(1,)](a, b, b, a.data_ptr(), BLOCK=256)\nreturn b"))
    assert verdict(refused) == "NEEDS_DEVICE"
    assert "passed the address of a tensor as the integer `n`" in refused.explanation


async def test_host_tensors_are_no_arguments(captures: Captures) -> None:
    """Triton's own complaint, with the author's line."""
    source = function("add_kernel[(1,)](torch.zeros(4), b, b, 4, BLOCK=256)\nreturn b")
    refused = await captures.refusal(source)
    assert verdict(refused) == "CRASHED"
    assert f"kernel.py:{line_of(source, 'torch.zeros(4)')}: ValueError" in refused.explanation


async def test_a_global_tensor_in_a_kernel_is_named(captures: Captures) -> None:
    """What a kernel cannot capture is named with the kernel's place."""
    source = function(RETURN_ADD, "TABLE = torch.zeros(3)").replace("tl.load(b + at", "TABLE + tl.load(b + at")
    refused = await captures.refusal(source)
    assert verdict(refused) == "COMPILE_FAILED"
    assert (
        f"`add_kernel` (kernel.py:{line_of(source, 'def add_kernel')}) uses the global `TABLE`" in refused.explanation
    )


async def test_registers_are_compiled_on_demand(captures: Captures) -> None:
    """Host code may choose its grid by what the compiler says."""
    body = """
compiled = add_kernel.warmup(a, b, b, 1000, BLOCK=256, grid=(1,))
assert compiled.n_regs > 0 and compiled.n_spills == 0 and compiled.metadata.shared == 0
assert "amdgcn" in compiled.asm
compiled[(4, 1, 1)](a, b, b, 1000, 256)
return b
"""
    plan = await captures.plan(function(body))
    assert plan.operations[0].launch.grid.x == 4


async def test_other_modules_and_entry_points(captures: Captures) -> None:
    """Sources may import each other; the entry point may have a name of its own."""
    others = {"ops.py": function(RETURN_ADD)}
    plan = await captures.plan("from ops import module_fn as run\n", others=others, entry_point="run")
    assert kinds(plan) == ["launch"]
    refused = await captures.refusal("from ops import module_fn as run\n", others=others, entry_point="walk")
    assert "the module does not define `walk`" in refused.explanation


async def test_results_may_be_views_and_inputs(captures: Captures) -> None:
    """What is returned is a view of a buffer, an input's too."""
    body = "c = add(a, b, torch.empty_like(a))\nreturn c.view(10, 100).t(), a"
    of = case(outputs=[tensor("c", [100, 10]), tensor("a", [1000])])
    plan = await captures.plan(function(body), of)
    assert [(plan.buffers[r.buffer].name, list(r.view.strides)) for r in plan.results] == [
        ("scratch 1", [1, 100]),
        ("a", [1]),
    ]
    assert plan.returns_sequence


async def test_strided_inputs(captures: Captures) -> None:
    """A case's strides are what host code sees."""
    given = [tensor("a", [3, 4], strides=[1, 3])]
    body = "assert a.stride() == (1, 3) and not a.is_contiguous()\nreturn a.contiguous()"
    plan = await captures.plan(function(body, signature="a"), case(given, [tensor("out", [3, 4])]))
    assert kinds(plan) == ["convert"]


async def test_uploads_are_bounded(captures: Captures) -> None:
    """A plan holds 64 KiB of constants; a constant tensor is a fill."""
    assert kinds(await captures.plan(function("t = torch.ones(100000).cuda()\nreturn add(a, t, b)"))) == [
        "fill",
        "launch",
    ]
    refused = await captures.refusal(function("t = torch.arange(20000).float().cuda()\nreturn add(a, t, b)"))
    assert verdict(refused) == "NEEDS_DEVICE"
    assert "host code uploads 80000 bytes or more; a plan holds at most 65536" in refused.explanation
