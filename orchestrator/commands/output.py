"""Messages as JSON, and coroutines as commands."""

from __future__ import annotations

import asyncio
import json
import sys
from collections.abc import Coroutine
from typing import Any, TypeVar

from google.protobuf import json_format
from google.protobuf.message import Message

from kernelvault import errors

Result = TypeVar("Result")


def as_dict(message: Message) -> dict[str, Any]:
    """A message as JSON, with the names of the protos."""
    given: dict[str, Any] = json_format.MessageToDict(message, preserving_proto_field_name=True)
    return given


def print_json(value: Any) -> None:
    """Prints a value for programs."""
    print(json.dumps(value, indent=2, ensure_ascii=False))


class Waiting:
    """Says on stderr why a command waits: each reason once."""

    def __init__(self) -> None:
        self._said: set[str] = set()

    def __call__(self, error: errors.Error) -> None:
        reason = str(error)
        if reason not in self._said:
            self._said.add(reason)
            print(f"waiting: {reason}", file=sys.stderr)


def finish(work: Coroutine[Any, Any, Result]) -> Result:
    """Runs a coroutine to its end; Ctrl-C cancels it, its calls and what they run."""
    return asyncio.run(work)
