"""Sealed files: what changed after it was put in its place does not hold."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from kernelvault import seal


def _put(folder: Path, contents: bytes = b"whole") -> Path:
    made = folder / "made"
    made.write_bytes(contents)
    place = folder / "entry" / "values.bin"
    place.parent.mkdir()
    seal.put(made, place)
    return place


def test_holds_what_was_put(tmp_path: Path) -> None:
    """A sealed file holds, and so does its folder."""
    place = _put(tmp_path)
    assert place.read_bytes() == b"whole"
    assert seal.holds(place)
    assert seal.all_hold(place.parent)


@pytest.mark.parametrize("damage", [b"", b"who", b"whale", b"whole and more"])
def test_notices_damage(tmp_path: Path, damage: bytes) -> None:
    """A file that was cut, extended or changed in place does not hold, also after it held before."""
    place = _put(tmp_path)
    assert seal.holds(place)
    place.write_bytes(damage)
    os.utime(place, ns=(1, 1))
    assert not seal.holds(place)
    assert not seal.all_hold(place.parent)


@pytest.mark.parametrize("damaged", [slice(0, 1), slice(5 << 20, 6 << 20), slice(-1, None)])
def test_notices_stretches_in_large_files(tmp_path: Path, damaged: slice) -> None:
    """A large file that is empty in a long stretch, or damaged at one of its ends, does not hold."""
    contents = b"x" * (8 << 20)
    place = _put(tmp_path, contents)
    assert seal.holds(place)
    changed = bytearray(contents)
    changed[damaged] = bytes(len(changed[damaged]))
    place.write_bytes(changed)
    assert not seal.holds(place)


def test_nothing_without_a_seal_holds(tmp_path: Path) -> None:
    """Files without seals, seals without files and folders without either do not hold."""
    place = _put(tmp_path)
    assert not seal.holds(tmp_path / "absent")
    assert not seal.all_hold(tmp_path / "absent")
    assert not seal.all_hold(tmp_path)
    place.unlink()
    assert not seal.holds(place)
    assert not seal.all_hold(place.parent)
