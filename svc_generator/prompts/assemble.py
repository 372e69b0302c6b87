"""The messages that a model gets. Values and hidden cases are never among them."""

from __future__ import annotations

import functools
from importlib import resources

from kernelvault.v1 import artifact_pb2, generator_pb2
from kernelvault.v1.kernel_pb2 import Candidate, Task
from svc_generator.prompts import devices, history, signature
from svc_generator.prompts.markdown import fence, section

Message = dict[str, str]

_FORMAT_PAGES = {
    Candidate.HIP_ABI: "hip_abi.md",
    Candidate.HIP_TORCH: "hip_torch.md",
    Candidate.TRITON_MODULE: "triton_module.md",
}
# Kernels and Python have 3 to 4 characters a token: an estimate that is rather too high.
CHARS_PER_TOKEN = 3


def kernel(task: Task, request: generator_pb2.GenerateCandidatesRequest, *, budget_tokens: int) -> list[Message]:
    """Asks for a kernel. Earlier attempts are clipped so that all fits `budget_tokens`; the task itself never is."""
    system = f"{page('system.md')}\n{page(_FORMAT_PAGES[request.format])}"
    parts = [
        section("The GPU", devices.describe(request.target or devices.DEFAULT_TARGET)),
        section("The task", task.instructions or f"Write a kernel for `{task.title}`."),
        section("The module", fence(_text(task.reference), "python")),
        section("Its functional form", fence(_text(task.functional), "python")) if task.HasField("functional") else "",
        section("What to define", fence(signature.render(task, request.format), _tag(request))),
        section("Cases", signature.table(task)),
    ]
    given = "\n\n".join(part for part in parts if part)
    room = max(0, budget_tokens * CHARS_PER_TOKEN - len(system) - len(given))
    if request.attempts:
        given += "\n\n" + _attempts(task, request, room)
    return [{"role": "system", "content": system}, {"role": "user", "content": given}]


def functional(request: generator_pb2.GenerateFunctionalRequest) -> list[Message]:
    """Asks for the functional form of a module."""
    given = section("The module", fence(_text(request.task.reference), "python"))
    if request.feedback:
        given += "\n\n" + section("What was wrong with your last answer", request.feedback)
    return [{"role": "system", "content": page("functional.md")}, {"role": "user", "content": given}]


@functools.cache
def page(name: str) -> str:
    """A page of this package."""
    return resources.files(__package__).joinpath(name).read_text(encoding="utf-8")


def tokens(messages: list[Message]) -> int:
    """An estimate of the tokens of `messages`, rather above than below for source code."""
    return sum(len(message["content"]) for message in messages) // CHARS_PER_TOKEN + 16


def _attempts(task: Task, request: generator_pb2.GenerateCandidatesRequest, room: int) -> str:
    best = history.fastest(request.attempts)
    if best is None:
        goal = "None of them is right yet. Find out why, and write one that is."
    else:
        goal = f"Attempt {best + 1} is the best so far. Write a faster one that is still right; do not repeat one."
    return section("Earlier attempts", f"{history.render(request.attempts, task, room)}\n\n{goal}")


def _text(source: artifact_pb2.Artifact) -> str:
    return source.contents.decode(errors="replace").strip()


def _tag(request: generator_pb2.GenerateCandidatesRequest) -> str:
    return "python" if request.format == Candidate.TRITON_MODULE else "cpp"
