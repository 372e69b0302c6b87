"""One `__global__` function of a source: found, and replaced, in the file's bytes as clang sees them."""

from __future__ import annotations

import dataclasses
import itertools
from collections.abc import Iterator, Sequence

from kernelvault import errors
from kernelvault.v1.kernel_pb2 import KernelDefinition
from svc_compiler.hip.declarations import Declaration, Node, children, is_of_macro, offset

_PARAMETERS = ("TemplateTypeParmDecl", "NonTypeTemplateParmDecl", "TemplateTemplateParmDecl")
# Macros of HIP that a definition may begin with.
_MACROS = frozenset(
    (b"__global__", b"__launch_bounds__", b"__host__", b"__device__", b"__forceinline__", b"__noinline__")
)
_MOST_LISTED = 20


@dataclasses.dataclass(frozen=True)
class Kernel:
    """A kernel's definition among a source's declarations."""

    declaration: Declaration
    # The function itself, of a template its pattern.
    function: Node
    body: Node

    @property
    def name(self) -> str:
        """Qualified, with the parameters' types: `mine::softmax(const float *, float *)`."""
        kind: str = self.function["type"]["qualType"]
        return f"{self.declaration.name}{kind[kind.index('(') :]}"

    def signature(self) -> tuple[object, ...]:
        """What callers depend on: equal for two definitions that may take each other's place."""
        templates = [
            (child["kind"], child.get("type", {}).get("qualType"), child.get("isParameterPack", False))
            for child in children(self.declaration.node, *_PARAMETERS)
        ]
        return self.declaration.path, self.name, templates, self.function.get("storageClass", "")


def kernels(declarations: Sequence[Declaration]) -> list[Kernel]:
    """The kernels that a source defines outside of classes, in its order."""
    return list(itertools.chain.from_iterable(map(_kernels_in, declarations)))


def find(source: bytes, found: Sequence[Kernel], name: str) -> Kernel:
    """The kernel of `source` that `name` means: plain, qualified, or with its parameters' types.

    Raises errors.InvalidArgument (`NO_SUCH_KERNEL`, `KERNEL_IN_MACRO`).
    """
    matching = [kernel for kernel in found if _means(name, kernel)]
    if len(matching) == 1:
        _check_is_written_out(source, matching[0])
        return matching[0]
    listed = [f"`{kernel.name}`" for kernel in (matching or found)]
    shown = ", ".join(listed[:_MOST_LISTED]) + (
        f" and {len(listed) - _MOST_LISTED} more" * (len(listed) > _MOST_LISTED)
    )
    if matching:
        why = f"{name[:200]!r} is the name of {len(matching)} kernels: choose one of {shown}"
    elif found:
        why = f"{name[:200]!r} is no kernel of the source: it defines {shown}"
    else:
        why = f"{name[:200]!r} is no kernel of the source: it defines no `__global__` function"
    raise errors.InvalidArgument("kernel", why, "NO_SUCH_KERNEL")


def definition(source: bytes, kernel: Kernel, *, unique: bool) -> KernelDefinition:
    """The kernel as it stands in `source`; its name is short where it is `unique`."""
    whole = kernel.declaration
    body = offset(kernel.body["range"]["begin"])
    return KernelDefinition(
        name=whole.name if unique else kernel.name,
        signature=_text(source[whole.begin : body]).rstrip(),
        text=_text(source[whole.begin : whole.end]),
        line=source[: whole.begin].count(b"\n") + 1,
    )


def replace(source: bytes, kernel: Kernel, replacement: str) -> bytes:
    """The source with other text in the kernel's place; its ends of lines are those of the kernel."""
    begin, end = kernel.declaration.begin, kernel.declaration.end
    text = replacement.replace("\r\n", "\n").strip()
    text = text.replace("\n", "\r\n") if b"\r\n" in source[begin:end] else text
    return source[:begin] + text.encode() + source[end:]


def why_refused(before: Sequence[Declaration], kernel: Kernel, after: Sequence[Declaration], length: int) -> str:
    """Why a replacement of `length` bytes is none for the kernel: empty if it is one.

    `before` and `after` are the declarations of the source as it was and with the replacement in it.
    """
    begin = kernel.declaration.begin
    inside = [one for one in after if begin <= one.begin < begin + length]
    outside = [one for one in after if not begin <= one.begin < begin + length]
    same = [new for new in kernels(inside) if new.declaration.name == kernel.declaration.name]
    if not same:
        return f"it does not define the kernel `{kernel.declaration.name}`"
    if len(same) > 1 or same[0].signature() != kernel.signature():
        told = " and ".join(f"`{new.name}`" for new in same)
        return (
            f"it defines {told}, where `{kernel.name}` is launched: keep the name, the linkage, the template "
            "parameters and the parameters' types, and define it once"
        )
    rest = [one for one in before if one is not kernel.declaration]
    for old, new in itertools.zip_longest(rest, outside):
        if old is None or new is None or old.meaning() != new.meaning():
            changed = (old or new).name or "a declaration"
            return f"it changes `{changed}`, which lies outside of the kernel: replace the kernel alone"
    return ""


def _kernels_in(declaration: Declaration) -> Iterator[Kernel]:
    node = declaration.node
    functions = children(node, "FunctionDecl")[:1] if node["kind"] == "FunctionTemplateDecl" else [node]
    for function in functions:
        bodies = children(function, "CompoundStmt")
        if function["kind"] == "FunctionDecl" and children(function, "CUDAGlobalAttr") and bodies:
            yield Kernel(declaration, function, bodies[0])


def _means(name: str, kernel: Kernel) -> bool:
    asked, known = "".join(name.split()), "".join(kernel.name.split())
    names = (known, known.partition("(")[0])
    return bool(asked) and any(full == asked or full.endswith(f"::{asked}") for full in names)


def _check_is_written_out(source: bytes, kernel: Kernel) -> None:
    """Raises InvalidArgument where the text of the definition is not the definition's alone."""
    node, function = kernel.declaration.node, kernel.function
    begin, end = node["range"]["begin"], node["range"]["end"]
    by_macro = is_of_macro(function["loc"]) or is_of_macro(end) or is_of_macro(kernel.body["range"]["begin"])
    first = source[offset(begin) or 0 :][: begin.get("expansionLoc", {}).get("tokLen", 0)]
    if by_macro or (is_of_macro(begin) and first not in _MACROS):
        raise errors.InvalidArgument(
            "kernel",
            f"`{kernel.name}` is made by a macro of the source: write its definition out, from `__global__` to the "
            "closing brace, or optimise the whole source",
            "KERNEL_IN_MACRO",
        )
    attributes = [one for one in function.get("inner", ()) if one.get("kind", "").endswith("Attr")]
    places = [offset(one["range"]["begin"]) for one in attributes if not one.get("inherited")]
    if any(place is not None and place < kernel.declaration.begin for place in places):
        raise errors.InvalidArgument(
            "kernel",
            f"`{kernel.name}` has an attribute in `[[...]]` before it, which is not part of the definition to clang: "
            "write it as `__attribute__((...))` after `__global__`",
            "KERNEL_IN_MACRO",
        )


def _text(source: bytes) -> str:
    return source.decode(errors="replace").replace("\r\n", "\n")
