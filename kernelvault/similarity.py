"""How far apart two sources are, whatever their names, comments and layout."""

from __future__ import annotations

import re
from collections.abc import Sequence

# Below this distance a source is a near-copy: fewer than one token in 200 is another. In a shorter kernel one changed
# constant may be the whole idea.
NEAR_COPY = 0.005
# All names that an author chose are one token, so that no renaming makes anything new.
NAME = "$"

_STRING = r"""("(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*')"""
_COMMENT = {
    False: re.compile(_STRING + r"|//[^\n]*|/\*.*?\*/", re.DOTALL),
    True: re.compile(_STRING + r"|#[^\n]*"),
}
_TOKEN = re.compile(r"""[A-Za-z_]\w*|(?:\d|\.\d)[\w.]*|"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*'|[^\s\w]""")
# Words that mean the same wherever they stand; any other word is a name that its author chose.
_WORDS = frozenset(
    word
    for line in (
        "auto bool break case char const constexpr continue default do double else enum extern false float for goto",
        "half if inline int int32_t int64_t long namespace private public restrict return short signed sizeof size_t",
        "static struct switch template this true typedef typename uint32_t uint64_t union unsigned using void while",
        "and assert def False from import in is lambda None not or pass raise True with yield",
        "blockDim blockIdx gridDim threadIdx warpSize x y z w torch tl triton",
    )
    for word in line.split()
)


def tokens(source: str, *, python: bool = False) -> list[str]:
    """The tokens of a HIP (or Python) source without its comments; names that its author chose are `NAME`."""
    found = _TOKEN.findall(_COMMENT[python].sub(lambda match: match.group(1) or " ", source))
    return [NAME if _is_chosen(token) else token for token in found]


def distance(one: Sequence[str], other: Sequence[str]) -> float:
    """The edit distance of two lists of tokens over the length of the longer one, in [0, 1]; 0 for equal ones."""
    longer = max(len(one), len(other))
    return edit_distance(one, other) / longer if longer else 0.0


def edit_distance(one: Sequence[str], other: Sequence[str]) -> int:
    """How many tokens must be put in, left out or replaced to make `one` into `other`.

    Hyyrö's form of Myers' bit-vector algorithm ("A Bit-Vector Algorithm for Computing Levenshtein and Damerau Edit
    Distances", Nordic Journal of Computing 10, 2003): bit i of `up` and `down` says whether the distance grows or
    shrinks from row i to the next one, so that a column of the table takes a few operations on whole numbers.
    """
    if not one:
        return len(other)
    every, last = (1 << len(one)) - 1, 1 << (len(one) - 1)
    where: dict[str, int] = {}
    for row, token in enumerate(one):
        where[token] = where.get(token, 0) | 1 << row
    up, down, found = every, 0, len(one)
    for token in other:
        equal = where.get(token, 0)
        diagonal = ((((equal & up) + up) ^ up) | equal | down) & every
        right_up = down | (every & ~(diagonal | up))
        right_down = up & diagonal
        found += bool(right_up & last) - bool(right_down & last)
        right_up = (right_up << 1 | 1) & every
        right_down = right_down << 1 & every
        up = right_down | (every & ~(diagonal | right_up))
        down = right_up & diagonal
    return found


def _is_chosen(token: str) -> bool:
    return (token[0].isalpha() or token[0] == "_") and token not in _WORDS and not token.startswith("__")
