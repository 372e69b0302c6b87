"""Puts definitions into kernels: a definition joins a kernel where each thread, or block, already has what it needs."""

from __future__ import annotations

import dataclasses

from svc_generator.rules import expr, index, sizes
from svc_generator.rules.expr import Expr
from svc_generator.rules.graph import Size
from svc_generator.rules.index import Lin
from svc_generator.rules.program import Buffer, Definition, Operands, Pointwise, Program, Reduce, Scan

_MAX_ITEMS = 24


@dataclasses.dataclass(frozen=True)
class Item:
    """A definition in a kernel with its body over the kernel's variables.

    `place` is `each` (once an element), `outer` (once a row), `reduce` or `scan`; `offset` is where the target's
    element lies.
    """

    definition: Definition
    place: str
    body: Expr
    offset: Lin

    @property
    def target(self) -> Buffer:
        return self.definition.target


@dataclasses.dataclass
class Group:
    """The definitions of one kernel. A kernel of rows has the variables o and r, an elementwise one only o."""

    outer: Size
    inner: Size | None
    items: list[Item]

    @property
    def o(self) -> Lin:
        return index.var("o", self.outer)

    @property
    def r(self) -> Lin:
        assert self.inner is not None
        return index.var("r", self.inner)

    @property
    def reductions(self) -> list[Item]:
        return [item for item in self.items if item.place == "reduce"]

    @property
    def operands(self) -> list[Operands]:
        """Of the group's products of matrices; empty if a reduction is something else."""
        found = [i.definition.operands for i in self.reductions if isinstance(i.definition, Reduce)]
        return [o for o in found if o is not None] if None not in found else []

    @property
    def is_scan(self) -> bool:
        return isinstance(self.items[0].definition, Scan)

    def place(self, definition: Definition) -> Item | None:
        """The definition as an item of this group, or None where it does not fit."""
        item = _placed(self, definition)
        return item if item is not None and self._fits(item) else None

    def _fits(self, item: Item) -> bool:
        """True if all that the item reads of this group is at hand when it runs."""
        mine = {own.target: own for own in self.items}
        for part in expr.walk([item.body]):
            if part.kind == "load" and part.args[0] in mine:
                producer = mine[part.args[0]]
                if part.args[1] != producer.offset or (producer.place == "each" and item.place == "outer"):
                    return False
        return True


def _placed(group: Group, definition: Definition) -> Item | None:
    if group.is_scan or len(group.items) >= _MAX_ITEMS or isinstance(definition, Scan):
        return None
    if isinstance(definition, Reduce):
        return _placed_reduction(group, definition)
    if definition.count == group.outer:
        return Item(definition, "outer" if group.inner else "each", definition.body(group.o), group.o)
    first = group.items[0].definition
    if (
        group.inner
        and isinstance(first, Reduce)
        and first.flat
        and definition.count == sizes.mul(group.outer, group.inner)
    ):
        offset = first.flat(group.o, group.r)
        return Item(definition, "each", definition.body(offset), offset)
    return None


def _placed_reduction(group: Group, definition: Reduce) -> Item | None:
    if group.outer != definition.outer or group.inner != definition.inner:
        return None
    theirs, ours = definition.operands, group.operands
    if (theirs or ours) and not (theirs and ours and _shape(theirs) == _shape(ours[0])):
        return None
    return Item(definition, "reduce", definition.body(group.o, group.r), group.o)


def _shape(operands: Operands) -> tuple[Size, Size, Size]:
    return operands.batch, operands.m, operands.n


def _alone(definition: Definition) -> Group:
    """A new kernel for a definition."""
    if isinstance(definition, Pointwise):
        group = Group(definition.count, None, [])
        group.items.append(Item(definition, "each", definition.body(group.o), group.o))
        return group
    group = Group(definition.outer, definition.inner, [])
    if isinstance(definition, Scan):
        offset = definition.flat(group.o, group.r)
        group.items.append(Item(definition, "scan", definition.body(group.o, group.r), offset))
    else:
        group.items.append(Item(definition, "reduce", definition.body(group.o, group.r), group.o))
    return group


def fuse(program: Program, *, enabled: bool = True) -> list[Group]:
    """The kernels in order. Without `enabled`, each definition is a kernel of its own."""
    groups: list[Group] = []
    home: dict[Buffer, int] = {}
    for definition in program.definitions:
        own = _alone(definition)
        needs = [home[p.args[0]] for p in expr.walk([own.items[0].body]) if p.kind == "load" and p.args[0] in home]
        place = len(groups)
        for candidate in range(max(needs, default=0), len(groups)) if enabled else ():
            if item := groups[candidate].place(definition):
                groups[candidate].items.append(item)
                place = candidate
                break
        else:
            groups.append(own)
        home[definition.target] = place
    return groups


def stored(groups: list[Group], group: Group) -> list[Item]:
    """The items of a group whose results are needed in memory: outputs, and what other kernels load."""
    elsewhere = {
        part.args[0]
        for other in groups
        if other is not group
        for part in expr.walk([item.body for item in other.items])
        if part.kind == "load"
    }
    return [item for item in group.items if item.target.role == "output" or item.target in elsewhere]
