"""How alike two sources are, whatever their names, comments and layout."""

from __future__ import annotations

import re
from collections import Counter

SHINGLE_TOKENS = 5
# From here on a source is a near-copy. A changed token touches five shingles: one in a kernel of 300 tokens gives
# 0.967, which is a copy; one in 100 tokens gives 0.905, which is not.
NEAR_COPY = 0.95

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
    """The tokens of a HIP (or Python) source without its comments."""
    return _TOKEN.findall(_COMMENT[python].sub(lambda match: match.group(1) or " ", source))


def shingles(source: str, *, python: bool = False) -> Counter[tuple[str, ...]]:
    """Runs of `SHINGLE_TOKENS` tokens with their counts.

    Names are numbered anew in each run, so that renaming a variable changes nothing, and adding one little.
    """
    found = tokens(source, python=python)
    last = max(1, len(found) - SHINGLE_TOKENS + 1)
    return Counter(_anonymous(found[start : start + SHINGLE_TOKENS]) for start in range(last) if found)


def similarity(one: Counter[tuple[str, ...]], other: Counter[tuple[str, ...]]) -> float:
    """The Jaccard index of two multisets of shingles, in [0, 1]; 1 for equal ones."""
    together = (one | other).total()
    return (one & other).total() / together if together else 1.0


def _anonymous(run: list[str]) -> tuple[str, ...]:
    numbers: dict[str, str] = {}
    return tuple(numbers.setdefault(token, f"${len(numbers)}") if _is_chosen(token) else token for token in run)


def _is_chosen(token: str) -> bool:
    return (token[0].isalpha() or token[0] == "_") and token not in _WORDS and not token.startswith("__")
