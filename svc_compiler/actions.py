"""Actions: checked, completed and named. Everything that a report depends on goes into its action's digest."""

from __future__ import annotations

import dataclasses
import itertools
import re
from collections.abc import Awaitable, Callable, Sequence

from kernelvault import digest, errors, formats
from kernelvault.v1 import artifact_pb2, compiler_pb2, kernel_pb2
from svc_compiler.hip.toolchain import TARGETS

MAX_SOURCES = 32
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,127}")
_SUFFIXES = {
    kernel_pb2.Candidate.HIP_ABI: (".hip", ".cpp", ".cu", ".cc"),
    kernel_pb2.Candidate.HIP_TORCH: (".hip", ".cpp", ".cu", ".cc"),
    kernel_pb2.Candidate.HIP_MODULE: (".py",),
    kernel_pb2.Candidate.TRITON_MODULE: (".py",),
}
# Of a Python module: `module_fn` or `ModelNew`, whichever it has.
_DEFAULT_ENTRY = {kernel_pb2.Candidate.HIP_ABI: "run", kernel_pb2.Candidate.HIP_TORCH: "forward"}
_LANGUAGE_OF = {
    kernel_pb2.Candidate.HIP_ABI: kernel_pb2.Candidate.HIP,
    kernel_pb2.Candidate.HIP_TORCH: kernel_pb2.Candidate.HIP,
    kernel_pb2.Candidate.HIP_MODULE: kernel_pb2.Candidate.HIP,
    kernel_pb2.Candidate.TRITON_MODULE: kernel_pb2.Candidate.TRITON,
}

Action = compiler_pb2.VerifyAction | compiler_pb2.ScriptAction
Fetch = Callable[[artifact_pb2.Digest], Awaitable[bytes]]


@dataclasses.dataclass(frozen=True)
class Work:
    """A checked action with its task and the digest that names its report."""

    action: compiler_pb2.VerifyAction
    task: kernel_pb2.Task
    digest: artifact_pb2.Digest
    # Earlier results are not looked at.
    fresh: bool = False

    @property
    def main_source(self) -> str:
        """The path of the source that is compiled or imported; it can include or import the others.

        Of Python modules it is the one that defines the entry point, else the first.
        """
        paths = [s.path for s in self.action.sources if s.path.endswith(_SUFFIXES[self.action.format])]
        if not paths[0].endswith(".py"):
            return paths[0]
        entry = self.action.entry_point or "module_fn|ModelNew"
        defines = re.compile(rf"^(async )?(def|class) +({entry})\b|^({entry}) *=".encode(), re.MULTILINE)
        defining = [s.path for s in self.action.sources if s.path in paths and defines.search(s.contents)]
        return (defining or paths)[0]

    @property
    def timeout_s(self) -> float:
        """The bound on each run of foreign code, in seconds."""
        return float(self.action.timeout.ToNanoseconds()) / 1e9


async def complete(
    given: compiler_pb2.VerifyAction, *, fetch: Fetch, default_timeout_s: float, max_timeout_s: float
) -> compiler_pb2.VerifyAction:
    """Checks an action and fills in its defaults; raises InvalidArgument naming the field."""
    action = compiler_pb2.VerifyAction()
    action.CopyFrom(given)
    del action.sources[:]
    action.sources.extend(await complete_sources(given.sources, fetch))
    _complete_format(action)
    if not re.fullmatch(r"tasks/[a-z0-9][a-z0-9_-]{0,127}", action.task):
        raise errors.InvalidArgument(
            "action.task", f"{action.task[:80]!r} does not look like tasks/softmax-0123456789ab"
        )
    complete_targets(action)
    complete_timeout(action, default_timeout_s, max_timeout_s)
    return action


async def complete_sources(sources: Sequence[artifact_pb2.Artifact], fetch: Fetch) -> list[artifact_pb2.Artifact]:
    """An action's sources with their contents; raises InvalidArgument naming the field."""
    if not 1 <= len(sources) <= MAX_SOURCES:
        raise errors.InvalidArgument("action.sources", f"has {len(sources)} entries; send 1 to {MAX_SOURCES}")
    complete_sources = []
    for index, given in enumerate(sources):
        field, source = f"action.sources[{index}]", given
        if not source.contents and source.HasField("digest"):
            digest.check(source.digest, f"{field}.digest")
            if source.digest.size_bytes > digest.INLINE_LIMIT_BYTES:
                raise errors.InvalidArgument(
                    field, f"{source.digest.size_bytes} bytes are above 1 MiB", "SOURCE_TOO_LARGE"
                )
            source = artifact_pb2.Artifact(path=source.path, digest=source.digest, contents=await fetch(source.digest))
        complete_sources.append(digest.check_artifact(source, field))
    total = sum(len(source.contents) for source in complete_sources)
    if total > digest.INLINE_LIMIT_BYTES:
        raise errors.InvalidArgument("action.sources", f"{total} bytes in all are above 1 MiB", "SOURCE_TOO_LARGE")
    paths = sorted(source.path for source in complete_sources)
    for first, second in itertools.pairwise(paths):
        if second == first or second.startswith(f"{first}/"):
            raise errors.InvalidArgument("action.sources", f"has two entries for the path {first[:80]!r}")
    return complete_sources


def _complete_format(action: compiler_pb2.VerifyAction) -> None:
    kinds = kernel_pb2.Candidate
    if action.format == kinds.FORMAT_UNSPECIFIED:
        action.format = detect_format(action.sources)
    language = _LANGUAGE_OF[action.format]
    if action.language not in (language, kinds.LANGUAGE_UNSPECIFIED):
        raise errors.InvalidArgument("action.language", f"does not fit the format {kinds.Format.Name(action.format)}")
    action.language = language
    suffixes = _SUFFIXES[action.format]
    if not any(source.path.endswith(suffixes) for source in action.sources):
        shown = "Python" if action.format == kinds.HIP_MODULE else kinds.Language.Name(language)
        raise errors.InvalidArgument("action.sources", f"none is a {shown} source; name one *{', *'.join(suffixes)}")
    action.entry_point = action.entry_point or _DEFAULT_ENTRY.get(action.format, "")
    if action.entry_point and not _NAME.fullmatch(action.entry_point):
        raise errors.InvalidArgument("action.entry_point", f"{action.entry_point[:80]!r} is not an identifier")


def detect_format(sources: Sequence[artifact_pb2.Artifact]) -> kernel_pb2.Candidate.Format:
    """The format that a candidate's sources are written in."""
    modules = [source.contents for source in sources if source.path.endswith(".py")]
    if modules:
        return formats.of_modules(modules)
    if any(b"PYBIND11_MODULE" in source.contents or b"torch/" in source.contents for source in sources):
        return kernel_pb2.Candidate.HIP_TORCH
    return kernel_pb2.Candidate.HIP_ABI


def complete_targets(action: Action) -> None:
    """Checks and sorts an action's targets; raises InvalidArgument naming the field."""
    if not action.targets:
        raise errors.InvalidArgument("action.targets", f"is empty; name at least one of {', '.join(TARGETS)}")
    for target in action.targets:
        if target not in TARGETS:
            raise errors.InvalidArgument(
                "action.targets", f"{target[:40]!r} is unknown; choose from {', '.join(TARGETS)}", "UNKNOWN_TARGET"
            )
    action.targets[:] = sorted(set(action.targets))


def complete_timeout(action: Action, default_s: float, most_s: float) -> None:
    """Checks an action's timeout, or sets it; raises InvalidArgument naming the field."""
    if not action.HasField("timeout"):
        action.timeout.FromMilliseconds(int(default_s * 1000))
    seconds = action.timeout.ToNanoseconds() / 1e9
    if not 0 < seconds <= most_s:
        raise errors.InvalidArgument("action.timeout", f"{seconds:g} s is outside 0 to {most_s:g} s")


def work_of(action: compiler_pb2.VerifyAction, task: kernel_pb2.Task, *, identity: str, fresh: bool = False) -> Work:
    """The work for a complete action. `identity` names the tool chain, the CPU model and the case secret."""
    content = kernel_pb2.Task()
    content.CopyFrom(task)
    content.ClearField("create_time")
    name = digest.of_fields(
        [
            action.SerializeToString(deterministic=True),
            content.SerializeToString(deterministic=True),
            identity,
        ]
    )
    return Work(action, task, artifact_pb2.Digest(hash=name, size_bytes=action.ByteSize()), fresh)
