"""What the profiler service is told by its environment."""

from __future__ import annotations

import dataclasses
import secrets
from pathlib import Path

from kernelvault import config

_CACHE = Path("~/.cache/kernelvault").expanduser()


@dataclasses.dataclass(frozen=True, kw_only=True)
class ProfilerConfig(config.ServerConfig):
    """The server's settings and these."""

    address: str = "127.0.0.1:50053"
    corpus_address: str = "127.0.0.1:50054"
    # Blobs and inputs. May be lost at any time.
    cache_dir: Path = _CACHE / "profiler"
    # Of the inputs; twice as much for moments.
    inputs_cache_bytes: int = 1 << 30
    # Inputs of the cases derive from it. They need not be the compiler's; empty: a new one at each start.
    case_secret: str = ""
    # Profiles that are made at once; each keeps about one core busy.
    workers: int = 1
    # Profiles that wait; one more is answered UNAVAILABLE.
    queue_size: int = 64
    # Blocks of a launch that the CPU model runs for its counters.
    sample_blocks: int = 4
    # Bounds each run on the CPU model.
    timeout_seconds: float = 120.0

    def secret(self) -> bytes:
        """The bytes that seeds derive from."""
        return self.case_secret.encode() or secrets.token_bytes(32)
