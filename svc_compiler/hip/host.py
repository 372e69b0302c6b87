"""The host pass: a candidate's host code as a shared object that calls the recorder instead of HIP."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

from kernelvault.sandbox import Outcome, Sandbox
from kernelvault.v1 import compiler_pb2, kernel_pb2
from svc_compiler.hip import diagnostics, host_symbols, precompiled
from svc_compiler.hip.host_library import build_recorder
from svc_compiler.hip.passes import run_pass
from svc_compiler.hip.toolchain import PRELUDE, TORCH_HEADERS, Toolchain
from svc_compiler.refusal import Refused, Verdict

Format = kernel_pb2.Candidate.Format
# The recorder's handlers stay installed, whatever the candidate does.
_WRAPPED = ("sigaction", "signal")
_UNDEFINED = re.compile(r"^\S+: error: undefined symbol: (.+)$", re.MULTILINE)


@dataclass(frozen=True)
class HostBuild:
    """A candidate's host code, ready to be recorded."""

    library: Path
    recorder: Path
    format: kernel_pb2.Candidate.Format
    diagnostics: list[compiler_pb2.Diagnostic]
    cpu_seconds: float


async def build_host(
    sandbox: Sandbox, toolchain: Toolchain, folder: Path, source: str, format: kernel_pb2.Candidate.Format
) -> HostBuild:
    """Compiles the host code of `source`, below `folder`, and links it against the recorder.

    Raises Refused: COMPILE_FAILED with diagnostics; REJECTED for a library's or torch's operator; NEEDS_DEVICE, by
    name, for a function of HIP or of libtorch that the recorder lacks. Trouble of the platform is an errors.Error.
    """
    recorder = await build_recorder(sandbox, toolchain)
    flags = toolchain.host_flags()
    headers = (PRELUDE,) if format == kernel_pb2.Candidate.HIP_ABI else TORCH_HEADERS
    header = await precompiled.precompile(sandbox, toolchain, flags, headers)
    arguments = [*precompiled.use_flags(header), *flags, "-c"]
    done = await run_pass(sandbox, toolchain, folder, source, arguments, output="host.o")
    if done.output is None:
        raise _not_compiled(done.diagnostics)
    library = done.output.with_name("host.so")
    linked = await _link(sandbox, toolchain, done.output, recorder, library)
    seconds = done.outcome.cpu_seconds + linked.cpu_seconds
    return HostBuild(library, recorder, format, done.diagnostics, seconds)


async def _link(sandbox: Sandbox, toolchain: Toolchain, object_: Path, recorder: Path, library: Path) -> Outcome:
    arguments = [*toolchain.link_flags(), "-Wl,--error-limit=0", *(f"-Wl,--wrap={name}" for name in _WRAPPED)]
    arguments += [object_.name, str(recorder), "-o", library.name]
    outcome = await toolchain.run(sandbox, object_.parent, toolchain.tool("clang++"), *arguments)
    if not outcome.ok:
        text = outcome.stderr.decode(errors="replace")
        undefined = list(dict.fromkeys(_UNDEFINED.findall(text)))
        raise host_symbols.refusal(undefined, diagnostics.parse(text, object_.parent))
    return outcome


def _not_compiled(found: list[compiler_pb2.Diagnostic]) -> Refused:
    if refused := host_symbols.lacking(found, found):
        return refused
    first = next((d for d in found if d.level == compiler_pb2.Diagnostic.ERROR), None)
    place = f"{first.file}:{first.line}: " if first and first.file else ""
    reason = f"{place}{first.message}" if first else "the compiler gave no reason"
    return Refused(Verdict.COMPILE_FAILED, f"The host code does not compile: {reason}", diagnostics=found)
