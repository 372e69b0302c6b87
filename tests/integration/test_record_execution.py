"""Host code that acts on what it reads from the device: recorded again with each answer, kernels run elsewhere."""

from __future__ import annotations

from collections.abc import AsyncIterator

import numpy as np
import pytest
import pytest_asyncio

from kernelvault.replay import cpu_model
from kernelvault.sandbox import Sandbox
from kernelvault.v1 import compiler_pb2
from svc_compiler.hip.toolchain import Toolchain
from svc_compiler.refusal import Refused
from tests.execution import Executed, Executions
from tests.recording import LAUNCH, PREFIX, TORCH, kinds, launcher, verdict

pytestmark = pytest.mark.asyncio(loop_scope="module")
Finding = compiler_pb2.Finding
COUNT = 1000
A = np.sin(np.arange(COUNT, dtype=np.float32))
B = np.cos(np.arange(COUNT, dtype=np.float32))
KERNELS = """
__device__ int found = 7;
__global__ void count(const float* a, int* positive, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n && a[i] > 0) atomicAdd(positive, 1);
}
__global__ void fill(float* c, float value, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) c[i] = value;
}
__global__ void find() { found = 42; }
"""


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def executions(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Executions]:
    """One sandbox and one tool chain for all tests of the module."""
    sandbox = await Sandbox.start(preload=[*cpu_model.PRELOAD, "svc_compiler.hip.record_child"])
    toolchain = Toolchain.find(PREFIX, tmp_path_factory.mktemp("cache"))
    yield Executions(sandbox, toolchain, tmp_path_factory.mktemp("sources"))
    await sandbox.close()


async def run(executions: Executions, body: str, before: str = "", count: int = COUNT) -> Executed:
    """What a launcher with this body does with the first numbers of A and B."""
    return await executions.run(launcher(body, KERNELS + before), {"a": A[:count], "b": B[:count]}, (count,))


async def refusal(executions: Executions, body: str, before: str = "", a: np.ndarray = A) -> Refused:
    """How a launcher with this body ends."""
    return await executions.refusal(launcher(body, KERNELS + before), {"a": a, "b": B}, (COUNT,))


COUNTED = """
    int positive, *device;
    hipMalloc(&device, sizeof(int));
    hipMemset(device, 0, sizeof(int));
    count<<<(n + 255) / 256, 256, 0, stream>>>(a, device, n);
    hipMemcpy(&positive, device, sizeof(int), hipMemcpyDeviceToHost);
"""


async def test_a_count_decides_the_grid(executions: Executions) -> None:
    """The count that a kernel made is the true one; the plan says that it holds for these inputs only."""
    body = "hipMemset(c, 0, n * 4);" + COUNTED + "fill<<<(positive + 255) / 256, 256>>>(c, 2.f, positive);"
    done = await run(executions, body)
    positive = int((A > 0).sum())
    assert (done.answers, int((done.outputs[0] == 2).sum())) == (1, positive)
    assert kinds(done.plan) == ["fill", "fill", "launch", "launch"]
    assert done.plan.operations[3].launch.grid.x == -(-positive // 256)
    assert done.plan.data_dependent
    assert list(done.plan.limitations) == ["host code reads device memory (hipMemcpy)"]


@pytest.mark.parametrize("sign", ["<", ">"])
async def test_a_branch_goes_the_true_way(executions: Executions, sign: str) -> None:
    """A branch on an input's first element, sin(1), is taken as it would be on a device."""
    body = f"float second; hipMemcpyAsync(&second, a + 1, 4, hipMemcpyDeviceToHost, stream); if (second {sign} 0.f) "
    done = await run(executions, f"{body} {{ {LAUNCH} }} else fill<<<4, 256>>>(c, -1.f, n);")
    np.testing.assert_allclose(done.outputs[0], A + B if sign == ">" else np.full(COUNT, -1), rtol=1e-6)


async def test_a_loop_until_it_converges(executions: Executions) -> None:
    """Each iteration's flag is answered; the loop ends where it would."""
    before = """
    __global__ void halve(float* c, int* more, int n) {
        int i = blockIdx.x * blockDim.x + threadIdx.x;
        if (i < n && (c[i] /= 2) > 0.001f) atomicOr(more, 1);
    }"""
    body = """
    fill<<<4, 256>>>(c, 1.f, n);
    int more = 1, *device; hipMalloc(&device, 4);
    for (int i = 0; i < 20 && more; i++) {
        hipMemsetAsync(device, 0, 4, stream);
        halve<<<(n + 255) / 256, 256, 0, stream>>>(c, device, n);
        hipMemcpy(&more, device, 4, hipMemcpyDeviceToHost);
    }"""
    done = await run(executions, body, before)
    assert done.answers == 10
    np.testing.assert_array_equal(done.outputs[0], np.float32(2.0**-10))


async def test_a_loop_without_end_is_bounded(executions: Executions) -> None:
    """A loop whose flag never falls ends after so many copies, as nothing that a candidate is blamed for."""
    refused = await refusal(executions, "float x = 0; while (x < 2) { hipMemcpy(&x, b, 4, hipMemcpyDeviceToHost); }")
    assert verdict(refused) == "NEEDS_DEVICE"
    assert "more than 64 times" in refused.explanation


async def test_large_answers_are_bounded(executions: Executions) -> None:
    """More than 1 MiB in all is not copied out."""
    body = "char* x = (char*)malloc(2 << 20), *d; hipMalloc(&d, 2 << 20); hipMemcpy(x, d, 2 << 20, hipMemcpyDefault);"
    refused = await refusal(executions, body, "#include <cstdlib>\n")
    assert verdict(refused) == "NEEDS_DEVICE"
    assert "copies 2097152 bytes from the device (hipMemcpy)" in refused.explanation


async def test_what_a_torch_extension_reads(executions: Executions) -> None:
    """Items, transposed tensors and conversions arrive on the host with the device's values."""
    source = """
    #include <torch/extension.h>
    __global__ void fill(float* c, float x, double y, float z) { c[0] = x, c[1] = y, c[2] = z; }
    torch::Tensor forward(torch::Tensor a) {
        float item = a[1][2].item<float>();
        auto turned = a.t().cpu();
        auto wide = a.select(1, 0).to(torch::kCPU, torch::kDouble);
        auto out = torch::empty({3}, a.options());
        fill<<<1, 1>>>(out.data_ptr<float>(), item, wide.data_ptr<double>()[1], turned.data_ptr<float>()[1]);
        return out;
    }
    PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) { m.def("forward", &forward); }
    """
    a = np.arange(6, dtype=np.float32).reshape(2, 3) + 0.5
    done = await executions.run(source, {"a": a}, (3,), TORCH)
    assert done.answers == 3
    # The copy of a transposed tensor keeps its strides.
    assert done.outputs[0].tolist() == [a[1, 2], a[1, 0], a.ravel()[1]]


async def test_module_variables_and_rows(executions: Executions) -> None:
    """A module variable and the rows of a matrix are copied out like any other memory."""
    body = """
    int before, after; float rows[2][2];
    hipMemcpyFromSymbol(&before, HIP_SYMBOL(found), sizeof(int));
    find<<<1, 1>>>();
    hipMemcpyFromSymbol(&after, HIP_SYMBOL(found), sizeof(int));
    hipMemcpy2D(rows, 8, a, 40, 8, 2, hipMemcpyDeviceToHost);
    fill<<<1, 250>>>(c, before, n); fill<<<1, 250>>>(c + 250, after, n);
    fill<<<1, 250>>>(c + 500, rows[0][1], n); fill<<<1, 250>>>(c + 750, rows[1][0], n);
    """
    done = await run(executions, body.replace(", n);", ", 250);"))
    assert done.outputs[0][::250].tolist() == [7, 42, A[1], A[10]]


async def test_values_and_addresses_may_be_handed_on(executions: Executions) -> None:
    """Counts that a kernel made become arguments; a table of addresses may follow a copy from the device."""
    before = """
    __global__ void split(int* sizes) { sizes[threadIdx.x] = 100 + threadIdx.x; }
    __global__ void each(float* const* at, int index, int64_t size) { at[index][threadIdx.x] = size; }
    """
    body = """
    int sizes[16], *device; float* table[16]; float** there;
    hipMalloc(&device, sizeof sizes); hipMalloc(&there, sizeof table);
    fill<<<4, 256>>>(c, 0.f, n);
    split<<<1, 16>>>(device);
    hipMemcpy(sizes, device, sizeof sizes, hipMemcpyDeviceToHost);
    for (int i = 0; i < 16; i++) table[i] = c + 50 * i;
    hipMemcpy(there, table, sizeof table, hipMemcpyHostToDevice);
    for (int i = 0; i < 16; i++) each<<<1, 50>>>(there, i, sizes[i]);
    """
    done = await run(executions, body, before)
    assert done.outputs[0][:800:50].tolist() == list(range(100, 116))


HOST_COMPUTATIONS = {
    "copies": "for (int i = 0; i < n; i++) x[i] *= 2; hipMemcpy(c, x, n * 4, hipMemcpyHostToDevice);",
    "symbol": "for (int i = 0; i < 20; i++) x[i] *= 2; hipMemcpyToSymbol(HIP_SYMBOL(table), x, 80); take<<<1, 1>>>(c);",
    "structure": "Many m; for (int i = 0; i < 900; i++) m.x[i] = 2 * x[i]; unpack<<<1, 900>>>(c, m);",
    "fills": "for (int i = 0; i < n; i++) { float y = 2 * x[i]; hipMemsetD32(c + i, *(int*)&y, 1); }",
    "scalars": "for (int i = 0; i < n; i++) fill<<<1, 1>>>(c + i, 2 * x[i], 1);",
    "a sum": "float s = 0; for (int i = 0; i < n; i++) s += x[i]; fill<<<4, 256>>>(c, s, n);",
    "a maximum": "float s = -2; for (int i = 0; i < n; i++) s = x[i] > s ? x[i] : s; fill<<<4, 256>>>(c, s, n);",
}


@pytest.mark.parametrize("name", HOST_COMPUTATIONS)
async def test_computing_on_the_host_is_rejected(executions: Executions, name: str) -> None:
    """Data that goes to the host and comes back changed is no kernel's work, whatever way it takes."""
    before = """
    struct Many { float x[900]; };
    __constant__ float table[20];
    __global__ void unpack(float* c, Many m) { c[threadIdx.x] = m.x[threadIdx.x]; }
    __global__ void take(float* c) { c[0] = table[0]; }
    """
    read = "float* x = new float[n]; hipMemcpy(x, a, n * 4, hipMemcpyDeviceToHost);"
    refused = await refusal(executions, read + HOST_COMPUTATIONS[name], before)
    assert verdict(refused) == "REJECTED", refused.explanation
    assert "reads 4000 bytes from the device (hipMemcpy)" in refused.explanation
    assert [(f.kind, f.case_id) for f in refused.findings] == [(Finding.FOREIGN_OPERATOR, "case")]


async def test_constants_before_the_first_copy_are_fine(executions: Executions) -> None:
    """A table that is uploaded before anything is read was not computed from it."""
    body = "static float table[64]; float x; hipMemcpyToSymbol(HIP_SYMBOL(weights), table, sizeof table);"
    body += "hipMemcpy(&x, a, 4, hipMemcpyDeviceToHost); if (x == 0.f) " + LAUNCH
    done = await run(executions, body, "__constant__ float weights[64];\n")
    np.testing.assert_allclose(done.outputs[0], A + B, rtol=1e-6)


@pytest.mark.parametrize("way", ["hipMemcpy(c, &m, 3600, hipMemcpyHostToDevice);", "unpack<<<1, 900>>>(c, m);"])
async def test_answers_that_are_read_early(executions: Executions, way: str) -> None:
    """Host code that looks for answers before it asks does something else each time, and is not judged."""
    before = """
    #include <unistd.h>
    struct Many { float x[900]; };
    __global__ void unpack(float* c, Many m) { c[threadIdx.x] = m.x[threadIdx.x]; }
    """
    body = """
    Many m{}; int64_t size;
    for (int fd = 3; fd < 64; fd++)
        if (pread(fd, &size, 8, 0) == 8 && size == 4000) pread(fd, &m, 3600, 8);
    for (float& x : m.x) x *= 2;
    """
    body += way + "float* x = new float[n]; hipMemcpy(x, a, n * 4, hipMemcpyDeviceToHost);"
    refused = await refusal(executions, body, before)
    assert verdict(refused) == "NEEDS_DEVICE"
    assert "something else each time" in refused.explanation


async def test_memory_that_nobody_wrote(executions: Executions) -> None:
    """Acting on memory without contents is a fault of the candidate."""
    refused = await refusal(executions, "int x, *d; hipMalloc(&d, 4); hipMemcpy(&x, d, 4, hipMemcpyDeviceToHost);")
    assert verdict(refused) == "UNSAFE"
    assert [f.kind for f in refused.findings] == [Finding.UNINITIALIZED_READ]


@pytest.mark.parametrize(
    ("body", "words"),
    [
        ("hipMemcpy(&x, a + n, 4, hipMemcpyDeviceToHost);", "leaves the buffer 'a' of 4000 bytes"),
        ("fill<<<5, 256>>>(c, 1.f, 1280); hipMemcpy(&x, c, 4, hipMemcpyDeviceToHost);", "writes 4 bytes"),
        ("float* d; hipMalloc(&d, 4); hipFree(d); hipMemcpy(&x, d, 4, hipMemcpyDeviceToHost);", "freed it"),
    ],
)
async def test_faults_before_an_answer(executions: Executions, body: str, words: str) -> None:
    """A memory error in what a copy waits for is reported as in any replay."""
    refused = await refusal(executions, f"float x; {body}")
    assert verdict(refused) == "UNSAFE"
    assert words in refused.explanation


async def test_an_answer_that_is_kept(executions: Executions) -> None:
    """Host code that reads once and remembers would use old data in its second call."""
    body = "static float x = -2; if (x == -2) hipMemcpy(&x, a, 4, hipMemcpyDeviceToHost); fill<<<4, 256>>>(c, x, n);"
    refused = await refusal(executions, body)
    assert verdict(refused) == "REJECTED"
    assert "keeps state between calls" in refused.explanation


async def test_other_dependence_needs_a_device(executions: Executions) -> None:
    """Addresses that are hashed, and chance, are answered by nobody."""
    for body in (
        "fill<<<4, 256>>>(c, float(int64_t(a) % 1000), n);",
        "fill<<<4, 256>>>(c, float(std::random_device{}()), n);",
    ):
        refused = await refusal(executions, body, "#include <random>\n")
        assert verdict(refused) == "NEEDS_DEVICE"
        assert "changes with the run" in refused.explanation
