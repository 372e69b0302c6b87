"""What Triton's compiler complains about, as diagnostics that name the author's file and line."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from kernelvault.replay.triton import program as programs
from kernelvault.v1 import compiler_pb2

if TYPE_CHECKING:
    from triton.compiler.errors import CompilationError

Diagnostic = compiler_pb2.Diagnostic

_OUTPUT_BYTES = 64 << 10
MAX_MESSAGE_CHARACTERS = 1000
_MAX_DIAGNOSTICS = 20
# `k.py:12:30: error: ...`, also with `loc("k.py":12:30): `; columns count from 0.
_PASS = re.compile(r'^(?:loc\()?"?([^":<>\n]+)"?:(\d{1,7}):(\d{1,7})\)?: error: (.+)$', re.MULTILINE)
# Without a place; the assembler adds the text that it means.
_PLACELESS = re.compile(
    r"^(?:<unknown>:0: )?(?:error|LLVM ERROR|fatal error): (.+)(?:\n[ \t]+(\S.*)\n[ \t]*\^)?", re.MULTILINE
)
_ASSERTION = re.compile(r"^\S+: .*(Assertion `.+' failed)", re.MULTILINE)
_PASS_NAME = re.compile(r"Pipeline failed while executing \[`(\w+)`")
_CONSEQUENCE = re.compile(r"processing an MLIR pass pipeline|failed to legalize operation|too many errors emitted")
# Addresses, places on this machine, advice that does not apply.
_NOISE = re.compile(
    r" at 0x[0-9a-f]+|/[^\s'\"]*/(?:\.triton-\w+|site-packages)/| Alternatively, set the envvar TRITON_\w+.*$"
)
_REPR = re.compile(r"""^(\w+(?:Error|Exception))\((['"])(.*)\2\)$""", re.DOTALL)


def output(data: bytes) -> str:
    """The start and the end of what the compiler printed; between them it prints whole modules."""
    if len(data) > 2 * _OUTPUT_BYTES:
        data = data[:_OUTPUT_BYTES] + b"\n" + data[-_OUTPUT_BYTES:]
    return data.decode(errors="replace")


def of_malformed(error: programs.Malformed) -> compiler_pb2.TargetBuild:
    """For a program that cannot become functions."""
    if not isinstance(error, programs.SourceError):
        return _failed([Diagnostic(level=Diagnostic.ERROR, message=str(error)[:MAX_MESSAGE_CHARACTERS])])
    return _failed([_at(error.file, error.line, error.column, error.problem)])


def of_failure(error: BaseException, functions: list[Any], kernel: Any, said: str) -> compiler_pb2.TargetBuild:
    """For a variant of `kernel`: `functions` are all of the program's, `said` is what the compiler printed."""
    from triton.compiler.errors import CompilationError

    if isinstance(error, CompilationError):
        return _failed(_of_compilation_error(error, functions))
    place = _place(kernel, 1)
    if found := list(_of_output(said, *place)):
        return _failed(found)
    name = type(error).__name__
    problem = str(error) if name == "Beyond" else f"Triton's compiler failed with {name}: {error}"
    return _failed([_at(*place, 1, problem)])


def of_crash(file: str, line: int, said: str, ending: str) -> compiler_pb2.TargetBuild:
    """For a variant whose compilation ended the process; `file` and `line` are its kernel's."""
    crash = _at(file, line, 1, f"Triton's compiler gave up on this kernel ({ending})")
    return _failed([*_of_output(said, file, line), crash])


def _failed(diagnostics: list[compiler_pb2.Diagnostic]) -> compiler_pb2.TargetBuild:
    return compiler_pb2.TargetBuild(diagnostics=diagnostics[:_MAX_DIAGNOSTICS])


def _at(file: str, line: int, column: int, message: str) -> compiler_pb2.Diagnostic:
    text = message.strip()
    if wrapped := _REPR.match(text):
        text = f"{wrapped[1]}: {wrapped[3]}"
    text = _NOISE.sub("", text)[:MAX_MESSAGE_CHARACTERS]
    return Diagnostic(level=Diagnostic.ERROR, file=file, line=line, column=column, message=text)


def _place(function: Any, line: int) -> tuple[str, int]:
    """The author's file, and the line there, of a line of a function's text, counted from 1."""
    file = programs.author_file(function.fn.__code__.co_filename)
    return file, function.starting_line_number + line - 1


def _of_compilation_error(error: CompilationError, functions: list[Any]) -> list[compiler_pb2.Diagnostic]:
    """The innermost place in the author's text first, then the calls that led there.

    An error in a function that Triton's own library holds is the author's at the call of it.
    """
    chain = list(_chain(error))
    by_text = {function.src: function for function in reversed(functions)}
    problem = _problem(chain[-1])
    places = [
        (*_place(by_text[one.src], one.node.lineno), one.node.col_offset + 1)
        for one in chain
        if one.src in by_text and hasattr(one.node, "lineno")
    ]
    if not places:
        return [_at("", 0, 0, problem)]
    found = [_at(*places[-1], problem)]
    for file, line, column in places[-2::-1]:
        found.append(Diagnostic(level=Diagnostic.NOTE, file=file, line=line, column=column, message="called from here"))
    return found


def _chain(error: BaseException) -> Iterator[CompilationError]:
    """From the kernel inwards."""
    from triton.compiler.errors import CompilationError

    step: BaseException | None = error
    for _ in range(64):
        if not isinstance(step, CompilationError):
            return
        yield step
        step = step.__cause__


def _problem(error: CompilationError) -> str:
    if error.error_message:
        return str(error.error_message)
    cause = error.__cause__ or error.__context__
    return f"{type(cause).__name__}: {cause}" if cause is not None else "is not accepted by Triton's compiler"


def _of_output(said: str, file: str, line: int) -> Iterator[compiler_pb2.Diagnostic]:
    """The errors that passes and LLVM printed, each once, those without a place at `file` and `line`.

    Errors that follow from others stand only where there are no others.
    """
    placed = [(programs.author_file(one[1]), int(one[2]), int(one[3]) + 1, one[4]) for one in _PASS.finditer(said)]
    texts = [": ".join(filter(None, parts)) for parts in _PLACELESS.findall(said)] + _ASSERTION.findall(said)
    found = [*placed, *((file, line, 1, text) for text in texts)]
    causes = [one for one in found if not _CONSEQUENCE.search(one[3])]
    if not causes and (failed := _PASS_NAME.search(said)):
        causes = [(file, line, 1, f"Triton's pass {failed[1]} failed on this kernel")]
    for one in dict.fromkeys(causes or found):
        yield _at(*one)
