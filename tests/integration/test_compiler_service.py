"""The compiler as a real process beside a real corpus: every way a verification can end."""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
import time
from pathlib import Path
from typing import Any

import pytest

from kernelvault import errors
from kernelvault.v1 import compiler_pb2, kernel_pb2
from tests.compiler import Compiler

Report = compiler_pb2.VerificationReport
Finding = compiler_pb2.Finding

REFERENCE = """
import torch

class Model(torch.nn.Module):
    def forward(self, a, b):
        return a + b

def get_inputs(n=1000, dtype=torch.float32):
    return [torch.randn(n, dtype=dtype), torch.randn(n, dtype=dtype)]

def get_init_inputs():
    return []

def get_cases():
    return [
        {"id": "one", "n": 1},
        {"id": "odd", "n": 777},
        {"id": "large", "n": 1 << 24, "kind": "performance"},
    ]
"""
HEAD = "#include <hip/hip_runtime.h>\n"
GOOD_KERNEL = """
__global__ void add(const float* a, const float* b, float* out, int64_t n) {
    int64_t i = blockIdx.x * int64_t(blockDim.x) + threadIdx.x;
    if (i < n) out[i] = a[i] + b[i];
}
"""
SIGNATURE = 'extern "C" void run(const float* a, const float* b, int64_t n, int64_t, float* out, hipStream_t stream)'
LAUNCH = "add<<<(n + 255) / 256, 256, 0, stream>>>(a, b, out, n);"
GOOD = f"{HEAD}{GOOD_KERNEL}{SIGNATURE} {{ {LAUNCH} }}\n"
TORCH_HEAD = "#include <torch/extension.h>\n#include <hip/hip_runtime.h>\n"
BINDING = 'PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) { m.def("forward", &forward); }\n'


def torch_source(body: str) -> str:
    """A torch extension with the good kernel and the given body of `forward`."""
    return f"{TORCH_HEAD}{GOOD_KERNEL}torch::Tensor forward(torch::Tensor a, torch::Tensor b) {{ {body} }}\n{BINDING}"


GOOD_TORCH = torch_source("""
    a = a.contiguous(), b = b.contiguous();
    auto out = torch::empty_like(a);
    add<<<(a.numel() + 255) / 256, 256>>>(a.data_ptr<float>(), b.data_ptr<float>(), out.data_ptr<float>(), a.numel());
    return out;
""")


@pytest.fixture
async def add(compiler: Compiler) -> kernel_pb2.Task:
    """The task of adding two vectors."""
    return await compiler.prepare(REFERENCE)


def descendants(pid: int) -> list[int]:
    """All processes below `pid` but its zygotes, which stay."""
    found, waiting = [], [pid]
    while waiting:
        for children in Path(f"/proc/{waiting.pop()}/task").glob("*/children"):
            with contextlib.suppress(OSError):
                below = [int(child) for child in children.read_text().split()]
                waiting += below
                found += below
    return [child for child in found if "zygote" not in Path(f"/proc/{child}/cmdline").read_text(errors="replace")]


async def test_report_of_a_right_kernel_is_whole(compiler: Compiler, add: kernel_pb2.Task) -> None:
    """PASSED comes with builds, resources, results, plans with images, and the targets that ran."""
    report = await compiler.verify(add, GOOD, targets=["gfx90a", "gfx942", "gfx950"])
    assert (report.verdict, report.explanation) == (Report.PASSED, "")
    assert [(b.target, b.compiled) for b in report.builds] == [(t, True) for t in ("gfx90a", "gfx942", "gfx950")]
    assert report.builds[1].kernels[0].resources.vgprs > 0
    assert [(r.case_id, r.passed) for r in report.case_results] == [("one", True), ("odd", True)]
    assert [plan.case_id for plan in report.plans] == ["one", "odd", "large"]
    images = report.plans[2].kernels[0].images
    assert [image.target for image in images] == ["gfx90a", "gfx942", "gfx950", "cpu"]
    assert (list(report.executed_targets), list(report.compiled_targets)) == (
        ["cpu"],
        ["gfx90a", "gfx942", "gfx950"],
    )
    assert report.modelled_target == "gfx942"
    missing = await compiler.corpus.call("FindMissingBlobs", _find(images))
    assert list(missing.missing_digests) == []


def _find(images: Any) -> Any:
    from kernelvault.v1 import storage_pb2

    return storage_pb2.FindMissingBlobsRequest(digests=[image.code_object for image in images])


async def test_torch_extension_passes(compiler: Compiler, add: kernel_pb2.Task) -> None:
    """A torch extension that allocates its output and launches a kernel is PASSED."""
    report = await compiler.verify(add, GOOD_TORCH)
    assert (report.verdict, report.explanation) == (Report.PASSED, "")


async def test_what_is_read_from_the_device_is_true(compiler: Compiler, add: kernel_pb2.Task) -> None:
    """Host code that decides by device data is recorded with execution, compared, and left without a time."""
    body = f"float x; hipMemcpy(&x, a, 4, hipMemcpyDefault); if (x == x) {LAUNCH}"
    report = await compiler.verify(add, f"{HEAD}{GOOD_KERNEL}{SIGNATURE} {{ {body} }}")
    assert (report.verdict, report.explanation) == (Report.PASSED, "")
    assert [(r.case_id, r.passed) for r in report.case_results] == [("one", True), ("odd", True)]
    assert [(p.case_id, p.data_dependent, len(p.operations)) for p in report.plans] == [
        ("one", True, 1),
        ("odd", True, 1),
        ("large", True, 0),
    ]
    assert any("Case large has no plan and is not timed" in note for note in report.notes)


ENDINGS: dict[str, tuple[str, str, str]] = {
    "wrong result": (GOOD.replace("a[i] + b[i]", "a[i] - b[i]"), "MISMATCHED", "elements differ"),
    "zeros": (GOOD.replace("a[i] + b[i]", "0.f"), "MISMATCHED", "elements differ"),
    "unwritten": (GOOD.replace("if (i < n)", "if (i < n - 1)"), "MISMATCHED", "nan"),
    "syntax error": (GOOD.replace("a[i] + b[i];", "a[i] + ;"), "COMPILE_FAILED", "expected expression"),
    "no kernel": (f"{HEAD}{SIGNATURE} {{}}\n", "REJECTED", "no kernel"),
    "no launcher": (f"{HEAD}{GOOD_KERNEL}", "COMPILE_FAILED", "no launcher `run`"),
    "one past the end": (GOOD.replace("if (i < n)", "if (i <= n)"), "UNSAFE", "reads 4 bytes at byte 4"),
    "race": (
        GOOD.replace("if (i < n) out[i]", "if (i < n) out[i + 1 < n ? i + 1 : i] = a[i]; if (i < n) out[i]"),
        "UNSAFE",
        "no barrier to order them",
    ),
    "input changed": (
        GOOD.replace("if (i < n)", "if (i < n) ((float*)a)[i] = 0.f; if (i < n)"),
        "MISMATCHED",
        "input",
    ),
    "host loop": (
        f"{HEAD}{GOOD_KERNEL}{SIGNATURE} {{ {LAUNCH} for (int i = 0; i < n; i++) out[i] = 0; }}",
        "REJECTED",
        "host code",
    ),
    "torch operator": (torch_source("return a + b;"), "REJECTED", "add"),
    "exit": (
        f"{HEAD}#include <cstdlib>\n{GOOD_KERNEL}{SIGNATURE} {{ {LAUNCH} _Exit(0); }}",
        "CRASHED",
        "ended its process",
    ),
    "exception": (torch_source('TORCH_CHECK(false, "no such luck"); return a;'), "CRASHED", "no such luck"),
    "null pointer": (
        f"{HEAD}{GOOD_KERNEL}{SIGNATURE} {{ *(volatile int*)nullptr = 0; {LAUNCH} }}",
        "CRASHED",
        "SIGSEGV",
    ),
    "assembly": (
        GOOD.replace("out[i] =", 'asm volatile("v_mov_b32 v0, 0"); if (i < n) out[i] ='),
        "NEEDS_DEVICE",
        "assembly",
    ),
    "host copies": (
        f"{HEAD}{GOOD_KERNEL}{SIGNATURE} {{ float x[777]; hipMemcpy(x, a, n * 4, hipMemcpyDefault); "
        f"for (int i = 0; i < n; i++) x[i] *= 2; hipMemcpy(out, x, n * 4, hipMemcpyDefault); {LAUNCH} }}",
        "REJECTED",
        "reads 3108 bytes from the device (hipMemcpy) and then sends 3108 bytes to it",
    ),
    "wrong branch": (
        f"{HEAD}{GOOD_KERNEL}{SIGNATURE} {{ float x; hipMemcpy(&x, a, 4, hipMemcpyDefault); if (x != x) {LAUNCH} }}",
        "REJECTED",
        "no kernel writes output 0",
    ),
    "libtorch's own": (torch_source("return a.is_coalesced() ? a : b;"), "NEEDS_DEVICE", "`at::Tensor::is_coalesced`"),
    "reads a secret": (f'{HEAD}#include "/etc/passwd"\n{GOOD_KERNEL}', "COMPILE_FAILED|REJECTED", "passwd"),
}


@pytest.mark.parametrize("name", ENDINGS)
async def test_bad_candidate_ends_with_its_verdict(compiler: Compiler, add: kernel_pb2.Task, name: str) -> None:
    """Each way to be bad has its verdict, an explanation that says why, and the candidate as fault owner."""
    source, verdicts, words = ENDINGS[name]
    report = await compiler.verify(add, source)
    assert Report.Verdict.Name(report.verdict) in verdicts.split("|"), report.explanation
    assert words.lower() in report.explanation.lower()
    assert report.fault_owner == Report.CANDIDATE
    assert "root:" not in str(report)


@pytest.mark.parametrize(
    ("body", "verdicts"),
    [
        ("for (;;) {}", {"TIMED_OUT"}),
        ("for (;;) fork();", {"CRASHED", "TIMED_OUT"}),
        (
            "volatile char* p = (char*)malloc(100ll << 30); for (long i = 0; i < 100ll << 30; i += 4096) p[i] = 1;",
            {"CRASHED"},
        ),
    ],
    ids=["endless loop", "fork bomb", "100 GB"],
)
async def test_greedy_host_code_ends_in_time_and_leaves_nothing(
    compiler: Compiler, add: kernel_pb2.Task, body: str, verdicts: set[str]
) -> None:
    """An endless loop, a fork bomb and a huge allocation get a verdict within their time; no process stays behind."""
    source = f"{HEAD}#include <cstdlib>\n#include <unistd.h>\n{GOOD_KERNEL}{SIGNATURE} {{ {body} {LAUNCH} }}"
    started = time.monotonic()
    report = await compiler.verify(add, source, timeout={"seconds": 2})
    assert Report.Verdict.Name(report.verdict) in verdicts, report.explanation
    assert time.monotonic() - started < 60
    assert descendants(compiler.service.process.pid) == []


async def test_endless_kernel_times_out(compiler: Compiler, add: kernel_pb2.Task) -> None:
    """A kernel that never ends is TIMED_OUT, and that is not cached."""
    source = GOOD.replace("if (i < n) out", "for (volatile int j = 0; n > 0;) j = j + 1; if (i < n) out")
    report = await compiler.verify(add, source, timeout={"seconds": 2})
    assert Report.Verdict.Name(report.verdict) == "TIMED_OUT", report.explanation
    again = await compiler.verify(add, source, timeout={"seconds": 2})
    assert not again.cached


async def test_finding_names_kernel_thread_line_and_buffer(compiler: Compiler, add: kernel_pb2.Task) -> None:
    """An access out of bounds is reported with all that its author needs to find it."""
    report = await compiler.verify(add, GOOD.replace("if (i < n)", "if (i <= n)"))
    finding = report.findings[0]
    assert (finding.kind, finding.case_id) == (Finding.OUT_OF_BOUNDS, "one")
    assert finding.location == "kernel.hip:5"
    assert "add" in finding.kernel
    assert finding.thread.x == 1
    assert finding.buffer in ("a", "b")


LARGE_REFERENCE = """
import torch

N = 1 << 22

class Model(torch.nn.Module):
    def forward(self, a, b):
        return a + b

def get_inputs():
    return [torch.randn(N), torch.randn(N)]

def get_init_inputs():
    return []
"""


async def test_report_says_what_was_made_smaller(compiler: Compiler) -> None:
    """A module whose inputs are too large for the CPU model runs with smaller ones, and the report says so."""
    report = await compiler.verify(await compiler.prepare(LARGE_REFERENCE, "large-add"), GOOD_TORCH)
    assert (report.verdict, report.explanation) == (Report.PASSED, "")
    assert any("N = " in note and "too large for the CPU model" in note for note in report.notes)


async def test_repeat_is_answered_from_the_cache(compiler: Compiler, add: kernel_pb2.Task) -> None:
    """An equal action gets the kept report; a fresh one is made on demand, with the same verdict."""
    first = await compiler.verify(add, GOOD, salt="cache")
    second = await compiler.verify(add, GOOD, salt="cache")
    fresh = await compiler.verify(add, GOOD, salt="cache", fresh=True)
    assert (first.cached, second.cached, fresh.cached) == (False, True, False)
    assert second.plans == first.plans == fresh.plans


async def test_cancelled_call_kills_its_processes(compiler: Compiler, add: kernel_pb2.Task) -> None:
    """When the last caller leaves, everything that ran for it is gone within a second."""
    source = f"{HEAD}{GOOD_KERNEL}{SIGNATURE} {{ for (;;) {{}} }}"
    running = asyncio.create_task(compiler.verify(add, source, timeout={"seconds": 100}))
    for _ in range(300):
        await asyncio.sleep(0.1)
        if descendants(compiler.service.process.pid):
            break
    running.cancel()
    await asyncio.wait([running])
    for _ in range(50):
        await asyncio.sleep(0.1)
        if not descendants(compiler.service.process.pid):
            return
    raise AssertionError("processes are left")


@pytest.mark.parametrize(
    ("field", "fields"),
    [
        ("action.targets", {"targets": ["gfx1100"]}),
        ("action.sources", {"sources": []}),
        ("action.timeout", {"timeout": {"seconds": 3600}}),
    ],
)
async def test_malformed_action_names_its_field(
    compiler: Compiler, add: kernel_pb2.Task, field: str, fields: dict[str, Any]
) -> None:
    """A malformed action is an error of the call, not a verdict."""
    with pytest.raises(errors.InvalidArgument) as caught:
        await compiler.verify(add, GOOD, **fields)
    assert caught.value.field == field


async def test_candidate_of_10_mb_is_refused(compiler: Compiler, add: kernel_pb2.Task) -> None:
    """A source above 1 MiB is refused by name, before anything runs."""
    with pytest.raises(errors.InvalidArgument, match="above the limit") as caught:
        await compiler.verify(add, GOOD + "//" + "x" * (10 << 20))
    assert caught.value.reason == "SOURCE_TOO_LARGE"


async def test_unknown_task_is_not_found(compiler: Compiler) -> None:
    """A task that nobody stored is NOT_FOUND."""
    with pytest.raises(errors.NotFound):
        await compiler.verify(kernel_pb2.Task(name="tasks/none-000000000000"), GOOD)


async def test_task_without_model_says_what_is_missing(compiler: Compiler) -> None:
    """A module without `Model` is refused with the name of what it lacks."""
    with pytest.raises(errors.InvalidArgument, match="Model"):
        await compiler.prepare("def get_inputs(): return []\n")


async def test_full_queue_is_unavailable(compiler: Compiler, add: kernel_pb2.Task) -> None:
    """More work than running and waiting places is answered UNAVAILABLE; the client's retries get it done."""
    sources = [
        GOOD.replace("256, 0", f"{64 * k}, 0").replace("255) / 256", f"{64 * k - 1}) / {64 * k}") for k in range(1, 8)
    ]
    reports = await asyncio.gather(*(compiler.verify(add, source, salt="queue") for source in sources))
    assert [report.verdict for report in reports] == [Report.PASSED] * len(sources)
    assert "UNAVAILABLE" in compiler.service.log()


async def test_killed_sandbox_is_no_verdict(compiler: Compiler, add: kernel_pb2.Task) -> None:
    """When the processes that run candidates are killed from outside, the call is UNAVAILABLE or tried again."""
    source = GOOD.replace("a[i] + b[i]", "b[i] + a[i]")
    running = asyncio.create_task(compiler.verify(add, source, salt="killed"))
    await asyncio.sleep(0.5)
    for child in _children(compiler.service.process.pid):
        os.kill(child, signal.SIGKILL)
    report = await running
    assert report.verdict == Report.PASSED


def _children(pid: int) -> list[int]:
    return [int(c) for path in Path(f"/proc/{pid}/task").glob("*/children") for c in path.read_text().split()]
