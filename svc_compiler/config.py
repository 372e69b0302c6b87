"""What the compiler service is told by its environment."""

from __future__ import annotations

import dataclasses
from pathlib import Path

from kernelvault import config

_CACHE = Path("~/.cache/kernelvault").expanduser()


@dataclasses.dataclass(frozen=True, kw_only=True)
class CompilerConfig(config.ServerConfig):
    """The server's settings and these."""

    address: str = "127.0.0.1:50052"
    corpus_address: str = "127.0.0.1:50054"
    # A prefix made by scripts/install-toolchain, or a ROCm install.
    toolchain: Path = _CACHE / "toolchain"
    # Compiled runtimes, precompiled headers, reference outputs. May be lost at any time.
    cache_dir: Path = _CACHE / "compiler"
    # Seeds of the cases derive from it: keep it from those who write candidates. Equal secrets give equal cases.
    case_secret: str = ""
    # Or a file that holds it.
    case_secret_file: str = ""
    # Verifications that run at once; each keeps about one core busy.
    workers: int = 2
    # Verifications that wait; one more is answered UNAVAILABLE. Each holds its sources, 1 MiB at most, and a stream;
    # asking again costs more.
    queue_size: int = 1024
    # The longest `VerifyAction.timeout`, and the default.
    max_timeout_seconds: float = 300.0
    default_timeout_seconds: float = 60.0

    def secret(self) -> bytes:
        """The bytes that seeds derive from; raises ConfigError where none are configured."""
        if self.case_secret_file:
            try:
                text = Path(self.case_secret_file).expanduser().read_text(encoding="utf-8").strip()
            except OSError as error:
                raise config.ConfigError(f"failed to read KERNELVAULT_CASE_SECRET_FILE: {error}") from error
        else:
            text = self.case_secret
        if len(text) < 16:
            raise config.ConfigError(
                "failed to read the configuration: set KERNELVAULT_CASE_SECRET or KERNELVAULT_CASE_SECRET_FILE "
                "to at least 16 characters that authors of candidates do not know"
            )
        return text.encode()
