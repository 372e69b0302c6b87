"""The messages that a model gets. Values and hidden cases are never among them."""

from __future__ import annotations

import functools
from importlib import resources

from kernelvault.v1 import artifact_pb2, generator_pb2
from kernelvault.v1.compiler_pb2 import VerificationReport
from kernelvault.v1.kernel_pb2 import Candidate, Task
from svc_generator.backends.base import FORMATS
from svc_generator.prompts import devices, history, module, optimizing, porting, signature
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
    """Asks for a kernel. Earlier attempts are clipped so that all fits `budget_tokens`; the task itself never is.

    Raises errors.InvalidArgument for a seed kernel, or a kernel to make faster, that does not fit.
    """
    whole = not request.optimization.HasField("kernel")
    pages = ["system.md", "judging.md", _FORMAT_PAGES[request.format]] if whole else ["splice.md", "judging.md"]
    system = "\n".join(map(page, pages))
    given = _given(task, request.format, request.target, whole=whole)
    room = max(0, budget_tokens * CHARS_PER_TOKEN - len(system) - len(given))
    if request.HasField("optimization"):
        baseline = optimizing.render(request.optimization, task, room)
        given, room = f"{given}\n\n{baseline}", room - len(baseline)
    if request.HasField("seed_kernel"):
        ported = porting.render(request.seed_kernel, FORMATS[request.format], room)
        # In the presence of attempts it is they that are worked on: they keep at least half of the room.
        if not request.attempts or len(ported) <= room // 2:
            given, room = f"{given}\n\n{ported}", room - len(ported)
    if request.attempts:
        given += "\n\n" + _attempts(task, request, room)
    return _messages(system, given)


def reflection(task: Task, request: generator_pb2.ReflectOnAttemptRequest, *, budget_tokens: int) -> list[Message]:
    """Asks why the last attempt failed, or what holds it back; sources are clipped so that all fits `budget_tokens`."""
    format_, count = request.attempts[-1].candidate.format, len(request.attempts)
    system = "\n".join([page("reflection.md"), page("judging.md"), _contract(format_)])
    given = _given(task, format_, request.target)
    room = max(0, budget_tokens * CHARS_PER_TOKEN - len(system) - len(given))
    told = history.render(request.attempts, task, room, newest_first=True)
    passed = request.attempts[-1].report.verdict == VerificationReport.PASSED
    asked = f"What holds attempt {count} back?" if passed else f"Why did attempt {count} fail?"
    return _messages(system, f"{given}\n\n{section('Attempts', told)}\n\n{asked} What should the author change?")


def functional(request: generator_pb2.GenerateFunctionalRequest) -> list[Message]:
    """Asks for the functional form of a module."""
    given = section("The module", fence(_text(request.task.reference), "python"))
    if request.feedback:
        given += "\n\n" + section("What was wrong with your last answer", request.feedback)
    return _messages(page("functional.md"), given)


@functools.cache
def page(name: str) -> str:
    """A page of this package."""
    return resources.files(__package__).joinpath(name).read_text(encoding="utf-8")


def tokens(messages: list[Message]) -> int:
    """An estimate of the tokens of `messages`, rather above than below for source code."""
    return sum(len(message["content"]) for message in messages) // CHARS_PER_TOKEN + 16


def _messages(system: str, user: str) -> list[Message]:
    return [{"role": "system", "content": system}, {"role": "user", "content": user}]


def _given(task: Task, format_: Candidate.Format, target: str, *, whole: bool = True) -> str:
    """The task as an author and a reviewer see it; what to define only where a `whole` source is asked for."""
    tag = "python" if format_ == Candidate.TRITON_MODULE else "cpp"
    parts = [
        section("The GPU", devices.describe(target or devices.DEFAULT_TARGET)),
        section("The task", task.instructions or f"Write a kernel for `{task.title}`."),
        section("The module", fence(module.shown(task, task.reference), "python")),
        section("Its functional form", fence(module.shown(task, task.functional), "python"))
        if task.HasField("functional")
        else "",
        section("What to define", fence(signature.render(task, format_), tag)) if whole else "",
        section("Cases", signature.table(task)),
    ]
    return "\n\n".join(part for part in parts if part)


def _contract(format_: Candidate.Format) -> str:
    """What a format asks for, without its examples."""
    return page(_FORMAT_PAGES[format_]).partition("\nExample")[0]


def _attempts(task: Task, request: generator_pb2.GenerateCandidatesRequest, room: int) -> str:
    best = history.fastest(request.attempts)
    if best is None:
        goal = "None of them is right yet. Find out why, and write one that is."
    else:
        goal = f"Attempt {best + 1} is the best so far. Write a faster one that is still right; do not repeat one."
    return section("Earlier attempts", f"{history.render(request.attempts, task, room)}\n\n{goal}")


def _text(source: artifact_pb2.Artifact) -> str:
    return source.contents.decode(errors="replace").strip()
