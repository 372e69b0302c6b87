"""What an operator sets for the trainer, by `KERNELVAULT_*` variables."""

from __future__ import annotations

import dataclasses

from kernelvault import config


@dataclasses.dataclass(frozen=True, kw_only=True)
class TrainerConfig(config.ServerConfig):
    """Where the trainer finds the corpus."""

    corpus_address: str = "127.0.0.1:50054"
