"""Host code that would rather not be recorded: each way ends in a verdict that says what happened."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest
import pytest_asyncio

from kernelvault.sandbox import Sandbox
from kernelvault.v1 import compiler_pb2
from svc_compiler.hip.toolchain import Toolchain
from tests.recording import LAUNCH, PREFIX, Recordings, kinds, launcher, verdict

pytestmark = pytest.mark.asyncio(loop_scope="module")
Finding = compiler_pb2.Finding


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def recordings(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Recordings]:
    """One sandbox and one tool chain for all tests of the module."""
    sandbox = await Sandbox.start(preload=["svc_compiler.hip.record_child"])
    toolchain = Toolchain.find(PREFIX, tmp_path_factory.mktemp("cache"))
    yield Recordings(sandbox, toolchain, tmp_path_factory.mktemp("sources"))
    await sandbox.close()


async def test_a_host_loop_is_rejected(recordings: Recordings) -> None:
    """Host code that computes on device memory itself faults, and the buffer is named."""
    refused = await recordings.refusal(launcher(LAUNCH + "for (int i = 0; i < n; i++) c[i] = 1;"))
    assert verdict(refused) == "REJECTED"
    assert refused.explanation == "Not a kernel: host code writes device memory (out); only kernels may."
    assert [(f.kind, f.buffer) for f in refused.findings] == [(Finding.HOST_ACCESS, "out")]


async def test_a_handler_of_its_own_does_not_hide_it(recordings: Recordings) -> None:
    """A candidate's handler for SIGSEGV is not installed."""
    before = "#include <csignal>\n#include <unistd.h>\nstatic void hide(int) { _exit(0); }\n"
    body = "signal(SIGSEGV, hide); struct sigaction s{}; s.sa_handler = hide; sigaction(SIGSEGV, &s, nullptr);"
    refused = await recordings.refusal(launcher(body + "c[0] = a[0];", before))
    assert verdict(refused) == "REJECTED"
    assert "reads device memory (a)" in refused.explanation


async def test_a_plan_ends_before_a_copy_from_the_device(recordings: Recordings) -> None:
    """Without anybody to say what the copy gives, the plan is what came before, and says so."""
    body = "float first; hipMemcpy(&first, a, 4, hipMemcpyDeviceToHost); if (first < 0) return;"
    plan = await recordings.plan(launcher(LAUNCH + body + LAUNCH))
    assert kinds(plan) == ["launch"]
    assert plan.data_dependent
    assert list(plan.limitations) == ["host code reads device memory (hipMemcpy)"]


@pytest.mark.parametrize("ending", ["exit(0)", "_exit(0)"])
async def test_ending_the_process(recordings: Recordings, ending: str) -> None:
    """Ending the process with success is no success."""
    refused = await recordings.refusal(launcher(LAUNCH + ending + ";", "#include <cstdlib>\n#include <unistd.h>"))
    assert verdict(refused) == "CRASHED"
    assert refused.explanation == "Host code ended its process instead of returning: exit code 0"


async def test_an_exception_says_what_it_was(recordings: Recordings) -> None:
    """An exception that leaves a launcher is reported with its text."""
    refused = await recordings.refusal(
        launcher('throw std::runtime_error("no plan for odd sizes");', "#include <stdexcept>")
    )
    assert verdict(refused) == "CRASHED"
    assert refused.explanation == "Host code threw an exception: no plan for odd sizes"


async def test_a_crash(recordings: Recordings) -> None:
    """A fault elsewhere than in device memory is a crash."""
    refused = await recordings.refusal(launcher("*(volatile int*)nullptr = 1;"))
    assert verdict(refused) == "CRASHED"
    assert refused.explanation.startswith("Host code crashed: killed by SIGSEGV")


async def test_an_endless_loop(recordings: Recordings) -> None:
    """Host code that does not return is timed out."""
    refused = await recordings.refusal(launcher("volatile int i = 0; for (;;) i = i + 1;"), timeout_s=1)
    assert verdict(refused) == "TIMED_OUT"


async def test_endless_launches(recordings: Recordings) -> None:
    """A trace is bounded."""
    refused = await recordings.refusal(launcher("for (;;) {" + LAUNCH + "}"))
    assert verdict(refused) == "NEEDS_DEVICE"
    assert "more operations than a plan holds" in refused.explanation


async def test_a_launch_that_hip_refuses(recordings: Recordings) -> None:
    """A launch that would fail on a device fails here, with its reason."""
    refused = await recordings.refusal(launcher("add<<<0, 2048, 0, stream>>>(a, b, c, n);"))
    assert verdict(refused) == "CRASHED"
    assert refused.explanation == (
        "The launch of `_Z3addPKfS0_Pfi` fails: the grid is empty: grid (0, 1, 1), block (2048, 1, 1), "
        "0 bytes of dynamic LDS"
    )


async def test_a_size_is_no_pointer_wherever_the_interpreter_lies(recordings: Recordings) -> None:
    """A count that is also a mapped address of this process, as Debian's interpreter has them, is no pointer."""
    low = 0x0800_0000
    mapping = f"mmap((void*){low}, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0)"
    kernel = "__global__ void keep(float* c, int64_t n) { if (n) c[0] = 1; }"
    body = f"if ({mapping} != (void*){low}) abort(); keep<<<1, 64, 0, stream>>>(c, {low});"
    plan = await recordings.plan(launcher(body, before=f"#include <cstdlib>\n#include <sys/mman.h>\n{kernel}"))
    assert plan.operations[0].launch.arguments[8:] == low.to_bytes(8, "little")


async def test_a_host_pointer_in_a_launch(recordings: Recordings) -> None:
    """A kernel that would follow a pointer into host memory is unsafe, and the argument is told."""
    refused = await recordings.refusal(launcher("float* h = new float[n << 10]; add<<<1, 64>>>(a, h, c, n);"))
    assert verdict(refused) == "UNSAFE"
    assert [f.kind for f in refused.findings] == [Finding.HOST_POINTER]
    assert "at byte 8 of its arguments" in refused.explanation


async def test_use_after_free(recordings: Recordings) -> None:
    """A launch on a buffer that was freed is unsafe."""
    refused = await recordings.refusal(
        launcher("float* x; hipMalloc(&x, n * 4); hipFree(x); add<<<1, 64>>>(a, x, c, n);")
    )
    assert verdict(refused) == "UNSAFE"
    assert [f.kind for f in refused.findings] == [Finding.USE_AFTER_FREE]


async def test_copies_that_leave_their_buffers(recordings: Recordings) -> None:
    """A copy beyond the end is unsafe before anything runs."""
    refused = await recordings.refusal(launcher("hipMemcpy(c, a, n * 8, hipMemcpyDeviceToDevice);"))
    assert verdict(refused) == "UNSAFE"
    assert refused.explanation == "Unsafe: a copy of 8000 bytes at offset 0 leaves the buffer 'a' of 4000 bytes."


async def test_skipping_work_in_later_calls(recordings: Recordings) -> None:
    """A second call that does less is state, even though the plan holds the first."""
    refused = await recordings.refusal(launcher("static int calls = 0; if (calls++ == 0) {" + LAUNCH + "}"))
    assert verdict(refused) == "REJECTED"
    assert "Host code keeps state between calls" in refused.explanation
    assert "(1 launches and 0 other operations, then 0 launches and 0 other operations)" in refused.explanation


async def test_a_large_upload(recordings: Recordings) -> None:
    """Host code cannot send results that it computed: uploads are bounded."""
    body = "float* h = new float[n]; hipMemcpy(c, h, n * 4, hipMemcpyHostToDevice);"
    source = launcher(body.replace("n * 4", "70000").replace("[n]", "[70000]"))
    refused = await recordings.refusal(source)
    assert verdict(refused) == "NEEDS_DEVICE"
    assert "uploads 70000 bytes or more; a plan holds at most 65536" in refused.explanation


async def test_missing_functions_are_named(recordings: Recordings) -> None:
    """What the recorder lacks needs a device, by name; what nobody has does not link."""
    body = "hipGraph_t g; hipStreamBeginCapture(stream, hipStreamCaptureModeGlobal); hipStreamEndCapture(stream, &g);"
    refused = await recordings.refusal(launcher(body))
    assert verdict(refused) == "NEEDS_DEVICE"
    assert "`hipStreamBeginCapture`, `hipStreamEndCapture`" in refused.explanation
    refused = await recordings.refusal(launcher("mine();", "void mine();"))
    assert verdict(refused) == "COMPILE_FAILED"
    assert "`mine()`" in refused.explanation


async def test_libraries_are_foreign(recordings: Recordings) -> None:
    """A library's operator is named and rejected."""
    refused = await recordings.refusal(launcher("rocblas_sgemm();", 'extern "C" int rocblas_sgemm();'))
    assert verdict(refused) == "REJECTED"
    assert [f.kind for f in refused.findings] == [Finding.FOREIGN_OPERATOR]


@pytest.mark.parametrize(
    "forgery",
    [
        "memset(trace, 0, 64);",
        "memset(trace + 16, 0xFF, 64);",
        "*(unsigned long*)(trace + 8) = 1ul << 40; _exit(0);",
        "*(unsigned long*)(trace + 8) = 8; memset(trace + 16, 0, 8); trace[16] = 12; _exit(0);",
    ],
)
async def test_a_damaged_trace(recordings: Recordings, forgery: str) -> None:
    """A trace that the recorder does not write is refused, whatever it says."""
    before = "#include <cstring>\n#include <sys/mman.h>\n#include <unistd.h>\n"
    body = LAUNCH + "char* trace = (char*)mmap(nullptr, 1 << 20, PROT_READ | PROT_WRITE, MAP_SHARED, 3, 0);" + forgery
    refused = await recordings.refusal(launcher(body, before))
    assert verdict(refused) in ("REJECTED", "CRASHED")
