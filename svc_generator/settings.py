"""What an operator sets for the generator, by `KERNELVAULT_*` variables."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from pathlib import Path

from kernelvault import config

_CACHE = Path("~/.cache/kernelvault/generator").expanduser()
_REFUSED = "failed to read the configuration"


@dataclasses.dataclass(frozen=True, kw_only=True)
class GeneratorConfig(config.ServerConfig):
    """The server's settings and these."""

    address: str = "127.0.0.1:50051"
    corpus_address: str = "127.0.0.1:50054"
    # May be lost at any time.
    cache_dir: Path = _CACHE
    # Where a request names no model.
    default_model: str = "models/rules"
    # Calls that run at once; one more is answered UNAVAILABLE.
    queue_size: int = 64

    # An OpenAI-compatible endpoint, for example `http://127.0.0.1:8000/v1` of vLLM; empty: none.
    openai_endpoint: str = ""
    # What the endpoint serves; they are asked for as `models/{model}`.
    openai_models: tuple[str, ...] = ()
    # By value or by a file; else OPENAI_API_KEY. An endpoint of one's own may want none.
    openai_api_key: str = dataclasses.field(default="", repr=False)
    openai_api_key_file: str = ""
    # Requests to the endpoint that are open at once.
    openai_concurrency: int = 16
    # Of one completion.
    openai_timeout_seconds: float = 600.0
    # Tries of one completion, the first included.
    openai_attempts: int = 5
    # `max_tokens`, or `max_completion_tokens` for endpoints that want that name.
    openai_max_tokens_field: str = "max_tokens"
    # Defaults of `Sampling`.
    openai_temperature: float = 0.7
    openai_max_output_tokens: int = 16_384
    # A prompt is clipped to this size, by leaving out earlier attempts.
    openai_prompt_tokens: int = 24_000
    # Tokens of prompts and completions that one call, and this process, may use; 0: without limit.
    openai_call_tokens: int = 1_000_000
    openai_total_tokens: int = 0

    def __post_init__(self) -> None:
        if bool(self.openai_endpoint) != bool(self.openai_models):
            raise config.ConfigError(
                f"{_REFUSED}: set both KERNELVAULT_OPENAI_ENDPOINT and KERNELVAULT_OPENAI_MODELS, or neither"
            )
        if self.openai_endpoint and not self.openai_endpoint.startswith(("http://", "https://")):
            raise config.ConfigError(
                f"{_REFUSED}: KERNELVAULT_OPENAI_ENDPOINT={self.openai_endpoint!r} is no http:// or https:// address"
            )
        if self.openai_max_tokens_field not in ("max_tokens", "max_completion_tokens"):
            raise config.ConfigError(
                f"{_REFUSED}: KERNELVAULT_OPENAI_MAX_TOKENS_FIELD={self.openai_max_tokens_field!r} is neither "
                "`max_tokens` nor `max_completion_tokens`"
            )
        for name in ("queue_size", "openai_concurrency", "openai_attempts", "openai_max_output_tokens"):
            if getattr(self, name) < 1:
                raise config.ConfigError(f"{_REFUSED}: KERNELVAULT_{name.upper()} is below 1")

    def api_key(self, environment: Mapping[str, str]) -> str:
        """The endpoint's key; raises ConfigError for a file that cannot be read."""
        if not self.openai_api_key_file:
            return self.openai_api_key or environment.get("OPENAI_API_KEY", "")
        try:
            return Path(self.openai_api_key_file).expanduser().read_text(encoding="utf-8").strip()
        except OSError as error:
            raise config.ConfigError(
                f"failed to read KERNELVAULT_OPENAI_API_KEY_FILE={self.openai_api_key_file!r}: {error.strerror}"
            ) from error
