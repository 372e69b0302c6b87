"""What candidates' sources say of the format that they are written in."""

from __future__ import annotations

from collections.abc import Sequence

from kernelvault.v1.kernel_pb2 import Candidate


def of_modules(modules: Sequence[bytes]) -> Candidate.Format:
    """The format of Python modules: they build HIP extensions, unless they have Triton kernels."""
    builds = any(b"cpp_extension" in text for text in modules) and not any(b"@triton" in text for text in modules)
    return Candidate.HIP_MODULE if builds else Candidate.TRITON_MODULE
