"""Host code becomes a launch plan: hip-abi, with the real compiler and recorder."""

from __future__ import annotations

import struct
from collections.abc import AsyncIterator

import pytest
import pytest_asyncio

from kernelvault import errors
from kernelvault.sandbox import Sandbox
from kernelvault.v1 import kernel_pb2, plan_pb2
from svc_compiler.hip import record
from svc_compiler.hip.toolchain import Toolchain
from tests.recording import (
    LAUNCH,
    PREFIX,
    RUNTIME,
    Recordings,
    kinds,
    launcher,
    pointers,
    tensor,
    vectors,
    verdict,
)

pytestmark = pytest.mark.asyncio(loop_scope="module")


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def recordings(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Recordings]:
    """One sandbox and one tool chain for all tests of the module."""
    sandbox = await Sandbox.start(preload=["svc_compiler.hip.record_child"])
    toolchain = Toolchain.find(PREFIX, tmp_path_factory.mktemp("cache"))
    yield Recordings(sandbox, toolchain, tmp_path_factory.mktemp("sources"))
    await sandbox.close()


async def test_vector_add(recordings: Recordings) -> None:
    """A launch is recorded with grid, block, argument bytes and the buffers that its pointers mean."""
    plan = await recordings.plan(launcher(LAUNCH))
    assert [(b.name, b.role, b.size_bytes) for b in plan.buffers] == [
        ("a", plan_pb2.Buffer.INPUT, 4000),
        ("b", plan_pb2.Buffer.INPUT, 4000),
        ("out", plan_pb2.Buffer.OUTPUT, 4000),
    ]
    [operation] = plan.operations
    assert operation.phase == plan_pb2.Operation.CALL
    assert (operation.launch.grid.x, operation.launch.block.x) == (4, 256)
    assert pointers(plan) == [(0, "a", 0), (8, "b", 0), (16, "out", 0)]
    assert operation.launch.arguments == bytes(24) + struct.pack("<i", 1000)
    assert [kernel.name for kernel in plan.kernels] == ["_Z3addPKfS0_Pfi"]
    assert [(r.buffer, list(r.view.dims)) for r in plan.results] == [(2, [1000])]
    assert not plan.data_dependent
    assert not plan.limitations


async def test_a_recorder_without_memory_is_no_verdict(recordings: Recordings, monkeypatch: pytest.MonkeyPatch) -> None:
    """What ends before host code is loaded is the platform's fault, not the candidate's."""
    monkeypatch.setattr(record, "TRACE_BYTES", 64)
    with pytest.raises(errors.Unavailable, match="failed to record host code"):
        await recordings.plan(launcher(LAUNCH))


async def test_scalars_and_sizes_follow_the_tensors(recordings: Recordings) -> None:
    """Scalars come after the tensors, sizes after the scalars, outputs after the sizes."""
    case = kernel_pb2.Case(
        id="mixed",
        parameters=[
            tensor("x", [3, 5]),
            kernel_pb2.Parameter(name="count", int_value=7),
            kernel_pb2.Parameter(name="scale", float_value=0.5),
            kernel_pb2.Parameter(name="flip", bool_value=True),
        ],
        outputs=[tensor("out", [3, 5])],
    )
    source = (
        RUNTIME
        + """
    __global__ void k(const float*, float*, int64_t count, double scale, bool flip, int64_t rows, int64_t cols) {}
    extern "C" void run(const float* x, int64_t count, double scale, bool flip, int64_t x_0, int64_t x_1, float* out,
                        hipStream_t stream) {
        k<<<1, 64, 0, stream>>>(x, out, count, scale, flip, x_0, x_1);
    }"""
    )
    plan = await recordings.plan(source, case)
    values = plan.operations[0].launch.arguments
    assert struct.unpack_from("<qd?7xqq", values, 16) == (7, 0.5, True, 3, 5)


async def test_pointers_in_structs_templates_and_lambdas(recordings: Recordings) -> None:
    """Pointers are found wherever they lie in the arguments, whatever the kernel's type."""
    before = """
    struct View { float* data; int n; };
    __global__ void view(int first, View in, View out) { out.data[threadIdx.x] = in.data[threadIdx.x] + first; }
    template <class F> __global__ void apply(F f) { f(threadIdx.x); }
    """
    body = """
    view<<<1, 64, 0, stream>>>(3, View{const_cast<float*>(a) + 8, 10}, View{c, 20});
    apply<<<1, 64, 0, stream>>>([=] __device__(int i) { c[i] = a[i]; });
    """
    plan = await recordings.plan(launcher(body, before), padding={"_Z4viewi4ViewS_": [4, 5, 6, 7, 20, 21, 22, 23]})
    assert pointers(plan) == [(8, "a", 32), (24, "out", 0)]
    assert {name for _, name, _ in pointers(plan, 1)} == {"a", "out"}
    assert not plan.data_dependent


async def test_dynamic_lds_scratch_fills_and_copies(recordings: Recordings) -> None:
    """Scratch becomes a buffer; fills, device copies, strided copies and constants become operations."""
    before = """
    __constant__ float weights[4];
    __global__ void shared(float* x, int n) { extern __shared__ float tile[]; tile[threadIdx.x] = x[threadIdx.x]; }
    """
    body = """
    float* scratch; float table[4] = {1, 2, 3, 4};
    hipMalloc(&scratch, n * sizeof(float));
    hipMemsetAsync(scratch, 0, n * sizeof(float), stream);
    hipMemsetD32Async((hipDeviceptr_t)scratch, 0x3f800000, n, stream);
    hipMemcpyAsync(scratch, a, n * sizeof(float), hipMemcpyDeviceToDevice, stream);
    hipMemcpy2DAsync(c, 64, scratch, 128, 64, 4, hipMemcpyDeviceToDevice, stream);
    hipMemcpyToSymbol(HIP_SYMBOL(weights), table, sizeof table);
    hipMemcpyAsync(scratch, table, sizeof table, hipMemcpyHostToDevice, stream);
    shared<<<1, 128, 512, stream>>>(scratch, n);
    hipFree(scratch);
    """
    plan = await recordings.plan(launcher(body, before))
    assert kinds(plan) == ["fill", "fill", "copy", "convert", "upload", "upload", "launch"]
    operations = plan.operations
    assert plan.buffers[operations[0].fill.buffer].name == "scratch 1"
    assert (operations[1].fill.pattern, operations[1].fill.size_bytes) == (bytes.fromhex("0000803f"), 4000)
    assert operations[2].copy.size_bytes == 4000
    assert list(operations[3].convert.source_view.strides) == [128, 1]
    assert (operations[4].upload.variable, operations[4].upload.data) == ("weights", struct.pack("<4f", 1, 2, 3, 4))
    assert operations[6].launch.dynamic_lds_bytes == 512


async def test_uploaded_pointers_are_relocated(recordings: Recordings) -> None:
    """A table of device pointers, as batched kernels take it, keeps its meaning."""
    body = (
        """
    const float* table[2] = {a, b + 4}; void* device;
    hipMalloc(&device, sizeof table);
    hipMemcpy(device, table, sizeof table, hipMemcpyHostToDevice);
    """
        + LAUNCH
    )
    plan = await recordings.plan(launcher(body))
    found = [(r.at, plan.buffers[r.buffer].name, r.offset) for r in plan.operations[0].upload.relocations]
    assert found == [(0, "a", 0), (8, "b", 16)]


async def test_streams_events_and_properties(recordings: Recordings) -> None:
    """Streams are serialised, events do nothing, and what host code was told about the device is in the plan."""
    body = """
    int units = 0, device = 0; hipDeviceProp_t properties;
    hipGetDevice(&device);
    hipDeviceGetAttribute(&units, hipDeviceAttributeMultiprocessorCount, device);
    hipGetDeviceProperties(&properties, device);
    hipStream_t side; hipEvent_t done;
    hipStreamCreate(&side); hipEventCreateWithFlags(&done, hipEventDisableTiming);
    add<<<units, 256, 0, side>>>(a, b, c, n);
    hipEventRecord(done, side); hipStreamWaitEvent(stream, done, 0);
    add<<<properties.warpSize, 256, 0, stream>>>(a, c, c, n);
    hipStreamDestroy(side); hipEventDestroy(done);
    """
    plan = await recordings.plan(launcher(body))
    assert [operation.launch.grid.x for operation in plan.operations] == [304, 64]
    assert {p.name: p.value for p in plan.assumed_properties}["multiprocessor_count"] == 304


async def test_strided_inputs_reach_a_launcher_contiguous(recordings: Recordings) -> None:
    """A launcher's pointers are contiguous: a strided input is converted first, as an operation."""
    case = vectors()
    case.parameters[0].CopyFrom(tensor("a", [1000], strides=[2]))
    plan = await recordings.plan(launcher(LAUNCH), case)
    assert kinds(plan) == ["convert", "launch"]
    assert plan.buffers[plan.operations[0].convert.source].size_bytes == 1999 * 4
    assert pointers(plan, 1)[0] == (0, "contiguous a", 0)


async def test_the_launcher_of_a_dtype(recordings: Recordings) -> None:
    """A case in another dtype calls the launcher of that dtype; its absence is said with the prototype."""
    source = (
        RUNTIME
        + """
    #include <hip/hip_fp16.h>
    __global__ void copy(const __half* a, __half* c, int n) { c[threadIdx.x] = a[threadIdx.x]; }
    extern "C" void run_float16(const __half* a, const __half*, int64_t n, int64_t, __half* c, hipStream_t stream) {
        copy<<<1, 256, 0, stream>>>(a, c, n);
    }"""
    )
    plan = await recordings.plan(source, vectors(100, "float16"))
    assert plan.buffers[0].size_bytes == 200
    refused = await recordings.refusal(source)
    assert verdict(refused) == "COMPILE_FAILED"
    assert refused.explanation == (
        "There is no launcher `run` for case 'vectors'. Expected: "
        'extern "C" void run(const float* a, const float* b, int64_t a_0, int64_t b_0, float* out, hipStream_t stream)'
    )


async def test_empty_tensors(recordings: Recordings) -> None:
    """Tensors without elements have null pointers and keep their places."""
    plan = await recordings.plan(launcher("if (n > 0) { " + LAUNCH + " }"), vectors(0))
    assert [b.size_bytes for b in plan.buffers] == [0, 0, 0]
    assert kinds(plan) == []
    assert plan.results[0].buffer == 2


async def test_state_that_is_none(recordings: Recordings) -> None:
    """A cached workspace, a cached property and constants that are uploaded once are no state that matters."""
    before = "__constant__ float weights[4];\n"
    body = """
    static float* workspace = nullptr; static int units = 0; float table[4] = {1, 2, 3, 4};
    if (!workspace) {
        hipMalloc(&workspace, n * sizeof(float));
        hipMemcpyToSymbol(HIP_SYMBOL(weights), table, sizeof table);
        hipDeviceGetAttribute(&units, hipDeviceAttributeMultiprocessorCount, 0);
    }
    add<<<units, 256, 0, stream>>>(a, b, workspace, n);
    add<<<units, 256, 0, stream>>>(a, workspace, c, n);
    """
    plan = await recordings.plan(launcher(body, before))
    assert kinds(plan) == ["upload", "launch", "launch"]
