"""Sources are read out of answers, however a model wraps them."""

from __future__ import annotations

import contextlib
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kernelvault.v1.kernel_pb2 import Candidate
from svc_generator import parsing
from svc_generator.parsing import Unreadable, read_kernel, read_python

ABI = """#include <hip/hip_runtime.h>
__global__ void k(float* x) { x[threadIdx.x] = 1.0f; }
extern "C" void run(float* x, hipStream_t s) { k<<<1, 64, 0, s>>>(x); }
"""
TORCH = """#include <torch/extension.h>
__global__ void k(float* x) { x[0] = 1.0f; }
torch::Tensor forward(torch::Tensor x) { return x; }
PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) { m.def("forward", &forward); }
"""
TRITON = "import triton\n\n@triton.jit\ndef k(x):\n    pass\n\ndef module_fn(x):\n    return x\n"


def fence(text: str, tag: str = "cpp", mark: str = "```") -> str:
    """A fenced block."""
    return f"{mark}{tag}\n{text.rstrip()}\n{mark}\n"


@pytest.mark.parametrize(
    "answer",
    [
        fence(ABI),
        fence(ABI, "hip"),
        fence(ABI, ""),
        fence(ABI, "C++ kernel.hip"),
        fence(ABI, mark="~~~"),
        fence(ABI, mark="````"),
        "Words before.\n\n" + fence(ABI) + "\nWords after.",
        f"```cpp\n{ABI}",
        ABI,
        "Here it is:\n" + ABI,
        fence(ABI).replace("\n", "\r\n"),
        f"<think>maybe {fence('int x;')}</think>{fence(ABI)}",
        f"it could be {fence(ABI.replace('1.0f', '2.0f'))} no</think>\n{fence(ABI)}",
        f"<think>never closed\n{fence(ABI)}",
        json.dumps({"thought": "t", "code": ABI}),
        json.dumps({"thought": "t", "code": fence(ABI)}),
        fence(json.dumps({"thought": "t", "code": ABI}), "json"),
        "Sure! " + json.dumps({"code": ABI, "thought": "t"}) + " Done.",
        '{"thought": "t", "code": "' + ABI.replace('"', '\\"') + '"}',
        'As asked, {"thought": "...", "code": "..."}: ' + json.dumps({"thought": "t", "code": ABI}),
        'Not {"thought": "...", "code": "..."} but\n' + fence(ABI),
        fence("pip install x", "bash") + fence(ABI) + fence("./run", "bash"),
        fence("class Model: pass", "python") + fence(ABI),
        fence(ABI.replace("1.0f", "2.0f")) + "Better:\n" + fence(ABI),
    ],
)
def test_the_source_is_found(answer: str) -> None:
    """One whole source in any usual wrapping is read as it stands; of several, the last."""
    assert read_kernel(answer, Candidate.HIP_ABI).source == ABI


def test_split_sources_are_joined() -> None:
    """A kernel and its launcher in two fences are one source."""
    kernel, launcher = ABI.split("extern")
    answer = read_kernel(fence(kernel) + "and\n" + fence("extern" + launcher), Candidate.HIP_ABI)
    assert "".join(answer.source.split()) == "".join(ABI.split())


@pytest.mark.parametrize(
    ("source", "asked", "found"),
    [
        (ABI, Candidate.HIP_ABI, Candidate.HIP_ABI),
        (TORCH, Candidate.HIP_ABI, Candidate.HIP_TORCH),
        (ABI, Candidate.HIP_TORCH, Candidate.HIP_ABI),
        (TRITON, Candidate.TRITON_MODULE, Candidate.TRITON_MODULE),
    ],
)
def test_the_format_is_what_the_source_is(source: str, asked: Candidate.Format, found: Candidate.Format) -> None:
    """An answer in another format of the same language is labelled as what it is."""
    assert read_kernel(fence(source), asked).format == found


@pytest.mark.parametrize(
    ("answer", "words"),
    [
        ("", "is empty"),
        ("I cannot do that.", "no fenced block"),
        (fence("print(1)", "python"), "1 fenced block and no HIP source"),
        (fence(TRITON, "python"), "no HIP source"),
    ],
)
def test_an_answer_without_source_says_what_it_holds(answer: str, words: str) -> None:
    """The message tells the model what was missing."""
    with pytest.raises(Unreadable, match=words):
        read_kernel(answer, Candidate.HIP_ABI)


MODEL_NEW = TRITON.replace("def module_fn(x):\n    return x\n", "class ModelNew:\n    pass\n")
KERNEL_ONLY = TRITON[: TRITON.index("def module_fn")]


@pytest.mark.parametrize(
    "answer",
    [
        fence(TRITON, "python"),
        fence(TRITON, ""),
        "The idea.\n\n" + fence(TRITON, "py") + "\nDone.",
        fence("def module_fn(x):\n    return x.softmax(-1)", "python") + fence(TRITON, "python"),
        fence(TRITON, "python") + "To run it:\n" + fence("y = module_fn(x)", "python"),
        json.dumps({"thought": "t", "code": TRITON}),
        TRITON,
    ],
)
def test_a_triton_module_is_found(answer: str) -> None:
    """The block that has both kernels and what calls them is the candidate."""
    found = read_kernel(answer, Candidate.TRITON_MODULE)
    assert (found.source, found.format, found.entry_point) == (TRITON, Candidate.TRITON_MODULE, "")


def test_kernels_and_their_caller_in_two_fences_are_one_module() -> None:
    """Neither half is a candidate, both together are."""
    caller = TRITON[len(KERNEL_ONLY) :]
    answer = fence(KERNEL_ONLY, "python") + "and\n" + fence(caller, "python")
    assert "".join(read_kernel(answer, Candidate.TRITON_MODULE).source.split()) == "".join(TRITON.split())


def test_the_class_of_kernelbench_is_an_entry_point() -> None:
    """A module that has `ModelNew` and no `module_fn` is called by that name."""
    assert read_kernel(fence(MODEL_NEW, "python"), Candidate.TRITON_MODULE).entry_point == "ModelNew"


@pytest.mark.parametrize(
    ("answer", "words"),
    [
        (fence(KERNEL_ONLY, "python"), "defines neither `module_fn` nor `ModelNew`"),
        (KERNEL_ONLY, "defines neither `module_fn` nor `ModelNew`"),
        (fence(TRITON.replace("def module_fn", "    def module_fn"), "python"), "neither `module_fn` nor"),
        (fence(ABI), "1 fenced block and no Triton module that defines `module_fn`"),
        ("No.", "no fenced block and no Triton module"),
    ],
)
def test_a_module_without_entry_point_is_no_candidate(answer: str, words: str) -> None:
    """Kernels that nobody calls cannot be checked: the model is told what to add."""
    with pytest.raises(Unreadable, match=words):
        read_kernel(answer, Candidate.TRITON_MODULE)


def test_prose_is_what_follows_the_thoughts() -> None:
    """A reflection is read without what the model thought; thoughts alone are no answer."""
    assert parsing.read_prose("<think>a</think>\nIt races.\n") == "It races."
    for text in ("", "<think>I was cut off", " \n"):
        with pytest.raises(Unreadable, match="says nothing"):
            parsing.read_prose(text)


def test_the_rationale_is_the_thought_or_the_prose() -> None:
    """What an author says of the idea is kept without the code."""
    assert read_kernel(json.dumps({"thought": "tiles", "code": ABI}), Candidate.HIP_ABI).rationale == "tiles"
    assert read_kernel("Uses tiles.\n" + fence(ABI), Candidate.HIP_ABI).rationale == "Uses tiles."


def test_a_python_module_is_found_by_what_it_defines() -> None:
    """The functional form is the last block that defines the function."""
    module = "def module_fn(x):\n    return x\n"
    assert read_python(fence("x = 1", "python") + fence(module, "python"), needs="module_fn") == module
    with pytest.raises(Unreadable, match="module_fn"):
        read_python(fence("x = 1", "python"), needs="module_fn")


@given(
    st.text()
    | st.lists(st.sampled_from(["```", "~~~", "\n", "{", '"code"', ":", "<think>", "</think>", ABI])).map("".join)
)
def test_no_answer_breaks_the_reader(text: str) -> None:
    """Whatever a model writes, the reader finds a source or says that there is none."""
    for asked in (Candidate.HIP_ABI, Candidate.TRITON_MODULE):
        with contextlib.suppress(Unreadable):
            assert read_kernel(text, asked).source
    parsing.fenced(text)


_words = st.text(alphabet=st.characters(blacklist_characters="`~<>{}\r", blacklist_categories=["Cs"]), max_size=200)


@given(
    _words, _words, st.sampled_from(["hip", "cpp", "", "c++"]), st.sampled_from(["```", "~~~", "`````"]), st.booleans()
)
def test_a_planted_source_is_found(before: str, after: str, tag: str, mark: str, closed: bool) -> None:
    """A fenced source is found among any words."""
    text = f"{before}\n{mark}{tag}\n{ABI}" + (f"{mark}\n{after}" if closed else "")
    assert read_kernel(text, Candidate.HIP_ABI).source == ABI
