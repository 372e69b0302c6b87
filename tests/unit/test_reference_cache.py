"""The folder of results that references leave."""

from __future__ import annotations

import os
import time
from pathlib import Path

from kernelvault.replay.reference_cache import ResultCache

KIB = 1024


def add(cache: ResultCache, key: str, size_bytes: int, *, used_s_ago: float = 0) -> Path:
    """An entry with one file."""
    with cache.job_folder() as folder:
        (folder / "made").write_bytes(bytes(size_bytes))
        entry = cache.add(key, [("inputs", folder / "made")])
    then = time.time() - used_s_ago
    os.utime(entry, (then, then))
    return entry


def test_the_least_recently_used_entries_go(tmp_path: Path) -> None:
    """Above the bound, what nobody used for a quarter of an hour is removed, the oldest first."""
    cache = ResultCache(tmp_path, 2 * KIB)
    oldest, older = (add(cache, str(age), KIB, used_s_ago=age) for age in (4000, 2000))
    newest = add(cache, "newest", KIB)
    assert [path.exists() for path in (oldest, older, newest)] == [False, True, True]


def test_the_bound_holds_over_many_entries(tmp_path: Path) -> None:
    """Also where most additions do not look at the others."""
    cache = ResultCache(tmp_path, 4 * KIB)
    ages = range(9000, 1000, -400)
    entries = [add(cache, str(age), KIB, used_s_ago=age) for age in ages]
    add(cache, "newest", KIB)
    assert [path.exists() for path in entries] == [False] * (len(ages) - 3) + [True] * 3


def test_what_may_be_in_use_stays(tmp_path: Path) -> None:
    """A caller that just got a path can open it."""
    cache = ResultCache(tmp_path, KIB)
    recent = add(cache, "recent", KIB, used_s_ago=300)
    add(cache, "newest", KIB)
    assert recent.exists()


def test_far_above_the_bound_little_is_spared(tmp_path: Path) -> None:
    """Large entries in quick succession cannot fill the disk."""
    cache = ResultCache(tmp_path, KIB)
    used = [add(cache, str(age), KIB, used_s_ago=age) for age in (300, 200, 10)]
    newest = add(cache, "newest", KIB)
    assert [path.exists() for path in (*used, newest)] == [False, False, True, True]
