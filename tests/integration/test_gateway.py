"""The gateway before real services, asked by a client of the seed system."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.compiler import environment_of
from tests.gateway import BATCH_FIELDS, EVALUATE_FIELDS, RESPONSE_FIELDS, SeedClient, kernel
from tests.services import Service

EXAMPLES = Path(__file__).parents[2] / "examples"
RIGHT = (EXAMPLES / "add.hip").read_text()
# Its third case is hidden from whoever writes kernels.
MODULE = (EXAMPLES / "add.py").read_text().replace('"id": "blocks"', '"id": "secret-blocks", "hidden": True')
FUNCTIONAL = (
    MODULE.replace("class Model", "def module_fn(a, b):\n    return a + b\n\n\nclass Model")
    .replace("def forward(self, a, b):", "def forward(self, a, b, fn=module_fn):")
    .replace("return a + b\n\n\ndef get", "return fn(a, b)\n\n\ndef get")
)
TORCH = """#include <hip/hip_runtime.h>
#include <torch/extension.h>

__global__ void add(const float* a, const float* b, float* out, int64_t n) {
    // Waves stride through memory: right, and slow.
    int64_t rows = (n + 1023) / 1024, t = blockIdx.x * int64_t(blockDim.x) + threadIdx.x;
    int64_t i = t % rows * 1024 + t / rows;
    if (t < rows * 1024 && i < n) out[i] = a[i] + b[i];
}

torch::Tensor forward(torch::Tensor a, torch::Tensor b) {
    a = a.contiguous(), b = b.contiguous();
    auto out = torch::empty_like(a);
    int64_t n = a.numel(), threads = (n + 1023) / 1024 * 1024;
    add<<<threads / 256, 256>>>(a.data_ptr<float>(), b.data_ptr<float>(), out.data_ptr<float>(), n);
    return out;
}

PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) { m.def("forward", &forward); }
"""
PYTHON = (EXAMPLES / "add_module.py").read_text()
TRITON = (EXAMPLES / "add_triton.py").read_text()


@pytest.fixture(scope="module")
def stack(
    corpus_service: Service, compiler_service: Service, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[dict[str, str]]:
    """A gateway's environment, with real services behind it and a folder of references."""
    folder = tmp_path_factory.mktemp("gateway")
    (folder / "references" / "level1").mkdir(parents=True)
    (folder / "references" / "level1" / "add.py").write_text(MODULE)
    (folder / "references" / "level1" / "add.baseline.hip").write_text(TORCH)
    (folder / "outside.py").write_text(MODULE)
    (folder / "references" / "linked.py").symlink_to(folder / "outside.py")
    profiler = {
        "KERNELVAULT_ADDRESS": "127.0.0.1:0",
        "KERNELVAULT_CORPUS_ADDRESS": corpus_service.address,
        "KERNELVAULT_CACHE_DIR": str(folder / "profiler"),
    }
    with Service("svc_profiler", profiler) as profiler_service:
        yield {
            "KERNELVAULT_ADDRESS": "127.0.0.1:0",
            "KERNELVAULT_COMPILER_ADDRESS": compiler_service.address,
            "KERNELVAULT_PROFILER_ADDRESS": profiler_service.address,
            "KERNELVAULT_CORPUS_ADDRESS": corpus_service.address,
            "KERNELVAULT_REFERENCES_DIR": str(folder / "references"),
            "KERNELVAULT_PATIENCE_SECONDS": "1",
        }


@pytest.fixture(scope="module")
def client(stack: dict[str, str]) -> Iterator[SeedClient]:
    """A client of that gateway."""
    with Service("orchestrator.gateway", stack) as service:
        yield SeedClient(service.address)


def test_health_says_that_all_services_serve(client: SeedClient) -> None:
    """An RL loop asks before it begins."""
    answer = client.health()

    assert answer.status == 200
    assert answer.body["available"] is True
    assert answer.body["services"] == {"compiler": "SERVING", "profiler": "SERVING", "corpus": "SERVING"}


@pytest.mark.slow
def test_a_batch_is_judged_kernel_by_kernel(client: SeedClient) -> None:
    """Each response has every documented field, in the order of the requests."""
    wrong = RIGHT.replace("a[i] + b[i]", "a[i] - b[i]")
    beyond = RIGHT.replace("if (i < n) ", "")
    broken = RIGHT.replace("int64_t i =", "int64_t j =")
    # More requests than the compiler's queue takes at once: what does not fit waits.
    sent = [kernel(f"k{i}", source, MODULE) for i, source in enumerate([RIGHT, wrong, beyond, broken, TORCH, PYTHON])]

    answer = client.run_code_batch(sent)

    assert answer.status == 200, answer.body
    assert set(answer.body) == BATCH_FIELDS
    assert answer.body["batch_size"] == 6
    responses = answer.body["responses"]
    assert all(set(response) == RESPONSE_FIELDS for response in responses)
    assert [response["kernel_name"] for response in responses] == [f"k{i}" for i in range(6)]
    reached = [(r["compile_ok"], r["run_ok"], r["match_ok"]) for r in responses]
    assert reached == [
        (True, True, True),
        (True, True, False),
        (True, False, False),
        (False, False, False),
        (True, True, True),
        (True, True, True),
    ]
    verdicts = [response["reason"].split(":")[0] for response in responses]
    assert verdicts == ["PASSED", "MISMATCHED", "UNSAFE", "COMPILE_FAILED", "PASSED", "PASSED"]
    assert responses[0]["stats"]["latency_ms"] > 0
    assert responses[0]["stats"]["method"] == "cpu-model"
    assert responses[0]["speedup"] is None


@pytest.mark.slow
def test_the_speedup_is_over_the_reference_kernel(client: SeedClient) -> None:
    """`hip_ref_code` is verified and timed in the same way as `hip_code`."""
    sent = kernel("add", RIGHT, MODULE, hip_ref_code=TORCH, pytorch_functional_code=FUNCTIONAL)

    answer = client.post("/run_code", sent)

    assert answer.status == 200, answer.body
    stats = answer.body["stats"]
    assert answer.body["speedup"] == pytest.approx(stats["baseline_latency_ms"] / stats["latency_ms"])
    assert answer.body["speedup"] > 1.1


@pytest.mark.slow
def test_a_baseline_that_is_wrong_gives_no_speedup(client: SeedClient) -> None:
    """The candidate keeps its verdict, and is told why it has no speed-up."""
    wrong = TORCH.replace("a[i] + b[i]", "a[i]")

    answer = client.run_code_batch([kernel("add", RIGHT, MODULE, hip_ref_code=wrong)])

    (response,) = answer.body["responses"]
    assert (response["match_ok"], response["speedup"]) == (True, None)
    assert "the baseline is MISMATCHED" in response["reason"]


@pytest.mark.slow
def test_a_broken_reference_is_the_requests_fault(client: SeedClient) -> None:
    """The seed system blamed the kernel: compile_ok false, reward 0."""
    failing = MODULE.replace("return a + b", "return a @ b.missing")

    answer = client.run_code_batch([kernel("one", RIGHT, MODULE), kernel("two", RIGHT, failing)])

    assert answer.status == 422
    (detail,) = answer.body["detail"]
    assert detail["loc"] == ["body", 1, "pytorch_module_code"]
    assert "missing" in detail["msg"]


@pytest.mark.slow
def test_a_functional_form_that_ignores_fn_is_refused(client: SeedClient) -> None:
    """In the seed system such a wrapper passed without the candidate ever running."""
    ignoring = FUNCTIONAL.replace("return fn(a, b)", "return a + b")

    answer = client.run_code_batch([kernel("one", RIGHT, MODULE, pytorch_functional_code=ignoring)])

    assert answer.status == 422
    assert answer.body["detail"][0]["loc"] == ["body", 0, "pytorch_functional_code"]


@pytest.mark.slow
def test_a_triton_module_is_evaluated(client: SeedClient) -> None:
    """The speed-up is over the kernel beside the reference."""
    answer = client.evaluate(TRITON, "level1/add.py", atol=1e-3, rtol=1e-4)

    assert answer.status == 200, answer.body
    assert set(answer.body) == EVALUATE_FIELDS
    assert (answer.body["compiled"], answer.body["correct"], answer.body["error_type"]) == (True, True, None)
    speedup = answer.body["baseline_latency_ms"] / answer.body["latency_ms"]
    assert answer.body["speedup"] == pytest.approx(speedup)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("change", "compiled", "error_type", "words"),
    [
        (("a + b, mask", "a - b, mask"), True, "correctness", "elements differ"),
        (("tl.store(", "tl.stoer("), False, "compile", "stoer"),
        (("out_ptr + i, a", "out_ptr + i + 1, a"), True, "runtime", "out"),
    ],
)
def test_a_triton_module_that_fails_is_told_why(
    client: SeedClient, change: tuple[str, str], compiled: bool, error_type: str, words: str
) -> None:
    """It is an answer with status 200, which a reward may follow from."""
    answer = client.evaluate(TRITON.replace(*change), "level1/add.py")

    assert answer.status == 200, answer.body
    assert (answer.body["compiled"], answer.body["correct"]) == (compiled, False)
    assert answer.body["error_type"] == error_type
    assert words in answer.body["feedback"]


@pytest.mark.slow
def test_hidden_cases_stay_hidden(client: SeedClient) -> None:
    """A kernel that is right but for the hidden case is told no more than that."""
    # 4096 elements are the hidden case's alone.
    wrong = RIGHT.replace("a[i] + b[i]", "a[i] + (n == 4096 ? 0 : b[i])")

    answer = client.run_code_batch([kernel("sly", wrong, MODULE)])

    assert answer.body["responses"][0]["match_ok"] is False
    assert "not shown" in answer.body["responses"][0]["reason"]
    assert "secret-blocks" not in str(answer.body)


@pytest.mark.parametrize("name", ["../outside.py", "linked.py", "/etc/passwd", "level1", "absent.py", "a\0b.py"])
def test_files_outside_the_folder_are_not_read(client: SeedClient, name: str) -> None:
    """One answer for what is outside and for what is not there."""
    answer = client.evaluate(TRITON, name)

    assert answer.status == 422
    assert answer.body["detail"][0]["loc"] == ["body", "filename"]
    assert "no Python file below" in answer.body["detail"][0]["msg"]


@pytest.mark.slow
def test_a_compiler_that_is_gone_is_no_failed_kernel(stack: dict[str, str], corpus_service: Service) -> None:
    """503 with Retry-After; asked again when it says so, the gateway answers once the compiler is back."""
    with Service("svc_compiler", environment_of(corpus_service)) as compiler:
        environment = {**stack, "KERNELVAULT_COMPILER_ADDRESS": compiler.address}
        with Service("orchestrator.gateway", environment) as service:
            client = SeedClient(service.address)
            compiler.kill()
            gone, health = client.run_code_batch([kernel("one", RIGHT, MODULE)]), client.health()
            compiler.restart()
            back = client.patiently([kernel("one", RIGHT, MODULE)])

    assert gone.status == 503
    assert int(gone.headers["Retry-After"]) >= 1
    assert "responses" not in gone.body
    assert (health.status, health.body["available"]) == (503, False)
    assert back.status == 200
    assert back.body["responses"][0]["match_ok"] is True


@pytest.mark.slow
def test_a_kernel_that_needs_a_device_is_neither_right_nor_wrong(stack: dict[str, str], client: SeedClient) -> None:
    """By default the request is refused; where the operator wants it, null stands for what nobody knows."""
    needy = RIGHT.replace("add<<<", "hipGraph_t graph; hipGraphCreate(&graph, 0);\n    add<<<")
    sent = [kernel("right", RIGHT, MODULE), kernel("needy", needy, MODULE)]

    refused = client.run_code_batch(sent)
    with Service("orchestrator.gateway", {**stack, "KERNELVAULT_UNJUDGED": "null"}) as service:
        marked = SeedClient(service.address).run_code_batch(sent)

    assert refused.status == 501
    assert [one["index"] for one in refused.body["unjudged"]] == [1]
    assert marked.body["responses"][0]["match_ok"] is True
    needed = marked.body["responses"][1]
    assert (needed["compile_ok"], needed["run_ok"], needed["match_ok"]) == (None, None, None)
    assert needed["reason"].startswith("NEEDS_DEVICE")


@pytest.mark.slow
@pytest.mark.parametrize("command", [[EXAMPLES / "grpcurl.sh"], [sys.executable, EXAMPLES / "client.py"]])
def test_the_examples_work(stack: dict[str, str], command: list[str | Path]) -> None:
    """From the shell grpcurl is all that it needs; in Python the client finds its services in the environment."""
    environment = {
        "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}",
        "HOME": os.environ.get("HOME", "/"),
        "COMPILER": stack["KERNELVAULT_COMPILER_ADDRESS"],
        "CORPUS": stack["KERNELVAULT_CORPUS_ADDRESS"],
        **{name: value for name, value in stack.items() if name.endswith(("COMPILER_ADDRESS", "CORPUS_ADDRESS"))},
    }

    ended = subprocess.run(command, env=environment, capture_output=True, text=True, check=False, timeout=150)

    assert ended.returncode == 0, ended.stderr
    assert "PASSED" in ended.stdout
