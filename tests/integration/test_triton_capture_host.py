"""What authors of Triton modules write around their kernels, as it is captured."""

from __future__ import annotations

import textwrap
from collections.abc import AsyncIterator

import pytest
import pytest_asyncio

from kernelvault.sandbox import Sandbox
from svc_compiler.triton import capture, compile
from tests.capturing import ADD, PREFIX, Captures, case, function, line_of
from tests.recording import kinds, pointers, tensor, verdict

pytestmark = pytest.mark.asyncio(loop_scope="module")
ONE = """
@triton.jit
def k(a, n, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    tl.store(a + at, tl.load(a + at, mask=at < n) + 1, mask=at < n)
"""


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def captures(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Captures]:
    """One warm sandbox for all tests of the module."""
    sandbox = await Sandbox.start(preload=[*capture.PRELOAD, *compile.PRELOAD])
    await sandbox.ready()
    yield Captures(sandbox, tmp_path_factory.mktemp("sources"))
    await sandbox.close()


def of(body: str) -> str:
    """A `module_fn` of this indented body."""
    return function(textwrap.dedent(body))


async def test_wrappers_of_compiled_kernels(captures: Captures) -> None:
    """A library's own dispatcher may keep what `run` gave it, and launch that."""
    source = f"""{PREFIX}
class LibEntry(triton.KernelInterface):
    def __init__(self, fn):
        self.fn, self.cache = fn, {{}}

    def run(self, *args, grid, **kwargs):
        key = str(args[0].dtype)
        if key in self.cache:
            self.cache[key][(*grid, 1, 1)[:3]](*args)
        else:
            kwargs.pop("warmup", None)
            self.cache[key] = self.fn.run(*args, grid=grid, warmup=False, **kwargs)


@LibEntry
{ONE.strip()}


def module_fn(a, b):
    k[(1,)](a, 16, BLOCK=16)
    k[(2,)](a, 16)
    return a
"""
    plan = await captures.plan(source)
    assert [operation.launch.grid.x for operation in plan.operations] == [1, 2]
    assert len(plan.kernels) == 1


async def test_autograd_functions_and_contexts(captures: Captures) -> None:
    """Kernels may be launched from a torch.autograd.Function, under autocast and inference mode."""
    source = f"""{ADD}
class F(torch.autograd.Function):
    @staticmethod
    @torch.amp.custom_fwd(device_type="cuda")
    def forward(ctx, a, b):
        ctx.save_for_backward(a, b)
        return add(a, b, torch.empty_like(a))


def module_fn(a, b):
    with torch.inference_mode(), torch.autocast("cuda", dtype=torch.float16):
        return F.apply(a, b)
"""
    assert kinds(await captures.plan(source)) == ["launch"]


@pytest.mark.parametrize("how", ["torch.set_default_device('cuda')\nif True:", "with torch.device('cuda'):"])
async def test_default_devices(captures: Captures, how: str) -> None:
    """A default device counts where none is named."""
    plan = await captures.plan(
        function(
            f"{how}\n    c = torch.empty(1000)\n    t = torch.tensor([1.0, 2.0])\n"
            "    assert c.is_cuda and t.is_cuda\n    return add(a, torch.zeros(1000), c)"
        )
    )
    assert kinds(plan) == ["upload", "fill", "launch"]


async def test_questions_about_tensors(captures: Captures) -> None:
    """Tensors say of themselves what those on a GPU say, and no address is the address of another."""
    body = """
    assert str(a.device) == "cuda:0" and a.type() == "torch.cuda.FloatTensor" and not a.is_meta and not a.is_cpu
    assert a.data_ptr() == a.untyped_storage().data_ptr() and a[1:].data_ptr() == a.data_ptr() + 4
    assert a.data_ptr() % 512 == 0 and abs(a.data_ptr() - b.data_ptr()) > a.nbytes
    assert torch.result_type(a, b) is torch.float32 and torch.promote_types(a.dtype, b.dtype) is torch.float32
    x, y = torch.broadcast_tensors(a.view(10, 1, 100), b.view(1, 10, 100))
    assert x.stride() == (100, 0, 1) and torch.broadcast_shapes(a.shape, b.shape) == (1000,)
    for row in a.view(10, 100):
        assert row.is_contiguous()
    print(a, f"{a.shape}")
    torch.empty(3, pin_memory=True)
    a.record_stream(torch.cuda.current_stream())
    with torch.random.fork_rng():
        torch.cuda.nvtx.range_push(torch.cuda.memory_summary())
    return add(a, b, a)
    """
    assert kinds(await captures.plan(of(body))) == ["launch"]


async def test_assignments_to_parts(captures: Captures) -> None:
    """Copies and fills of slices go where they belong."""
    body = """
    c = torch.empty_like(a)
    c[:500] = b[500:]
    c[500:].fill_(1)
    c[7] = 1.5
    return c
    """
    copy, filled, scalar, assigned = (await captures.plan(of(body))).operations
    assert (copy.copy.source_offset, copy.copy.destination_offset, copy.copy.size_bytes) == (2000, 0, 2000)
    assert (filled.fill.offset, filled.fill.size_bytes) == (2000, 2000)
    # Torch makes a tensor of the number, and copies that.
    assert scalar.fill.size_bytes == assigned.copy.size_bytes == 4
    assert (assigned.copy.source, assigned.copy.destination_offset) == (scalar.fill.buffer, 28)


async def test_hooks_and_pruning(captures: Captures) -> None:
    """An autotuner prunes as its author says; the hook of a trial is no part of the plan, that of the launch is."""
    source = f"""{PREFIX}
def prune(configs, named, **kwargs):
    return [config for config in configs if config.kwargs["BLOCK"] <= named["n"]]


@triton.autotune(
    configs=[triton.Config({{"BLOCK": b}}, pre_hook=lambda named: named["a"].zero_()) for b in (256, 512, 4096)],
    key=["n"],
    prune_configs_by={{"early_config_prune": prune}},
)
{ONE.strip()}


def module_fn(a, b):
    k[(1,)](a, 1000)
    return a
"""
    plan = await captures.plan(source)
    assert kinds(plan) == ["fill", "launch"]
    assert [kernel.display_name for kernel in plan.kernels] == [
        "k[BLOCK=256, num_stages=3, num_warps=4]",
        "k[BLOCK=512, num_stages=3, num_warps=4]",
    ]


async def test_benchmarks_of_the_authors_are_no_part_of_the_plan(captures: Captures) -> None:
    """What `do_bench` runs is tried, and left out."""
    plan = await captures.plan(of("assert triton.testing.do_bench(lambda: add(a, b, b)) > 0\nreturn add(a, b, a)"))
    assert kinds(plan) == ["launch"]


async def test_constants_of_kernels(captures: Captures) -> None:
    """Functions, dtypes and texts may be constants; options of the compiler are kept; computed defaults are values."""
    source = f"""{PREFIX}
SIZE = 512


@triton.jit
def twice(x):
    return x * 2


@triton.jit
def k(a, n, F: tl.constexpr, D: tl.constexpr, MODE: tl.constexpr, BLOCK: tl.constexpr = 2 * SIZE):
    at = tl.arange(0, BLOCK)
    tl.store(a + at, F(tl.load(a + at, mask=at < n)).to(D), mask=at < n)


def module_fn(a, b):
    k[(1,)](a, 1000, twice, tl.float16, MODE="fast", num_warps=2, waves_per_eu=3, matrix_instr_nonkdim=16)
    return a
"""
    captured = await captures.capture(source)
    assert captured.plan.kernels[0].display_name == (
        "k[F=twice, D=fp16, MODE='fast', BLOCK=1024, "
        "matrix_instr_nonkdim=16, num_stages=2, num_warps=2, waves_per_eu=3]"
    )
    kernel = next(one for one in captured.program.functions if one.name == "k")
    assert "BLOCK: tl.constexpr = 1024):" in kernel.source


async def test_factories_of_kernels(captures: Captures) -> None:
    """Equal kernels that are made anew for each launch are one."""
    source = f"""{PREFIX}
def make():
{textwrap.indent(ONE, "    ")}
    return k


def module_fn(a, b):
    for _ in range(5):
        make()[(1,)](a, 1000, BLOCK=1024)
    return a
"""
    captured = await captures.capture(source)
    assert (len(captured.plan.operations), len(captured.program.functions), len(captured.plan.kernels)) == (5, 1, 1)


@pytest.mark.parametrize(
    ("before", "call", "message"),
    [
        (
            "from triton.tools.tensor_descriptor import TensorDescriptor",
            "k[(1,)](TensorDescriptor.from_tensor(a.view(10, 100), [2, 64]), 9, BLOCK=16)",
            "a tensor descriptor as the argument `a` of `k`",
        ),
        ("", "k[(1,)]((a, b), 9, BLOCK=16)", "a tuple as the argument `a` of `k`"),
        ("", "torch.zeros(3, dtype=torch.complex64, device='cuda')", "host code uses tensors of complex64"),
        ("", "torch.cuda.CUDAGraph()", "host code uses torch.cuda.CUDAGraph"),
        ("", "a.resize_(7)", "host code uses `torch.Tensor.resize_`"),
        ("", "a[1:].copy_(a[:-1])", "host code copies between overlapping parts of a tensor"),
    ],
)
async def test_what_no_plan_says_needs_a_device(captures: Captures, before: str, call: str, message: str) -> None:
    """What is right and beyond a plan is named, with its place, and is no failure."""
    source = function(f"{call}\nreturn a", before + ONE)
    refused = await captures.refusal(source)
    assert (verdict(refused), message in refused.explanation) == ("NEEDS_DEVICE", True), refused.explanation


async def test_modules_in_kernels(captures: Captures) -> None:
    """A kernel uses functions of another module by name; the module itself is no value."""
    others = {"helpers.py": f"{PREFIX}\n@triton.jit\ndef twice(x):\n    return x * 2\n"}
    kernel = ONE.replace("+ 1,", "+ 1,").replace("tl.load(a + at, mask=at < n) + 1", "CALL(tl.load(a + at))")
    body = "k[(1,)](a, 9, BLOCK=16)\nreturn a"
    named = function(body, "from helpers import twice\n" + kernel.replace("CALL", "twice"))
    captured = await captures.capture(named, others=others)
    assert {one.name: one.file for one in captured.program.functions} == {"k": "kernel.py", "twice": "helpers.py"}
    whole = function(body, "import helpers\n" + kernel.replace("CALL", "helpers.twice"))
    refused = await captures.refusal(whole, others=others)
    assert "uses the global `helpers`, a module; import the functions themselves" in refused.explanation


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ("add_kernel[(1,)](a, b, b, 3)", "missing 1 required positional argument: 'BLOCK'"),
        ("add_kernel[(1,)](a, b, b, 3, BLOCK=4, FOO=3)", "Keyword argument FOO was specified but unrecognised"),
        ("add_kernel[(1,)](a, b, b, 3, BLOCK=4, num_warps=3)", "num_warps must be a power of 2"),
        ("add_kernel[(1.5,)](a, b, b, 3, BLOCK=4)", "'float' object cannot be interpreted as an integer"),
        ("add_kernel(a, b, b, 3, BLOCK=4)", "Cannot call @triton.jit'd outside of the scope of a kernel"),
    ],
)
async def test_wrong_launches(captures: Captures, body: str, message: str) -> None:
    """Triton's own complaints come with the author's line."""
    source = function(f"{body}\nreturn b")
    refused = await captures.refusal(source)
    assert verdict(refused) == "CRASHED"
    assert f"kernel.py:{line_of(source, body)}: " in refused.explanation
    assert message in refused.explanation


async def test_recursion_is_refused(captures: Captures) -> None:
    """Triton has none; the kernel's place is told."""
    before = f"@triton.jit\ndef again(x):\n    return again(x)\n{ONE.replace('tl.load', 'again')}"
    refused = await captures.refusal(function("k[(1,)](a, 9, BLOCK=16)\nreturn a", before))
    assert verdict(refused) == "COMPILE_FAILED"
    assert "calls itself" in refused.explanation
    assert refused.diagnostics[0].file == "kernel.py"


@pytest.mark.parametrize(
    "attack",
    [
        "memory[:8] = b'KVTC' + b'\\xff' * 4",
        "memory[:4] = b'XXXX'",
        "memory[:26] = struct.pack('<4s5I', b'KVTC', 2, 0, 0, 0, 0) + b'{}'",
    ],
)
async def test_a_damaged_recording_is_the_candidates_doing(captures: Captures, attack: str) -> None:
    """A candidate shares the process of its recorder; what it writes there instead is not believed."""
    body = f"import mmap, os, struct\nmemory = mmap.mmap(3, 8 << 20)\n{attack}\nos._exit(0)"
    refused = await captures.refusal(function(body))
    assert verdict(refused) == "REJECTED"
    assert "damaged the recording" in refused.explanation


async def test_a_read_that_is_caught_still_ends_the_plan(captures: Captures) -> None:
    """Host code cannot go on after a read that has no answer."""
    body = """
    try:
        n = int(a[0])
    except BaseException:
        n = 1
    return add(a, b, b)
    """
    plan = await captures.plan(of(body))
    assert (plan.data_dependent, kinds(plan)) == (True, [])


async def test_threads_are_recorded(captures: Captures) -> None:
    """Launches of other threads belong to the call."""
    before = "from concurrent.futures import ThreadPoolExecutor"
    body = """
    with ThreadPoolExecutor(1) as pool:
        return pool.submit(lambda: add(a, b, torch.empty_like(a))).result()
    """
    plan = await captures.plan(function(textwrap.dedent(body), before))
    assert kinds(plan) == ["launch"]


async def test_programs_are_not_started(captures: Captures) -> None:
    """Host code starts no programs."""
    refused = await captures.refusal("import subprocess\nsubprocess.run(['true'])\ndef module_fn(a, b): return a\n")
    assert verdict(refused) == "CRASHED"
    assert "kernel.py:2: PermissionError" in refused.explanation


async def test_a_warm_capture_is_cheap(captures: Captures) -> None:
    """A module with one kernel takes less than 0.15 CPU seconds, once the machine's caches are warm."""
    from svc_compiler.triton import capture as module

    spent = []
    run = module._run

    async def measured(*arguments: object, **named: object) -> object:
        trace, outcome = await run(*arguments, **named)  # type: ignore[arg-type]
        spent.append(outcome.cpu_seconds)
        return trace, outcome

    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(module, "_run", measured)
        for _ in range(3):
            await captures.capture(function("return add(a, b, torch.empty_like(a))"))
    assert min(spent) < 0.15, spent


REFERENCE = """
import torch

class Model(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.norm = torch.nn.LayerNorm(1000)

    def forward(self, a):
        return self.norm(a)

def get_inputs():
    return [torch.randn(1000)]
"""
MODEL = f"""{ADD}
class ModelNew(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.norm = torch.nn.LayerNorm(1000)
        INIT

    def forward(self, a):
        return add(a, self.OTHER, torch.empty_like(a))
"""
NORM = case([tensor("a", [1000]), tensor("norm.weight", [1000]), tensor("norm.bias", [1000])])


@pytest.mark.parametrize(
    ("init", "other", "expected", "buffer"),
    [
        ("pass", "norm.weight", ["launch"], "norm.weight"),
        ("self.again = self.norm", "again.bias", ["launch"], "norm.bias"),
        ("self.shift = self.norm.weight", "shift", ["launch"], "norm.weight"),
        ("self.copy = self.norm.weight.detach().clone()", "copy", ["copy", "launch"], "scratch 1"),
        ("self.mask = torch.tril(torch.ones(40, 25)).cuda()", "mask", ["upload", "launch"], "scratch 1"),
        ("self.unused = self.norm.weight.detach() * 2", "norm.weight", ["launch"], "norm.weight"),
        ("self.to('cuda')", "norm.weight", ["launch"], "norm.weight"),
    ],
)
async def test_models(captures: Captures, init: str, other: str, expected: list[str], buffer: str) -> None:
    """Tied parameters follow, copies of parameters and constants of the host are made once, leftovers are left out."""
    plan = await captures.plan(MODEL.replace("INIT", init).replace("OTHER", other), NORM, reference=REFERENCE)
    assert kinds(plan) == expected
    assert pointers(plan, len(expected) - 1)[1][1] == buffer


async def test_computing_with_weights_is_foreign(captures: Captures) -> None:
    """What a model computes with torch before the first call counts if a call uses it."""
    source = MODEL.replace("INIT", "self.twice = self.norm.weight.detach() * 2").replace("OTHER", "twice")
    refused = await captures.refusal(source, NORM, reference=REFERENCE)
    assert verdict(refused) == "REJECTED"
    assert f"`torch.Tensor.mul` (kernel.py:{line_of(source, 'self.twice =')})" in refused.explanation


async def test_empty_tensors(captures: Captures) -> None:
    """Tensors without elements are no trouble."""
    empty = case([tensor("a", [0, 4]), tensor("b", [4])], [tensor("out", [0, 4])])
    plan = await captures.plan(of("c = torch.zeros_like(a)\nc.copy_(a)\nadd(c, c, c)\nreturn c"), empty)
    assert kinds(plan) == []
    assert list(plan.results[0].view.dims) == [0, 4]
