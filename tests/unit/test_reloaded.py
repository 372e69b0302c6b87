"""Files that are read again when they change."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from prometheus_client import REGISTRY

from kernelvault.access.files import Reloaded, read
from kernelvault.config import ConfigError


class Number:
    """A number in a file; counts how often it was read."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.reads = 0

    def __call__(self) -> int:
        self.reads += 1
        try:
            return int(read("KERNELVAULT_NUMBER", self.path, max_bytes=10))
        except ValueError as error:
            raise ConfigError(f"{self.path} is no number") from error


@pytest.fixture
def number(tmp_path: Path) -> Number:
    """The number 1."""
    path = tmp_path / "number"
    path.write_text("1")
    return Number(path)


def stale(path: Path) -> float | None:
    """What Prometheus is told."""
    return REGISTRY.get_sample_value("kernelvault_credentials_stale", {"file": str(path)})


def test_a_file_that_stays_is_read_once(number: Number) -> None:
    """Looking is cheap."""
    reloaded = Reloaded([number.path], number)

    assert [reloaded.current() for _ in range(10)] == [1] * 10
    assert number.reads == 1


def test_a_file_that_is_written_or_replaced_is_read_again(number: Number) -> None:
    """In place, by renaming, or by a link that points elsewhere, as Kubernetes does."""
    reloaded = Reloaded([number.path], number)
    number.path.write_text("22")
    assert reloaded.current() == 22

    other = number.path.with_name("other")
    other.write_text("33")
    other.replace(number.path)
    assert reloaded.current() == 33

    elsewhere = number.path.with_name("elsewhere")
    elsewhere.write_text("44")
    number.path.unlink()
    number.path.symlink_to(elsewhere)
    assert reloaded.current() == 44


@pytest.mark.parametrize("how", ["malformed", "removed", "too large"])
def test_a_change_that_cannot_be_used_leaves_the_last_value(number: Number, how: str) -> None:
    """It is tried once, shown to Prometheus, and forgotten with the next good content."""
    reloaded = Reloaded([number.path], number)
    if how == "removed":
        number.path.unlink()
    else:
        number.path.write_text("many" if how == "malformed" else "1" * 11)

    assert [reloaded.current() for _ in range(3)] == [1] * 3
    assert number.reads == 2
    assert stale(number.path) == 1
    number.path.write_text("5")
    assert reloaded.current() == 5
    assert stale(number.path) == 0


def test_a_file_that_cannot_be_used_at_first_is_refused(number: Number) -> None:
    """A server does not begin with nothing."""
    number.path.unlink()

    with pytest.raises(ConfigError, match=r"failed to read KERNELVAULT_NUMBER='.*number': No such file or directory"):
        Reloaded([number.path], number)


def test_files_that_change_while_they_are_read_are_read_once_more(tmp_path: Path) -> None:
    """A key and its certificate belong together."""
    first, second = tmp_path / "first", tmp_path / "second"
    first.write_text("old")
    second.write_text("old")

    def both() -> str:
        seen = first.read_text()
        if seen == "old":
            for path in (first, second):
                path.write_text("brand new")
                os.utime(path)
        return f"{seen}, {second.read_text()}"

    assert Reloaded([first, second], both).current() == "brand new, brand new"
