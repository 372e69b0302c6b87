"""Which of a candidate's targets the CPU model is."""

from __future__ import annotations

import pytest

from svc_compiler.verify.build import modelled_target


@pytest.mark.parametrize(
    ("targets", "expected"),
    [
        (["gfx90a"], "gfx90a"),
        (["gfx950"], "gfx950"),
        (["gfx90a", "gfx950"], "gfx950"),
        (["gfx90a", "gfx942", "gfx950"], "gfx942"),
    ],
)
def test_modelled_target(targets: list[str], expected: str) -> None:
    """gfx942 where it is asked, else the newest."""
    assert modelled_target(targets) == expected
