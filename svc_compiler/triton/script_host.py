"""Runs a script as its author would, and says how it ended. For the children that record and interpret."""

from __future__ import annotations

import json
import random
import runpy
import sys
import traceback
from pathlib import Path
from typing import Any

import numpy as np
import torch

from svc_compiler.triton.script_reply import REPLY

SEED = 42
_MAX_MESSAGE = 2000


def run(sources: Path, main: str) -> dict[str, Any]:
    """Executes the script as `__main__`; gives how it ended: `kind` (empty: well), `message`, `file`, `line`.

    Random numbers are the same each time. An interpreter's or a compiler's own exceptions of class BaseException pass.
    """
    random.seed(SEED)
    np.random.seed(SEED)
    torch.manual_seed(SEED)
    torch.set_num_threads(1)
    sys.dont_write_bytecode = True
    sys.argv = [main]
    sys.path.insert(0, str((sources / main).parent))
    try:
        runpy.run_path(str(sources / main), run_name="__main__")
    except SystemExit as error:
        code = error.code
        return {} if code in (None, 0) else _ended("exit", f"the script exits with {code!r}", error, sources)
    except SyntaxError as error:
        ended = _ended("exception", f"{type(error).__name__}: {error.msg}", error, sources)
        if str(error.filename or "").startswith(str(sources)):
            ended.update(file=_relative(str(error.filename), sources), line=error.lineno or 0)
        return ended
    except MemoryError as error:
        return _ended("memory", "the script needs more memory than it may use", error, sources)
    except Exception as error:
        return _ended("exception", f"{type(error).__name__}: {error}".removesuffix(": "), error, sources)
    return {}


def reply(values: dict[str, Any]) -> None:
    """Leaves the answer for the parent, whole or not at all."""
    whole = Path(f".{REPLY}")
    whole.write_text(json.dumps(values))
    whole.rename(REPLY)


def _ended(kind: str, message: str, error: BaseException, sources: Path) -> dict[str, Any]:
    file, line = place(error, sources)
    return {"kind": kind, "message": message[:_MAX_MESSAGE], "file": file, "line": line}


def place(error: BaseException, sources: Path) -> tuple[str, int]:
    """The innermost line of the script that the error came through."""
    for frame in reversed(traceback.extract_tb(error.__traceback__)):
        if frame.filename.startswith(f"{sources}/"):
            return _relative(frame.filename, sources), frame.lineno or 0
    return "", 0


def _relative(filename: str, sources: Path) -> str:
    return filename.removeprefix(str(sources)).lstrip("/")
