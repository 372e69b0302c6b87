"""Progress on the terminal: a bar for the whole, a line for each at work. Elsewhere a line for each that ended."""

from __future__ import annotations

from typing import Self

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, SpinnerColumn, TaskID, TextColumn, TimeElapsedColumn


class Bars:
    """Shows how far `count` things are; a context manager. Goes to stderr."""

    def __init__(self, title: str, count: int) -> None:
        console = Console(stderr=True)
        columns = (SpinnerColumn(), TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn())
        self._bars = Progress(*columns, TimeElapsedColumn(), console=console, disable=not console.is_terminal)
        self._plain = None if console.is_terminal else console
        self._whole = self._bars.add_task(title, total=count)
        self._lines: dict[str, TaskID] = {}
        self._done, self._count = 0, count

    def __enter__(self) -> Self:
        self._bars.start()
        return self

    def __exit__(self, *error: object) -> None:
        self._bars.stop()

    def begin(self, name: str) -> None:
        """Adds a line for one that is worked on."""
        if name not in self._lines:
            self._lines[name] = self._bars.add_task(f"  {name}", total=None)

    def stage(self, name: str, stage: str) -> None:
        """Shows what is done with one."""
        self.begin(name)
        self._bars.update(self._lines[name], description=f"  {name}: {stage}")

    def finish(self, name: str, said: str) -> None:
        """Counts one, says what became of it, and removes its line."""
        self._done += 1
        self._bars.advance(self._whole)
        if name in self._lines:
            self._bars.remove_task(self._lines.pop(name))
        if self._plain:
            self._plain.print(f"[{self._done}/{self._count}] {name}: {said}", markup=False, highlight=False)
