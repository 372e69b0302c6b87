"""One source, one meaning: the preprocessor makes the same text of a candidate for the GPU and for the CPU model.

The CPU pass gets exactly the macros of the GPU pass (`equal_macros`). Then both passes preprocess the candidate, and
every line of its own files must come out the same, macros expanded. That covers conditions, `__has_include`,
`__has_builtin`, `__COUNTER__` and whatever a macro of a header makes of the candidate's lines; `passes` sees to it that
no pass can tell where it runs, so that what it sees here is what it compiles. Code that tells passes apart by types
stays thinkable.

The headers' own text is not read again: what they leave behind, macros and the state of `__COUNTER__`, is kept in the
tool chain's cache and loaded with `-imacros`. Their include guards are among these macros.
"""

from __future__ import annotations

import asyncio
import itertools
import re
import shutil
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from kernelvault import digest, errors, seal
from kernelvault.sandbox import Sandbox
from kernelvault.v1 import compiler_pb2
from svc_compiler.hip import pasted
from svc_compiler.hip.gpu import headers_before
from svc_compiler.hip.passes import Pass, run_pass
from svc_compiler.hip.precompiled import header_identity, write_whole
from svc_compiler.hip.toolchain import PRELUDE, Toolchain
from svc_compiler.refusal import Refused

Verdict = compiler_pb2.VerificationReport.Verdict
# The CPU pass runs without the driver's own include of the wrapper, which the GPU pass has.
CPU_FIRST = ("__clang_hip_runtime_wrapper.h",)
_DEFINE = re.compile(r"^#define (\w+)(\([^)]*\))?(?: (.*))?$", re.MULTILINE)
_MARKER = re.compile(r'^# (\d+) "((?:[^"\\]|\\.)*)"((?: [1-4])*)')
_ENTERS, _LEAVES = "1", "2"
_COUNTER = "kernelvault_counter"
_SHOWN_CHARS = 120


async def check(
    sandbox: Sandbox,
    toolchain: Toolchain,
    folder: Path,
    source: str,
    target: str,
    *,
    cpu_first: Sequence[str] = CPU_FIRST,
    cpu_readable: Sequence[Path] = (),
) -> None:
    """Raises Refused with REJECTED where `source` is something else to the CPU pass than to the GPU pass of `target`.

    `cpu_first` are what the CPU pass includes before the headers that both passes include before the source; those with
    an absolute path lie below `cpu_readable`.
    """
    gpu_flags = toolchain.gpu_flags(target)
    cpu_flags = [*toolchain.cpu_flags(), *await equal_macros(sandbox, toolchain, target)]
    headers = headers_before(folder)
    cpu_headers = [*cpu_first, *(headers or (PRELUDE,))]
    seen_by_gpu, seen_by_cpu = await asyncio.gather(
        _preprocess(sandbox, toolchain, folder, source, flags=gpu_flags, headers=headers),
        _preprocess(sandbox, toolchain, folder, source, flags=cpu_flags, headers=cpu_headers, readable=cpu_readable),
    )
    for gpu, cpu in itertools.zip_longest(seen_by_gpu, seen_by_cpu):
        if gpu != cpu:
            raise Refused(Verdict.REJECTED, _explain(gpu, cpu))


async def equal_macros(sandbox: Sandbox, toolchain: Toolchain, target: str) -> list[str]:
    """`-D` and `-U` flags that give the CPU pass exactly the predefined macros of the GPU pass of `target`."""
    cached = toolchain.cache / f"macros-{digest.of_fields([toolchain.identity, target])[:32]}"
    if not seal.holds(cached):
        want = await _macros(sandbox, toolchain, [*toolchain.gpu_flags(target), "-nogpuinc"])
        have = await _macros(sandbox, toolchain, toolchain.cpu_flags())
        flags = [f"-D{macro}={value}" for macro, value in want.items() if have.get(macro) != value]
        flags += [f"-U{macro}" for macro in have if macro not in want]
        write_whole(cached, "\n".join(flags))
    return cached.read_text().splitlines()


class Line(NamedTuple):
    """A line of a candidate's file that is not empty after preprocessing."""

    file: str
    number: int
    text: str


def lines_of(preprocessed: str, folder: Path) -> Iterator[Line]:
    """The lines that come from files below `folder`, whitespace reduced; `#line` does not make them another's."""
    prefix, file, number = f"{folder}/", "", 0
    outer: list[str] = []
    for text in preprocessed.splitlines():
        if match := _MARKER.match(text):
            number = int(match[1])
            if _ENTERS in match[3]:
                outer.append(file)
                file = match[2]
            elif _LEAVES in match[3] and outer:
                file = outer.pop()
            file = file or match[2]
            continue
        if file.startswith(prefix) and (words := text.split()):
            yield Line(file[len(prefix) :], number, " ".join(words))
        number += 1


def _explain(gpu: Line | None, cpu: Line | None) -> str:
    first = min((line for line in (gpu, cpu) if line), key=lambda line: line.number)

    def shown(line: Line | None) -> str:
        return f"`{line.text[:_SHOWN_CHARS]}`" if line and line[:2] == first[:2] else "nothing"

    return (
        f"{pasted.origin(first.file)}:{first.number}: after preprocessing the GPU pass sees {shown(gpu)} and the CPU "
        f"model's pass sees {shown(cpu)}. Both must see the same code: do not make it depend on what distinguishes "
        "compilers or builds, such as `__has_builtin`; test `__gfx942__` and its like for a target."
    )


async def _preprocess(
    sandbox: Sandbox,
    toolchain: Toolchain,
    folder: Path,
    source: str,
    *,
    flags: Sequence[str],
    headers: Sequence[str],
    readable: Sequence[Path] = (),
) -> list[Line]:
    state = await _state_after(sandbox, toolchain, flags, headers, readable) if headers else None
    loaded = ["-imacros", str(state)] if state else []
    done = await run_pass(
        sandbox,
        toolchain,
        folder,
        source,
        [*flags, *loaded, "-E", "-w"],
        output="it.ii",
        readable=readable,
    )
    if done.output is None:
        raise Refused(Verdict.REJECTED, _failure(done), diagnostics=done.diagnostics)
    return list(lines_of(done.output.read_text(errors="replace"), folder))


def _failure(done: Pass) -> str:
    first = next((d for d in done.diagnostics if d.level == compiler_pb2.Diagnostic.ERROR), None)
    what = f"{first.file}:{first.line}: {first.message}" if first else done.outcome.describe()
    return f"The preprocessor fails in one of the passes, though the GPU code compiles: {what}"


async def _state_after(
    sandbox: Sandbox, toolchain: Toolchain, flags: Sequence[str], headers: Sequence[str], readable: Sequence[Path]
) -> Path:
    """A file of directives that brings a preprocessor to where `headers` leave it: macros, and `__COUNTER__`."""
    key = digest.of_fields([toolchain.identity, *flags, *header_identity(headers)])[:32]
    state = toolchain.cache / f"{key}.macros"
    if not state.exists():
        includes = [word for header in headers for word in ("-include", header)]
        before = await _raw_macros(sandbox, toolchain, [*flags, "-nogpuinc"])
        after = await _raw_macros(sandbox, toolchain, [*flags, *includes], readable)
        text = await _preprocess_text(sandbox, toolchain, [*flags, *includes], f"{_COUNTER} __COUNTER__\n", readable)
        count = int(text.rsplit(_COUNTER, 1)[1].split()[0])
        directives = [f"#undef {macro}" for macro in before if macro not in after]
        directives += [define for macro, define in after.items() if before.get(macro) != define]
        directives += ["#if __COUNTER__\n#endif"] * count
        write_whole(state, "\n".join(directives) + "\n")
    return state


async def _macros(sandbox: Sandbox, toolchain: Toolchain, flags: Sequence[str]) -> dict[str, str]:
    """Object-like macros and their values."""
    text = await _preprocess_text(sandbox, toolchain, [*flags, "-dM"], "")
    return {match[1]: match[3] or "" for match in _DEFINE.finditer(text) if match[2] is None}


async def _raw_macros(
    sandbox: Sandbox, toolchain: Toolchain, flags: Sequence[str], readable: Sequence[Path] = ()
) -> dict[str, str]:
    """All macros and their directives; spaces around `##` mean nothing."""
    text = await _preprocess_text(sandbox, toolchain, [*flags, "-dM"], "", readable)
    return {match[1]: re.sub(r" *## *", "##", match[0]) for match in _DEFINE.finditer(text)}


async def _preprocess_text(
    sandbox: Sandbox, toolchain: Toolchain, flags: Sequence[str], text: str, readable: Sequence[Path] = ()
) -> str:
    """Preprocesses text of ours; raises errors.Internal where that fails."""
    folder = Path(tempfile.mkdtemp(dir=toolchain.cache, prefix="build-"))
    try:
        (folder / "it.hip").write_text(text)
        command = [toolchain.tool("clang++"), *flags, "-w", "-E", "it.hip", "-o", "it.ii"]
        outcome = await toolchain.run(sandbox, folder, *command, readable=readable)
        if not outcome.ok:
            raise errors.Internal("PRELUDE_BROKEN", f"failed to preprocess the prelude: {outcome.describe()}")
        return (folder / "it.ii").read_text()
    finally:
        shutil.rmtree(folder, ignore_errors=True)
