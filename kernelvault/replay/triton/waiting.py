"""Loops that wait for another program: a GPU runs programs side by side, an interpreter one after the other."""

from __future__ import annotations

import ast

WAITS = "a loop that waits for another program, and programs are interpreted one after the other"


def waits(loop: ast.While) -> bool:
    """Whether a loop asks memory again and again, until another program changes it.

    Work that is handed out by `atomic_add` in the body of a loop is none of it.
    """
    condition = set(_calls(loop.test))
    asks = any(name.startswith("atomic_") or name == "load" for name in condition)
    return asks or any("atomic_cas" in _calls(statement) for statement in loop.body)


def _calls(tree: ast.AST) -> list[str]:
    functions = [node.func for node in ast.walk(tree) if isinstance(node, ast.Call)]
    return [f.attr if isinstance(f, ast.Attribute) else getattr(f, "id", "") for f in functions]
