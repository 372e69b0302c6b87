"""Random kernels of branches, loops, breaks and returns in which lanes vote, and what they must give.

Lanes of a wave as a manual describes them: a mask of those that are there, which a branch divides and its end unites.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

Array = np.ndarray
LANES = np.arange(64)
NONE = np.zeros(64, bool)
_MODULUS = 10007
_HEAD = """#include <hip/hip_runtime.h>

__device__ int vote(int sum, int number) { return (sum * 31 + __popcll(__ballot(1)) + number) % 10007; }

__device__ __noinline__ int helper(int sum, int number) {
    sum = vote(sum, number);
    return sum % 2 ? vote(sum, 7) : vote(sum, 9);
}
"""


@dataclass
class Lanes:
    """A wave: each lane's sum and its counters of loops."""

    sum: Array
    counters: dict[str, Array] = field(default_factory=dict)

    def vote(self, mask: Array, number: int) -> None:
        """What `vote` does in the lanes of a mask."""
        self.sum[mask] = (self.sum[mask] * 31 + mask.sum() + number) % _MODULUS


@dataclass
class Ways:
    """Lanes after a statement: those that go on, that leave the loop, and that go to its next round."""

    on: Array
    broken: Array = field(default_factory=NONE.copy)
    continued: Array = field(default_factory=NONE.copy)


@dataclass
class Condition:
    """Depends on the lane, its sum and maybe a counter."""

    counter: str
    numbers: tuple[int, int, int, int]

    def text(self) -> str:
        """In C++."""
        a, b, modulus, below = self.numbers
        return f"(lane * {a} + {self.counter or 1} * {b} + sum) % {modulus} < {below}"

    def of(self, lanes: Lanes) -> Array:
        """In each lane."""
        a, b, modulus, below = self.numbers
        counter = lanes.counters[self.counter] if self.counter else 1
        return (LANES * a + counter * b + lanes.sum) % modulus < below


@dataclass
class Vote:
    """`vote`, or `helper`, which votes twice in a branch."""

    number: int
    by_helper: bool

    def text(self) -> str:
        """In C++."""
        return f"sum = {'helper' if self.by_helper else 'vote'}(sum, {self.number});\n"

    def run(self, lanes: Lanes, mask: Array) -> Ways:
        """All go on."""
        lanes.vote(mask, self.number)
        if self.by_helper:
            odd = mask & (lanes.sum % 2 == 1)
            lanes.vote(odd, 7)
            lanes.vote(mask & ~odd, 9)
        return Ways(mask)


@dataclass
class Leave:
    """A conditional `break`, `continue` or `return`."""

    condition: Condition
    how: str

    def text(self) -> str:
        """In C++."""
        how = "{ out[lane] = sum; return; }" if self.how == "return" else f"{self.how};"
        return f"if ({self.condition.text()}) {how}\n"

    def run(self, lanes: Lanes, mask: Array) -> Ways:
        """Those that leave are gone, or out of the loop, or in its next round."""
        leaving = self.condition.of(lanes) & mask
        broken, continued = (leaving if self.how == how else NONE for how in ("break", "continue"))
        return Ways(mask & ~leaving, broken, continued)


@dataclass
class Branch:
    """`if` and `else`."""

    condition: Condition
    sides: tuple[Block, Block]

    def text(self) -> str:
        """In C++."""
        then, other = (side.text() for side in self.sides)
        return f"if ({self.condition.text()}) {{\n{then}}} else {{\n{other}}}\n"

    def run(self, lanes: Lanes, mask: Array) -> Ways:
        """One side after the other."""
        taken = self.condition.of(lanes) & mask
        then, other = self.sides[0].run(lanes, taken), self.sides[1].run(lanes, mask & ~taken)
        return Ways(then.on | other.on, then.broken | other.broken, then.continued | other.continued)


@dataclass
class Switch:
    """Cases by the lane and its sum, some of which fall through; nothing in them breaks."""

    numbers: tuple[int, int]
    cases: Sequence[tuple[Block, bool]]

    def text(self) -> str:
        """In C++."""
        texts = (
            f"case {i}: {{\n{block.text()}}} {'' if falls else 'break;'}\n"
            for i, (block, falls) in enumerate(self.cases)
        )
        return f"switch ((lane * {self.numbers[0]} + sum) % {self.numbers[1]}) {{\n{''.join(texts)}}}\n"

    def run(self, lanes: Lanes, mask: Array) -> Ways:
        """One case after the other; lanes that fall through meet those of the next."""
        value = (LANES * self.numbers[0] + lanes.sum) % self.numbers[1]
        ways, falling = Ways(mask & (value >= len(self.cases))), NONE
        for i, (block, falls) in enumerate(self.cases):
            after = block.run(lanes, falling | (mask & (value == i)))
            falling = after.on if falls else NONE
            ways = Ways(ways.on if falls else ways.on | after.on, ways.broken, ways.continued | after.continued)
        return Ways(ways.on | falling, ways.broken, ways.continued)


@dataclass
class Loop:
    """`for`, `while` or `do`, with a number of rounds for each lane."""

    kind: str
    counter: str
    numbers: tuple[int, int]
    body: Block

    def text(self) -> str:
        """In C++."""
        i, limit, body = self.counter, f"(lane + {self.numbers[0]}) % {self.numbers[1]}", self.body.text()
        if self.kind == "for":
            return f"for (int {i} = 0; {i} < {limit}; {i}++) {{\n{body}}}\n"
        if self.kind == "while":
            return f"{{ int {i} = -1; while (++{i} < {limit}) {{\n{body}}} }}\n"
        return f"{{ int {i} = -1; do {{ {i}++;\n{body}}} while ({i} + 1 < {limit}); }}\n"

    def run(self, lanes: Lanes, mask: Array) -> Ways:
        """Rounds, until no lane is left in the loop."""
        limit = (LANES + self.numbers[0]) % self.numbers[1]
        rounds = lanes.counters[self.counter] = np.zeros(64, int)
        inside = mask if self.kind == "do" else mask & (limit > 0)
        outside = mask & ~inside
        while inside.any():
            ways = self.body.run(lanes, inside)
            again = ways.on | ways.continued
            rounds[again] += 1
            inside = again & (rounds < limit)
            outside = outside | ways.broken | (again & ~inside)
        return Ways(outside)


@dataclass
class Block:
    """Statements in order."""

    statements: Sequence[Vote | Leave | Branch | Switch | Loop]

    def text(self) -> str:
        """In C++."""
        return "".join(statement.text() for statement in self.statements)

    def run(self, lanes: Lanes, mask: Array) -> Ways:
        """Each on those that the one before it leaves."""
        ways = Ways(mask)
        for statement in self.statements:
            after = statement.run(lanes, ways.on)
            ways = Ways(after.on, ways.broken | after.broken, ways.continued | after.continued)
        return ways


class Author:
    """Writes kernels."""

    def __init__(self, seed: int) -> None:
        self._random = random.Random(seed)

    def block(self, depth: int, counters: tuple[str, ...] = (), *, breaks: bool = True) -> Block:
        """One to three statements, nested up to `depth`, in the loops of `counters`; `breaks`: out of one of them."""
        return Block([self._statement(depth, counters, breaks) for _ in range(self._random.randint(1, 3))])

    def _statement(self, depth: int, counters: tuple[str, ...], breaks: bool) -> Vote | Leave | Branch | Switch | Loop:
        chance = self._random.random()
        if depth == 0 or chance < 0.3:
            return Vote(self._random.randint(1, 99), self._random.random() < 0.2)
        if chance < 0.6:
            then, other = (self.block(depth - 1, counters, breaks=breaks) for _ in range(2))
            return Branch(self._condition(counters), (then, other))
        if chance < 0.65:
            numbers = self._random.randint(1, 9), self._random.randint(3, 4)
            cases = [(self.block(depth - 1, counters, breaks=False), self._random.random() < 0.4) for _ in range(3)]
            return Switch(numbers, cases)
        if chance < 0.85:
            counter, kind = f"i{depth}", self._random.choice(["for", "while", "do"])
            numbers = self._random.randint(0, 3), self._random.randint(2, 6)
            return Loop(kind, counter, numbers, self.block(depth - 1, (*counters, counter)))
        ways = ["return"] if not counters else ["break", "continue"] if breaks else ["continue"]
        return Leave(self._condition(counters), self._random.choice(ways))

    def _condition(self, counters: tuple[str, ...]) -> Condition:
        modulus = self._random.randint(2, 6)
        numbers = self._random.randint(1, 9), self._random.randint(0, 7), modulus, self._random.randint(1, modulus - 1)
        return Condition(self._random.choice(counters or ("",)), numbers)


def source(blocks: Sequence[Block]) -> str:
    """A program with a kernel for each block, and a launcher of a wave for each."""
    kernels = [
        f"\n__global__ void k{i}(const int* x, int* out) {{\nint lane = threadIdx.x, sum = x[lane];\n"
        f"{block.text()}out[lane] = sum;\n}}\n"
        for i, block in enumerate(blocks)
    ]
    launches = "".join(f"k{i}<<<1, 64, 0, stream>>>(x, out + {64 * i});\n" for i in range(len(blocks)))
    return (
        _HEAD
        + "".join(kernels)
        + (f'\nextern "C" void run(const int* x, int64_t, int* out, hipStream_t stream) {{\n{launches}}}\n')
    )


def results(blocks: Sequence[Block], x: Array) -> Array:
    """What the program gives."""
    waves = [Lanes(x.astype(int)) for _ in blocks]
    for block, lanes in zip(blocks, waves, strict=True):
        block.run(lanes, ~NONE)
    return np.concatenate([lanes.sum for lanes in waves]).astype(np.int32)
