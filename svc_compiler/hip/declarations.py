"""What a source declares, by clang's own parse of it: each declaration with its place in the file's bytes.

clang prints its syntax tree as JSON. A place in the source itself has an offset and no `includedFrom`; one inside a
macro says where that was written (`spellingLoc`) and where it stands (`expansionLoc`).
"""

from __future__ import annotations

import dataclasses
import json
import re
from collections.abc import Iterable, Iterator
from typing import Any

Node = dict[str, Any]
FLAGS = ("-fsyntax-only", "-Xclang", "-ast-dump=json")
# Of a tree, and of that part of it which is not of headers: HIP's headers for narrow types give 50 MB.
MOST_BYTES, MOST_OWN_BYTES = 128 << 20, 32 << 20
C_LINKAGE = 'extern "C"'

# clang indents: this begins a declaration of the file, and no other thing.
_BEGIN, _END = b"\n    {\n", b"\n    }"
# Addresses in clang's memory, and what changes with use or place.
_ADDRESS = re.compile(r"0x[0-9a-f]+")
_PLACE = re.compile(r" at [^()]*:\d+:\d+\)")
_INCIDENTAL = frozenset(("id", "loc", "range", "isUsed", "isReferenced", "mangledName", "definitionData"))


class TooComplex(Exception):
    """The syntax tree is above a limit."""


@dataclasses.dataclass(frozen=True)
class Declaration:
    """A declaration of the file, not of a header, outside of functions and classes."""

    node: Node
    # Names of the namespaces around it, empty for one without a name, and C_LINKAGE.
    path: tuple[str, ...]
    # Bytes of the file, `extern "C"` without braces included.
    begin: int
    end: int

    @property
    def name(self) -> str:
        """Qualified as in C++, without namespaces that have no name."""
        return "::".join([part for part in self.path if part and part != C_LINKAGE] + [self.node.get("name", "")])

    def meaning(self) -> tuple[Any, ...]:
        """Equal for two declarations that are the same in two sources; uses of them do not count."""
        return (self.path, _bare(self.node))


def read(dump: bytes) -> list[Declaration]:
    """The declarations of a source in their order, from clang's JSON; raises TooComplex."""
    if len(dump) >= MOST_BYTES:
        raise TooComplex(f"its syntax tree is above {MOST_BYTES >> 20} MiB")
    own = [part[: part.rindex(_END)] for part in dump.split(_BEGIN)[1:] if not _is_of_header(part)]
    if sum(map(len, own)) > MOST_OWN_BYTES:
        raise TooComplex(f"the syntax tree of its own text is above {MOST_OWN_BYTES >> 20} MiB")
    try:
        return list(_flat((json.loads(b"{%s}" % part) for part in own), ()))
    except RecursionError as error:
        raise TooComplex("its expressions nest too deeply") from error


def offset(place: Node) -> int | None:
    """Where a place stands in the file; None for one in a header."""
    stands = place.get("expansionLoc", place)
    found: int | None = None if "includedFrom" in stands else stands.get("offset")
    return found


def is_of_macro(place: Node) -> bool:
    """Whether a place was made by a macro."""
    return "expansionLoc" in place


def children(node: Node, *kinds: str) -> list[Node]:
    """The direct children of these kinds."""
    return [child for child in node.get("inner", ()) if child.get("kind") in kinds]


def _is_of_header(part: bytes) -> bool:
    place = part.partition(b'"range": {')[0]
    return b'"includedFrom"' in place.rpartition(b'"expansionLoc"')[2]


def _flat(nodes: Iterable[Node], path: tuple[str, ...]) -> Iterator[Declaration]:
    for node in nodes:
        kind, inner = node.get("kind", ""), node.get("inner", [])
        if kind == "NamespaceDecl":
            yield from _flat(inner, (*path, node.get("name", "")))
        elif kind == "LinkageSpecDecl" and node.get("hasBraces"):
            yield from _flat(inner, (*path, C_LINKAGE))
        elif kind == "LinkageSpecDecl":
            yield from (dataclasses.replace(one, begin=_begin(node)) for one in _flat(inner, (*path, C_LINKAGE)))
        elif kind.endswith("Decl") and not node.get("isImplicit") and _begin(node) >= 0:
            last = node["range"]["end"]
            yield Declaration(node, path, _begin(node), (offset(last) or 0) + last.get("tokLen", 0))


def _begin(node: Node) -> int:
    found = offset(node["range"]["begin"])
    return -1 if found is None else found


def _bare(value: Any) -> Any:
    """A node without addresses, places and what its uses add: instances of templates, implicit members."""
    if isinstance(value, dict):
        kept = {key: _bare(item) for key, item in value.items() if key not in _INCIDENTAL}
        if "inner" in value:
            kept["inner"] = [_bare(child) for child in _own_children(value)]
        return kept
    if isinstance(value, list):
        return [_bare(item) for item in value]
    if isinstance(value, str):
        return "" if _ADDRESS.fullmatch(value) else _PLACE.sub(")", value)
    return value


def _own_children(node: Node) -> Iterator[Node]:
    """The children that stand in the source; of a template its pattern alone."""
    is_template = node.get("kind", "").endswith("TemplateDecl")
    for child in node["inner"]:
        if child.get("isImplicit"):
            continue
        yield child
        if is_template and not child.get("kind", "").startswith(
            ("TemplateTypeParm", "NonTypeTemplateParm", "TemplateTemplateParm")
        ):
            return
