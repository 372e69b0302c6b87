"""What an operator sets for the gateway, by `KERNELVAULT_*` variables."""

from __future__ import annotations

import dataclasses
from pathlib import Path

from kernelvault import config

_UNJUDGED = ("refuse", "null")
_METHODS = ("model", "timing")


@dataclasses.dataclass(frozen=True, kw_only=True)
class GatewayConfig(config.ServerConfig):
    """The server's settings, where the services are, and limits."""

    address: str = "127.0.0.1:8080"
    # Empty: where `kernelvault up` started it.
    compiler_address: str = ""
    profiler_address: str = ""
    corpus_address: str = ""
    # Where the files are that `filename` of `POST /evaluate` names; unset: that endpoint is off.
    references_dir: Path | None = None
    # What candidates are compiled for, and what the speed-up is measured on or modelled for.
    targets: tuple[str, ...] = ("gfx942",)
    device: str = "MI300X"
    # `model`, or `timing` where the profiler has that GPU.
    method: str = "model"
    # Profiles that are younger than this are not made anew.
    profile_max_age_seconds: float = 86_400.0
    # What becomes of a candidate that can be called neither right nor wrong: `refuse` the request, or answer `null`.
    unjudged: str = "refuse"
    # Longest timeout that a request may ask for; the compiler's KERNELVAULT_MAX_TIMEOUT_SECONDS, or less.
    max_timeout_seconds: float = 300.0
    # How long a request may take, and how long it waits for a service that is away.
    request_timeout_seconds: float = 3600.0
    patience_seconds: float = 20.0
    # Requests that run at once, the size of one, and candidates of all of them that are judged at once.
    max_requests: int = 64
    max_body_bytes: int = 32 << 20
    max_batch: int = 256
    max_evaluations: int = 16

    def __post_init__(self) -> None:
        """Raises ConfigError for a word that is none of those known."""
        for name, known in (("unjudged", _UNJUDGED), ("method", _METHODS)):
            if getattr(self, name) not in known:
                raise config.ConfigError(
                    f"failed to read the configuration: KERNELVAULT_{name.upper()}={getattr(self, name)!r} is none of "
                    f"{', '.join(known)}"
                )
