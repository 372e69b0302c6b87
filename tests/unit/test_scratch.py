"""Folders for work in progress."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

from kernelvault.scratch import own_folder

HOLD = """
import sys, time
from pathlib import Path
from kernelvault.scratch import own_folder
with own_folder(Path(sys.argv[1])) as folder:
    (folder / "work").mkdir()
    print(folder, flush=True)
    time.sleep(60)
"""


def grow_old(folder: Path) -> None:
    """Makes a folder look an hour old."""
    then = time.time() - 3600
    os.utime(folder, (then, then))


def test_a_folder_goes_with_its_block(tmp_path: Path) -> None:
    """What was made in it is gone at the end."""
    with own_folder(tmp_path) as folder:
        (folder / "work").mkdir()
    assert not list(tmp_path.iterdir())


def test_what_a_killed_process_left_is_removed_by_the_next(tmp_path: Path) -> None:
    """The folder of a process that lives stays, however old; once it was killed the next one removes it."""
    with subprocess.Popen([sys.executable, "-c", HOLD, tmp_path], stdout=subprocess.PIPE, text=True) as holder:
        assert holder.stdout
        held = Path(holder.stdout.readline().strip())
        grow_old(held)
        with own_folder(tmp_path):
            assert (held / "work").exists()
        holder.send_signal(signal.SIGKILL)
        holder.wait()
        with own_folder(tmp_path) as folder:
            assert list(tmp_path.iterdir()) == [folder]


def test_a_folder_that_is_just_made_stays(tmp_path: Path) -> None:
    """Between its making and its lock nobody removes it."""
    (tmp_path / "young").mkdir()
    with own_folder(tmp_path):
        assert (tmp_path / "young").exists()
