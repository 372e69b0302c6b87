"""A kernel that is right and shall be faster, as a model reads it; whole, or one function of it to be rewritten."""

from __future__ import annotations

from kernelvault import errors
from kernelvault.v1.generator_pb2 import Optimization
from kernelvault.v1.kernel_pb2 import Task
from svc_generator.prompts import outcome
from svc_generator.prompts.markdown import fence, file, section


def render(given: Optimization, task: Task, room_chars: int) -> str:
    """The baseline with its results, and what may change; nothing is clipped, as half a kernel cannot be made faster.

    What is known of hidden cases is left out. Raises errors.InvalidArgument where it takes more than `room_chars`.
    """
    sources = "\n\n".join(map(file, given.baseline.candidate.sources))
    asked = _of_one(given) if given.HasField("kernel") else "Write it anew, faster, and still right for all cases."
    results = outcome.describe(given.baseline, outcome.hidden_cases(task))
    text = section("The kernel to make faster", f"{results}\n\n{sources}\n\n{asked}")
    if len(text) > room_chars:
        raise errors.InvalidArgument(
            "optimization.baseline.candidate.sources",
            f"{len(text)} characters with its results do not fit the {room_chars} that the prompt has left; raise "
            "KERNELVAULT_OPENAI_PROMPT_TOKENS",
        )
    return text


def _of_one(given: Optimization) -> str:
    kernel = given.kernel
    return (
        f"Rewrite `{kernel.name}`, which begins in line {kernel.line}, and nothing else: your source takes the place of"
        f" this text, and the rest of the file launches it as before:\n\n{fence(kernel.text, 'cpp')}"
    )
