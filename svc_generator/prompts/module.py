"""A task's module as an author may see it: without the cases that are hidden."""

from __future__ import annotations

import ast
import re

from kernelvault.v1.artifact_pb2 import Artifact
from kernelvault.v1.kernel_pb2 import Task

_CASES = "get_cases"


def shown(task: Task, source: Artifact) -> str:
    """The text of the reference or its functional form.

    Where a case is hidden, `get_cases` is left out, and what only `get_cases` uses.
    """
    text = source.contents.decode(errors="replace").strip()
    return _without_cases(text) if any(case.hidden for case in task.cases) else text


def _without_cases(text: str) -> str:
    try:
        nodes = ast.parse(text).body
    except (SyntaxError, ValueError):
        return "# It is not shown: it is no Python, and may tell of hidden cases."
    dropped = [node for node in nodes if _CASES in _defined(node)]
    kept = [node for node in nodes if node not in dropped]
    wanted = _names(dropped)
    while unused := [node for node in kept if _is_helper(node, wanted, kept)]:
        kept = [node for node in kept if node not in unused]
        wanted |= _names(unused)
        dropped += unused
    lines = text.splitlines()
    for node in dropped:
        first = min([node.lineno, *(one.lineno for one in getattr(node, "decorator_list", []))])
        last = node.end_lineno or first
        lines[first - 1 : last] = [""] * (last - first + 1)
    return re.sub(r"\n{4,}", "\n\n\n", "\n".join(lines)).strip()


def _is_helper(node: ast.stmt, wanted: set[str], kept: list[ast.stmt]) -> bool:
    """Whether a statement serves what was left out and nothing else."""
    names = _defined(node)
    if not names:
        # Such as `SHAPES.append(...)`: what it says is of names that are left out.
        return isinstance(node, ast.Expr) and bool(_names([node]) & wanted)
    others = _names([other for other in kept if other is not node and not isinstance(other, ast.Expr)])
    return names <= wanted and not names & others


def _defined(node: ast.stmt) -> set[str]:
    """What a statement gives a name, in whatever block of it; the insides of functions and classes are their own."""
    if isinstance(node, ast.FunctionDef | ast.ClassDef):
        return {node.name}
    inside = list(ast.walk(node))
    stored = {one.id for one in inside if isinstance(one, ast.Name) and isinstance(one.ctx, ast.Store)}
    return stored | {one.name for one in inside if isinstance(one, ast.FunctionDef | ast.ClassDef)}


def _names(nodes: list[ast.stmt]) -> set[str]:
    return {one.id for node in nodes for one in ast.walk(node) if isinstance(one, ast.Name)}
