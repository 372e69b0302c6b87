"""Token budgets: of one call, and of the process."""

from __future__ import annotations

from kernelvault import errors


class Budget:
    """Tokens that may still be used. What a request may cost at most is set aside before it is made."""

    def __init__(self, limit: int, name: str, parent: Budget | None = None) -> None:
        """`limit` of 0: without limit. What is used of this is used of `parent` too."""
        self._limit = limit
        self._name = name
        self._parent = parent
        self.used = 0

    def reserve(self, tokens: int) -> None:
        """Sets tokens aside; raises errors.ResourceExhausted (`TOKEN_BUDGET`) where too few are left."""
        if self._limit and self.used + tokens > self._limit:
            raise errors.ResourceExhausted(
                "TOKEN_BUDGET",
                f"{self._name} allows {self._limit} tokens, {self.used} are used and {tokens} more are wanted",
                limit=str(self._limit),
            )
        if self._parent:
            self._parent.reserve(tokens)
        self.used += tokens

    def settle(self, reserved: int, used: int) -> None:
        """Replaces what was set aside by what was used."""
        self.used += used - reserved
        if self._parent:
            self._parent.settle(reserved, used)
