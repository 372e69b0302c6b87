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

MAX_OUTPUT_BYTES = 64 << 10
MAX_MESSAGE_CHARACTERS = 1000
_MAX_DIAGNOSTICS = 20
# `k.py:12:30: error: ...`, also with `loc("k.py":12:30): `.
_PASS = re.compile(r'^(?:loc\()?"?([^":\n]+)"?:(\d+):(\d+)\)?: error: (.+)$', re.MULTILINE)
_PLACELESS = re.compile(r"^(?:error: |LLVM ERROR: |fatal error: )(.+)$", re.MULTILINE)
_ADDRESS = re.compile(r" at 0x[0-9a-f]+")


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
    if found := list(_of_passes(said)):
        return _failed(found)
    name = type(error).__name__
    problem = str(error) if name == "Beyond" else f"Triton's compiler failed with {name}: {error}"
    return _failed([_at(*_place(kernel, 1), 1, problem)])


def of_crash(file: str, line: int, said: str, ending: str) -> compiler_pb2.TargetBuild:
    """For a variant whose compilation ended the process; `file` and `line` are its kernel's."""
    found = list(_of_passes(said))
    last = _PLACELESS.findall(said)
    problem = f"Triton's compiler crashed on this kernel ({ending})" + (f": {last[-1]}" if last else "")
    return _failed([*found, _at(file, line, 1, problem)])


def _failed(diagnostics: list[compiler_pb2.Diagnostic]) -> compiler_pb2.TargetBuild:
    return compiler_pb2.TargetBuild(diagnostics=diagnostics[:_MAX_DIAGNOSTICS])


def _at(file: str, line: int, column: int, message: str) -> compiler_pb2.Diagnostic:
    text = _ADDRESS.sub("", message).strip()[:MAX_MESSAGE_CHARACTERS]
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
        return [Diagnostic(level=Diagnostic.ERROR, message=problem[:MAX_MESSAGE_CHARACTERS])]
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


def _of_passes(said: str) -> Iterator[compiler_pb2.Diagnostic]:
    """The errors that the passes printed, each once."""
    seen = set()
    for file, line, column, message in _PASS.findall(said):
        key = (file, line, column, message)
        if key not in seen and len(line) < 8 and len(column) < 8:
            seen.add(key)
            yield _at(programs.author_file(file), int(line), int(column), message)
