"""What the CPU model must count of a program's launch."""

from __future__ import annotations

from typing import Any

import pytest

from kernelvault.v1 import profiler_pb2

# Blocks that are sampled: few of them, and all.
SAMPLES = (2, 1 << 20)


class Counts:
    """Counters by the names of `Profile.Counters`, equal or, with a `tolerance`, within that share of them."""

    def __init__(self, *, tolerance: float = 0.0, **expected: Any) -> None:
        assert set(expected) <= set(profiler_pb2.Profile.Counters.DESCRIPTOR.fields_by_name)
        self._tolerance, self._expected = tolerance or 1e-9, expected

    def check(self, given: profiler_pb2.Profile.Counters) -> None:
        """Fails where a counter is another one."""
        found = {name: getattr(given, name) for name in self._expected}
        for name, value in found.items():
            expected = self._expected[name]
            if not isinstance(expected, dict):
                expected = pytest.approx(expected, rel=self._tolerance)
            assert (dict(value) if name.endswith("_by_type") else value) == expected, (name, found)
