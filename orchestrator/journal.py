"""What a run has done, on disk: after a crash or Ctrl-C it goes on from here. The corpus holds the results."""

from __future__ import annotations

import contextlib
import dataclasses
import fcntl
import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from google.protobuf import json_format

from kernelvault.v1.kernel_pb2 import Reflection
from orchestrator.mistake import Mistake


@dataclasses.dataclass(kw_only=True)
class Entry:
    """How far one task came."""

    # The corpus's name of the kernel that is made faster; empty where there is none, or not yet.
    baseline: str = ""
    # The corpus's names of its samples, in the order of the attempts.
    samples: list[str] = dataclasses.field(default_factory=list)
    # What the model said of samples that failed, by their names; empty where it said nothing.
    reflections: dict[str, Reflection] = dataclasses.field(default_factory=dict)
    ended: bool = False
    # Why it ended before its attempts were used up.
    note: str = ""


class Journal:
    """One JSON object a line, each durable before the call that adds it returns."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self.entries: dict[str, Entry] = {}

    @contextlib.contextmanager
    def exclusive(self) -> Iterator[None]:
        """Raises Mistake while another process works on the run."""
        with self._path.with_suffix(".lock").open("w") as file:
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                raise Mistake(
                    f"the run {self._path.stem!r} is going on already: wait, or name another with --run"
                ) from None
            yield

    def open(self, options: dict[str, Any], keys: set[str]) -> bool:
        """Reads what the run did; returns whether it goes on. A run that did all of `keys` begins anew.

        Raises Mistake where an unfinished run had other options.
        """
        lines = self._read()
        self._replay(lines)
        resumed = bool(lines) and not all(key in self.entries and self.entries[key].ended for key in keys)
        if resumed:
            if lines[0] != options:
                raise Mistake(
                    f"the run {self._path.stem!r} was begun with other options ({_differences(lines[0], options)}): "
                    "give the same ones to go on, or another name with --run"
                )
            return True
        self.entries = {}
        self._path.unlink(missing_ok=True)
        self._append(options)
        return False

    def entry(self, key: str) -> Entry:
        """How far a task came."""
        return self.entries.setdefault(key, Entry())

    def baseline(self, key: str, sample: str) -> None:
        """The kernel that is made faster was judged; its sample is in the corpus."""
        self._append({"key": key, "baseline": sample})
        self.entry(key).baseline = sample

    def attempt(self, key: str, sample: str) -> None:
        """An attempt is over; its sample is in the corpus."""
        self._append({"key": key, "sample": sample})
        self.entry(key).samples.append(sample)

    def reflection(self, key: str, sample: str, reflection: Reflection) -> None:
        """The model was asked why a sample failed."""
        told = json_format.MessageToDict(reflection, preserving_proto_field_name=True)
        self._append({"key": key, "of": sample, "reflection": told})
        self.entry(key).reflections[sample] = reflection

    def end(self, key: str, note: str) -> None:
        """Nothing more is to be done for a task."""
        self._append({"key": key, "end": note})
        self.entry(key).ended, self.entry(key).note = True, note

    def _replay(self, lines: list[dict[str, Any]]) -> None:
        self.entries = {}
        for line in lines[1:]:
            entry = self.entry(line["key"])
            if "sample" in line:
                entry.samples.append(line["sample"])
            elif "baseline" in line:
                entry.baseline = line["baseline"]
            elif "reflection" in line:
                entry.reflections[line["of"]] = json_format.ParseDict(line["reflection"], Reflection())
            else:
                entry.ended, entry.note = True, line["end"]

    def _read(self) -> list[dict[str, Any]]:
        try:
            text = self._path.read_text(encoding="utf-8")
        except FileNotFoundError:
            return []
        # A line that was cut by a crash has no end: what it said did not happen.
        whole = text[: text.rfind("\n") + 1]
        if whole != text:
            self._path.write_text(whole, encoding="utf-8")
        return [json.loads(line) for line in whole.splitlines()]

    def _append(self, line: dict[str, Any]) -> None:
        with self._path.open("a", encoding="utf-8") as file:
            file.write(json.dumps(line) + "\n")
            file.flush()
            os.fsync(file.fileno())


def _differences(old: dict[str, Any], new: dict[str, Any]) -> str:
    names = [name for name in {**new, **old} if old.get(name) != new.get(name)]
    return ", ".join(f"{name} was {old.get(name)!r}" for name in names)
