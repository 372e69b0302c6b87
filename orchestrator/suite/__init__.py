"""The starter suite: PyTorch tasks in three levels, in KernelBench's directory layout.

Task files are read here and never imported: a reference is foreign code, even when it is ours, and imports torch.
"""

from __future__ import annotations

import ast
import re
from pathlib import Path

from kernelvault import digest, errors
from kernelvault.v1 import kernel_pb2

_FOLDER = Path(__file__).parent
_LEVEL = re.compile(r"level(\d)")


def tasks() -> list[Path]:
    """The suite's task files, single operators first."""
    return sorted(_FOLDER.glob("level*/*.py"))


def title(path: Path) -> str:
    """A task's title from its file's name: `23_Softmax.py` is `softmax`."""
    stem = re.sub(r"^\d+_", "", path.stem).lower()
    return re.sub(r"[^a-z0-9_-]+", "_", stem).strip("_") or "task"


def level(path: Path) -> int:
    """1, 2 or 3 from the name of the file's folder; 0 if it names none."""
    match = _LEVEL.fullmatch(path.parent.name)
    return int(match[1]) if match else 0


def read(path: Path) -> kernel_pb2.Task:
    """A task without cases from any file in KernelBench's layout.

    `FAMILY`, `SOURCE` and `LICENSE` at the module's top level fill the family and the provenance; the module's
    docstring becomes the instructions. Raises InvalidArgument for a file that is missing or is not Python.
    """
    try:
        contents = path.read_bytes()
        module = ast.parse(contents)
    except OSError as error:
        raise errors.InvalidArgument("task", f"failed to read {str(path)!r}: {error.strerror}") from error
    except (SyntaxError, ValueError) as error:
        where = f"line {error.lineno}: {error.msg}" if isinstance(error, SyntaxError) else str(error)
        raise errors.InvalidArgument("task", f"failed to parse {str(path)!r} as Python: {where}") from error
    constants = _constants(module)
    return kernel_pb2.Task(
        title=title(path),
        instructions=ast.get_docstring(module) or "",
        reference=digest.artifact(path.name, contents),
        family=constants.get("FAMILY", ""),
        level=level(path),
        provenance=kernel_pb2.Provenance(
            source=constants.get("SOURCE", path.name), license=constants.get("LICENSE", "NOASSERTION")
        ),
    )


def _constants(module: ast.Module) -> dict[str, str]:
    """Strings that are assigned to plain names at the top level."""
    return {
        target.id: node.value.value
        for node in module.body
        if isinstance(node, ast.Assign) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str)
        for target in node.targets
        if isinstance(target, ast.Name)
    }
