"""The extensions of a module as one HIP source, which is compiled like any torch extension.

Each extension has a namespace of its own where there are several, so that equal names do not collide. Diagnostics and
findings name the author's file: the Python source, where the text stands there literally.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import Path

from svc_compiler.hip import pasted
from svc_compiler.triton.capture_trace import Extension

NAME = "kernelvault_extensions.hip"
_INCLUDE = re.compile(r"^[ \t]*#[ \t]*include[ \t]*[<\"]([\w./+-]+)[>\"]", re.MULTILINE)
_MACRO = re.compile(r"^[ \t]*#[ \t]*define[ \t]+(\w+)", re.MULTILINE)
# A candidate's sources have a MiB at most; its own process says where things stand.
_MOST_LINES = 1 << 20
_IDENTIFIER = re.compile(r"[A-Za-z_]\w*")
_HEADERS = ("torch/extension.h", "hip/hip_runtime.h")
# A declaration may repeat the default arguments of the definition in another file, and may not within one.
_DEFAULT = re.compile(r"(?<=[\w\s])=\s*[^,()=;]+(?:\([^()]*\))?(?=\s*[,)])")


def write(extensions: Sequence[Extension], folder: Path, python: Mapping[str, str]) -> None:
    """Writes the source that builds `extensions` to `folder` / NAME, with parts beside it.

    `python` are the texts of the candidate's own files, by their paths below `folder`.
    """
    several = len(extensions) > 1
    parts = _Parts(folder, python)
    lines = [f"#include <{header}>" for header in _HEADERS]
    if several:
        headers = {name for one in extensions for _, text, _ in one.sources for name in _INCLUDE.findall(text)}
        lines += [f"#if __has_include(<{name}>)\n#include <{name}>\n#endif" for name in sorted(headers)]
    for index, extension in enumerate(extensions):
        lines += _extension(extension, index, several, parts)
    (folder / NAME).write_text("\n".join(lines) + "\n", errors="replace")


class _Parts:
    """Files for texts that stand in others."""

    def __init__(self, folder: Path, python: Mapping[str, str]) -> None:
        self._folder = folder
        self._python = python
        self._count = 0

    def include(self, text: str, file: str, line: int) -> str:
        """The directive that includes `text`, which is that of `file` from `line` on."""
        name = pasted.name_of(self._count, file)
        self._count += 1
        # On the same lines as there: diagnostics do not follow `#line`.
        (self._folder / name).write_text("\n" * (line - 1) + text + "\n", errors="replace")
        return f'#include "{name}"'

    def find(self, text: str) -> tuple[str, int] | None:
        """File and line where the text stands in the candidate's files."""
        for file, contents in self._python.items():
            if text.strip() and (at := contents.find(text)) >= 0:
                return file, contents.count("\n", 0, at) + 1
        return None


def _extension(extension: Extension, index: int, several: bool, parts: _Parts) -> list[str]:
    identifier = re.sub(r"\W", "_", extension.name) or "extension"
    macros = {"TORCH_EXTENSION_NAME": identifier, "KERNELVAULT_EXTENSION": f'"{index}."'}
    defines = [define.partition("=") for define in extension.defines]
    own = {name: value if equals else "1" for name, equals, value in defines if _IDENTIFIER.fullmatch(name)}
    # What one extension calls by a macro's name is nothing to the next.
    names = dict.fromkeys([*own, *macros, *(name for _, text, _ in extension.sources for name in _MACRO.findall(text))])
    lines = [f'#pragma push_macro("{name}")' for name in names]
    lines += [f"#undef {name}\n#define {name} {value}" for name, value in (own | macros).items()]
    if several:
        lines.append(f"namespace {identifier}_{index} {{")
    for number, (path, text, name) in enumerate(extension.sources):
        file, line = parts.find(text) or (name or f"{identifier}_{number}.hip", 1)
        lines.append(f'#include "{path}"' if path and '"' not in path else parts.include(_declared(text), file, line))
    if extension.functions is not None:
        lines.append(parts.include(_bindings(extension.functions), *_place(extension.place)))
    if several:
        lines.append("}")
    return lines + [f'#pragma pop_macro("{name}")' for name in names]


def _declared(text: str) -> str:
    """Declarations without their default arguments; other text as it is."""
    return text if "{" in text or "#define" in text else _DEFAULT.sub("", text)


def _bindings(functions: Mapping[str, str]) -> str:
    definitions = " ".join(f'm.def("{name}", &{name});' for name in functions if _IDENTIFIER.fullmatch(name))
    return f"PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) {{ {definitions} }}"


def _place(place: str) -> tuple[str, int]:
    file, _, line = place.rpartition(":")
    return (file, int(line)) if file and line.isdigit() and int(line) <= _MOST_LINES else (NAME, 1)
