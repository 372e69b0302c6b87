"""Puts a reference that asks for a GPU, as some of KernelBench do, on the CPU, where expected values are computed."""

from __future__ import annotations

import ast
import re

_GPU = re.compile(r"cuda(:\d+)?")


def move(tree: ast.Module) -> bool:
    """Takes `device="cuda"`, `.to("cuda")` and `.cuda()` out of a module; returns whether there were any.

    They are taken out and not made `"cpu"`, so that torch's default device counts: a size is measured on `meta`.
    """
    mover = _Mover()
    mover.visit(tree)
    return mover.moved


class _Mover(ast.NodeTransformer):
    def __init__(self) -> None:
        self.moved = False

    def visit_Call(self, node: ast.Call) -> ast.expr:
        """A call without its GPU; what is moved by one that only moves."""
        if any(keyword.arg == "device" and _is_gpu(keyword.value) for keyword in node.keywords):
            self.moved = True
            node.keywords = [keyword for keyword in node.keywords if keyword.arg != "device"]
        if isinstance(node.func, ast.Attribute) and _only_moves(node.func.attr, node):
            self.moved = True
            moved: ast.expr = self.visit(node.func.value)
            return moved
        self.generic_visit(node)
        return node

    def visit_Constant(self, node: ast.Constant) -> ast.expr:
        """The name of a GPU that stands elsewhere: `device = torch.device("cuda")`."""
        if not _is_gpu(node):
            return node
        self.moved = True
        return ast.copy_location(ast.Constant("cpu"), node)


def _only_moves(method: str, node: ast.Call) -> bool:
    if node.keywords:
        return False
    return (method == "cuda" and not node.args) or (method == "to" and len(node.args) == 1 and _is_gpu(node.args[0]))


def _is_gpu(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and isinstance(node.value, str) and bool(_GPU.fullmatch(node.value))
