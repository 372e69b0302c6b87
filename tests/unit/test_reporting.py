"""What a report says beside its verdict."""

from kernelvault.v1.compiler_pb2 import VerificationReport
from kernelvault.v1.kernel_pb2 import Case, Task
from svc_compiler.verify import reporting


def test_sizes_that_were_shrunk_are_told_once() -> None:
    """Cases that ran with the same sizes share a note: KernelBench's tasks have ten of them."""
    draft = VerificationReport()
    sizes = {"given": {"N": 256}, "resized": {"N": 193}, "tiny": {"N": 256}, "small": {}}

    reporting.add_notes(draft, Task(cases=[Case(id=name, shrunk=shrunk) for name, shrunk in sizes.items()]), {})

    assert list(draft.notes) == [
        "Ran with N = 256, as the given size is too large for the CPU model: given, tiny.",
        "Ran with N = 193, as the given size is too large for the CPU model: resized.",
    ]
