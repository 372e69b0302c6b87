"""Actions: checked, completed and named. Everything that a report depends on goes into its action's digest."""

from __future__ import annotations

import dataclasses
import itertools
import re
from collections.abc import Awaitable, Callable, Sequence

from kernelvault import digest, errors
from kernelvault.v1 import artifact_pb2, compiler_pb2, kernel_pb2
from svc_compiler.hip.toolchain import TARGETS

MAX_SOURCES = 32
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,127}")
_SOURCE_SUFFIXES = (".hip", ".cpp", ".cu", ".cc")
_DEFAULT_ENTRY = {kernel_pb2.Candidate.HIP_ABI: "run", kernel_pb2.Candidate.HIP_TORCH: "forward"}
_LANGUAGE_OF = {
    kernel_pb2.Candidate.HIP_ABI: kernel_pb2.Candidate.HIP,
    kernel_pb2.Candidate.HIP_TORCH: kernel_pb2.Candidate.HIP,
    kernel_pb2.Candidate.TRITON_MODULE: kernel_pb2.Candidate.TRITON,
}

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
        """The path of the source that is compiled; the others can be included from it."""
        return next(s.path for s in self.action.sources if s.path.endswith(_SOURCE_SUFFIXES))

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
    action.sources.extend(await _complete_sources(given.sources, fetch))
    _complete_format(action)
    if not re.fullmatch(r"tasks/[a-z0-9][a-z0-9_-]{0,127}", action.task):
        raise errors.InvalidArgument(
            "action.task", f"{action.task[:80]!r} does not look like tasks/softmax-0123456789ab"
        )
    if not action.targets:
        raise errors.InvalidArgument("action.targets", f"is empty; name at least one of {', '.join(TARGETS)}")
    for target in action.targets:
        if target not in TARGETS:
            raise errors.InvalidArgument(
                "action.targets", f"{target[:40]!r} is unknown; choose from {', '.join(TARGETS)}", "UNKNOWN_TARGET"
            )
    targets = sorted(set(action.targets))
    del action.targets[:]
    action.targets.extend(targets)
    _complete_timeout(action, default_timeout_s, max_timeout_s)
    return action


async def _complete_sources(sources: Sequence[artifact_pb2.Artifact], fetch: Fetch) -> list[artifact_pb2.Artifact]:
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
    formats = kernel_pb2.Candidate
    if action.format == formats.FORMAT_UNSPECIFIED:
        action.format = detect_format(action.sources)
    language = _LANGUAGE_OF[action.format]
    if action.language not in (language, formats.LANGUAGE_UNSPECIFIED):
        raise errors.InvalidArgument("action.language", f"does not fit the format {formats.Format.Name(action.format)}")
    action.language = language
    if language != formats.HIP:
        raise errors.InvalidArgument(
            "action.language", "this server verifies HIP candidates only", "UNSUPPORTED_LANGUAGE"
        )
    if not any(source.path.endswith(_SOURCE_SUFFIXES) for source in action.sources):
        raise errors.InvalidArgument(
            "action.sources", f"none is a HIP source; name one *{', *'.join(_SOURCE_SUFFIXES)}"
        )
    action.entry_point = action.entry_point or _DEFAULT_ENTRY[action.format]
    if not _NAME.fullmatch(action.entry_point):
        raise errors.InvalidArgument("action.entry_point", f"{action.entry_point[:80]!r} is not an identifier")


def detect_format(sources: Sequence[artifact_pb2.Artifact]) -> kernel_pb2.Candidate.Format:
    """The format that a candidate's sources are written in."""
    if any(source.path.endswith(".py") for source in sources):
        return kernel_pb2.Candidate.TRITON_MODULE
    if any(b"PYBIND11_MODULE" in source.contents or b"torch/" in source.contents for source in sources):
        return kernel_pb2.Candidate.HIP_TORCH
    return kernel_pb2.Candidate.HIP_ABI


def _complete_timeout(action: compiler_pb2.VerifyAction, default_s: float, most_s: float) -> None:
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
