"""What it means that host code wants something that neither it nor the recorder has."""

from __future__ import annotations

import functools
import importlib.util
import re
from collections.abc import Iterable, Sequence
from pathlib import Path

from kernelvault.v1 import compiler_pb2
from svc_compiler.hip.toolchain import SHADOW_HEADERS
from svc_compiler.refusal import Refused, Verdict

Finding = compiler_pb2.Finding
_LIBRARY = re.compile(
    r"(?:hip|roc)(?:blas|blaslt|fft|rand|solver|sparse|dnn|tensor)\w*|miopen\w+|nccl\w+|cublas\w+|cudnn\w+", re.I
)
_HIP = re.compile(r"(?:__)?hip[A-Z]\w*|hiprtc\w+")
_TORCH = re.compile(r"(?:at|torch|c10)::(?:\w+::)*(~?\w+)")
_MISSING_MEMBER = re.compile(
    r"^no (?:member|type|template) named '(\w+)' in (?:namespace )?'((?:at|torch|c10|pybind11)\b[\w:]*)'"
)
_MISSING_HEADER = re.compile(r"^'((?:ATen|torch|c10|THC|caffe2)/[\w./]+)' file not found")
# What registry.h says of a parameter or a result that it cannot pass.
_UNKNOWN_TYPE = re.compile(r"kernelvault::AlwaysFalse<(.+)>::value'")
# Libraries of templates that a ROCm install has; the tool chain has compilers and HIP only.
_ROCM_HEADER = re.compile(r"^'((?:hipcub|rocprim|thrust|rocwmma|ck|ck_tile|rocrand|hiprand)/[\w./]+)' file not found")


# Headers of libraries that compute, and what leads to them in libtorch.
_LIBRARY_HEADER = re.compile(
    r"^'((?:(?:hip|roc)(?:blas|blaslt|fft|solver|sparse|dnn|tensor)|miopen|rccl|cutlass|cufft|cusparse|"
    r"(?:cublas|cudnn|cusolver)\w*)(?:/[\w./]+|\.h)|"
    r"ATen/(?:cuda/CUDA(?:Blas|Sparse\w*|Solver)|cudnn/\w+|miopen/\w+)\.h)' file not found"
)
_LIBRARY_HANDLE = re.compile(r"getCurrent(?:CUDA|HIP)(?:Blas|BlasLt|Sparse|Solver\w*)Handle|blas")
# Where libtorch's C++ API is declared, below its `include`.
_API = ("ATen", "c10", "torch/csrc/api/include", "torch/csrc/utils", "pybind11")


def refusal(undefined: Sequence[str], found: list[compiler_pb2.Diagnostic]) -> Refused:
    """The end of a candidate whose host code does not link; `undefined` are the linker's demangled names."""
    names = [re.split(r"[(<\[]", symbol, maxsplit=1)[0].strip() for symbol in undefined]
    operators = [name for name in names if _is_operator(name)]
    if operators:
        return foreign(operators)
    lacking = [name for name in names if _HIP.fullmatch(name) or _TORCH.match(name)]
    if lacking:
        return Refused(
            Verdict.NEEDS_DEVICE,
            f"The host code calls {', '.join(f'`{name}`' for name in lacking)}, which kernelvault does not record.",
            diagnostics=found,
        )
    what = ", ".join(f"`{symbol}`" for symbol in undefined) or "see the diagnostics"
    return Refused(Verdict.COMPILE_FAILED, f"The host code does not link: undefined {what}", diagnostics=found)


def foreign(operators: Iterable[str], case_id: str = "") -> Refused:
    """The end of a candidate that leaves tensor computations to somebody else."""
    names = list(dict.fromkeys(operators))
    findings = [
        Finding(kind=Finding.FOREIGN_OPERATOR, message=f"`{name}` computes outside a kernel", case_id=case_id)
        for name in names
    ]
    listed = ", ".join(f"`{name}`" for name in names)
    text = f"The candidate leaves {listed} to a library: every tensor computation must be in a kernel of its own."
    return Refused(Verdict.REJECTED, text, findings=findings)


def lacking(
    found: Sequence[compiler_pb2.Diagnostic], diagnostics: Sequence[compiler_pb2.Diagnostic] = ()
) -> Refused | None:
    """The end of a candidate that does not compile for want of a library or of libtorch; None where it is at fault."""
    if libraries := _libraries(found):
        return foreign(libraries)
    missing = missing_api(found)
    return not_recorded(missing, diagnostics) if missing else None


def _libraries(found: Iterable[compiler_pb2.Diagnostic]) -> list[str]:
    """The libraries that a failed compile wants, by their headers or by libtorch's way to them."""
    wanted = []
    for diagnostic in found:
        if diagnostic.level != compiler_pb2.Diagnostic.ERROR:
            continue
        if match := _LIBRARY_HEADER.match(diagnostic.message):
            wanted.append(f"<{match[1]}>")
        elif (match := _MISSING_MEMBER.match(diagnostic.message)) and _LIBRARY_HANDLE.fullmatch(match[1]):
            wanted.append(f"{match[2]}::{match[1]}")
    return list(dict.fromkeys(wanted))


def missing_api(found: Iterable[compiler_pb2.Diagnostic]) -> list[str]:
    """What a failed compile lacks that the installed libtorch or a ROCm install has: the candidate is not at fault.

    Empty where they would not compile it either, or where no libtorch is installed to ask.
    """
    missing = []
    for diagnostic in found:
        if diagnostic.level != compiler_pb2.Diagnostic.ERROR:
            continue
        if (match := _MISSING_MEMBER.match(diagnostic.message)) and _libtorch_names(match[1], match[2]):
            missing.append(f"`{match[2]}::{match[1]}`")
        elif match := _MISSING_HEADER.match(diagnostic.message):
            missing += [f"<{match[1]}>"] if _libtorch_header(match[1]) else []
        elif match := _UNKNOWN_TYPE.search(diagnostic.message):
            missing.append(f"`{match[1]}` in the signature of an exported function")
        elif match := _ROCM_HEADER.match(diagnostic.message):
            missing.append(f"<{match[1]}>")
    return list(dict.fromkeys(missing))


def not_recorded(missing: Iterable[str], found: Iterable[compiler_pb2.Diagnostic]) -> Refused:
    """The end of a candidate that uses what libtorch or ROCm has and is not here, see `missing_api`."""
    return Refused(
        Verdict.NEEDS_DEVICE,
        f"libtorch or ROCm has {', '.join(missing)}, which kernelvault has not; write it with what "
        "docs/candidates.md lists.",
        diagnostics=found,
    )


def _is_operator(name: str) -> bool:
    torch = _TORCH.match(name)
    return bool(_LIBRARY.fullmatch(name)) or bool(torch and torch[1] in _operators())


@functools.cache
def _operators() -> frozenset[str]:
    """The names of ATen's operators, as the shadow headers list them."""
    text = (SHADOW_HEADERS / "kernelvault" / "foreign_functions.inc").read_text()
    return frozenset(re.findall(r"^KERNELVAULT_OPERATOR\(\w+, (\w+)\)", text, re.MULTILINE))


@functools.cache
def _libtorch() -> Path | None:
    spec = importlib.util.find_spec("torch")
    if spec is None or not spec.submodule_search_locations:
        return None
    include = Path(spec.submodule_search_locations[0]) / "include"
    return include if include.is_dir() else None


def _libtorch_header(name: str) -> bool:
    include = _libtorch()
    return include is not None and any(
        (root / name).is_file() for root in (include, include / "torch" / "csrc" / "api" / "include")
    )


@functools.cache
def _libtorch_names(name: str, owner: str) -> bool:
    """Whether libtorch's headers declare something of that name, in its Tensor if that is the owner."""
    include = _libtorch()
    if include is None:
        return False
    if (include / "ATen" / "ops" / f"{name}.h").is_file():
        return True
    kinds = r"\b(?:namespace|class|struct|enum|using|define) +(?:\w+(?: +|::))*"
    declared = re.compile(rf"{kinds}{name}\b|\b{name} ?[(=]".encode())
    headers = _api_headers(include)
    if owner.endswith("::Tensor"):
        headers = [path for path in headers if path.name in ("TensorBody.h", "TensorBase.h")]
    return any(declared.search(path.read_bytes()) for path in headers)


@functools.cache
def _api_headers(include: Path) -> list[Path]:
    found = [path for root in _API for path in (include / root).rglob("*") if path.suffix in (".h", ".cuh")]
    return [path for path in found if path.parent.name != "ops"]
