"""Where the services are: `KERNELVAULT_<SERVICE>_ADDRESS`, else what `kernelvault up` wrote, else the default ports."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from pathlib import Path

from kernelvault.config import PREFIX

DEFAULT_PORTS = {"generator": 50051, "compiler": 50052, "profiler": 50053, "corpus": 50054, "trainer": 50055}


def state_folder(environment: Mapping[str, str] = os.environ) -> Path:
    """Where `kernelvault up` keeps its state: `KERNELVAULT_STATE`, else `~/.local/state/kernelvault`."""
    return Path(environment.get(PREFIX + "STATE") or "~/.local/state/kernelvault").expanduser().absolute()


def known(environment: Mapping[str, str] = os.environ) -> dict[str, str]:
    """The address of each of the five services."""
    written = _written(state_folder(environment) / "services.json")
    return {
        name: environment.get(f"{PREFIX}{name.upper()}_ADDRESS") or written.get(name) or f"127.0.0.1:{port}"
        for name, port in DEFAULT_PORTS.items()
    }


def _written(path: Path) -> dict[str, str]:
    try:
        records = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return {name: record["address"] for name, record in records.items()}
