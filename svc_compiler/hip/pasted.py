"""Files that hold a part of another file of the candidate's: clang's diagnostics name the one, its author the other."""

from __future__ import annotations

import re

_NAME = re.compile(r"kernelvault~\d+~(.+)")


def name_of(number: int, file: str) -> str:
    """The name of the file, beside the sources, that holds part `number` and is of `file`."""
    return f"kernelvault~{number}~" + re.sub(r'["\\\s]', "_", file).replace("/", "~")


def origin(path: str) -> str:
    """The file that a part is of; any other path as it is."""
    match = _NAME.fullmatch(path)
    return match[1].replace("~", "/") if match else path
