"""Files that hold a part of another file of the candidate's: clang's diagnostics name the one, its author the other."""

from __future__ import annotations

import re

_NAME = re.compile(r"kernelvault~\d+~([\w.~-]+)")
_MOST_CHARS = 100


def name_of(number: int, file: str) -> str:
    """The name of the file, beside the sources, that holds part `number` and is of `file`."""
    return f"kernelvault~{number}~" + re.sub(r"[^\w./-]", "_", file)[-_MOST_CHARS:].replace("/", "~")


def origin(text: str) -> str:
    """A path or a message with the names of the files that the parts are of."""
    return _NAME.sub(lambda match: match[1].replace("~", "/"), text)
