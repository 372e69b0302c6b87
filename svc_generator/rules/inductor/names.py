"""Names for people: of parameters, sizes, kernels."""

from __future__ import annotations

import keyword
import re
from collections.abc import Mapping, Sequence

_TAKEN = {
    "torch",
    "triton",
    "tl",
    "libdevice",
    "module_fn",
    "grid_2d",
    "rblock",
    "max",
    "min",
    "abs",
    "int",
    "float",
    "math",
}
# What kernels name themselves.
_LOCAL = re.compile(
    r"tmp\d+|accumulator\d+|[xyzr]\d+|r\d_\d+|[xyzr]\d?(index|offset|mask|numel|base)|[XYZR]\d?BLOCK|ps\d+"
)
_UNSPOKEN = {"clone", "view", "unsqueeze", "squeeze", "expand", "permute", "transpose", "slice", "convert", "element",
             "type", "to", "copy", "fused", "triton", "poi", "red", "per", "full", "select", "as", "strided", "detach",
             "scalar", "tensor"}  # fmt: skip
_MAX_WORDS = 4


class Names:
    """What the candidate's parameters and the request's symbols are called."""

    def __init__(self, tensors: Sequence[str], scalars: Sequence[str], definitions: Mapping[str, str]) -> None:
        """`tensors` and `scalars` as the task spells them; `definitions` as in the request."""
        self._taken = set(_TAKEN)
        self.tensors = [self._fresh(name) for name in tensors]
        self.scalars = [self._fresh(name) for name in scalars]
        self.symbols: dict[str, str] = {}
        # Python of each symbol, by its name; a scalar that is its own symbol has none.
        self.definitions: dict[str, str] = {}
        for symbol, definition in definitions.items():
            if plain := re.fullmatch(r"t(\d+)_(\d+)", definition):
                name = self._fresh(f"{self.tensors[int(plain[1])]}_size{plain[2]}")
            elif plain := re.fullmatch(r"(?:float\()?c(\d+)\)?", definition):
                self.symbols[symbol] = self.scalars[int(plain[1])]
                continue
            else:
                name = self._fresh("factor" if symbol.startswith("f") else "size")
            self.symbols[symbol] = name
            self.definitions[name] = self._spell(definition)

    def _spell(self, definition: str) -> str:
        definition = re.sub(r"\bt(\d+)_(\d+)\b", lambda m: f"{self.tensors[int(m[1])]}.size({m[2]})", definition)
        return re.sub(r"\bc(\d+)\b", lambda m: self.scalars[int(m[1])], definition)

    def _fresh(self, wanted: str) -> str:
        name = re.sub(r"\W", "_", wanted)
        name = f"_{name}" if not name or name[0].isdigit() else name
        if keyword.iskeyword(name) or _LOCAL.fullmatch(name) or name.startswith(("buf", "out", "scratch", "view")):
            name = f"{name}_"
        number = 1
        while name in self._taken:
            number += 1
            name = f"{name.rstrip('0123456789')}{number}"
        self._taken.add(name)
        return name


def kernel_names(inductor: Sequence[str]) -> dict[str, str]:
    """A name for each of Inductor's kernels, from the operators that it names."""
    found: dict[str, str] = {}
    for name in inductor:
        words = [word for word in re.split(r"_+", name) if word not in _UNSPOKEN and not word.isdigit()]
        stem = "_".join(dict.fromkeys(words[:_MAX_WORDS])) or "move"
        fresh, number = f"{stem}_kernel", 1
        while fresh in found.values():
            number += 1
            fresh = f"{stem}_kernel{number}"
        found[name] = fresh
    return found
