"""What an operator sets for the corpus, by `KERNELVAULT_*` variables."""

from __future__ import annotations

import dataclasses
import re
from pathlib import Path

from kernelvault import config

_ENDPOINT = re.compile(r"[A-Za-z0-9.\[\]:_-]+")


@dataclasses.dataclass(frozen=True, kw_only=True)
class CorpusConfig(config.ServerConfig):
    """Where the corpus keeps its data, and its limits."""

    # Host and port of any S3 service.
    s3_endpoint: str
    # Each key by value, or by a file that holds it, as Kubernetes mounts secrets.
    s3_access_key: str = dataclasses.field(default="", repr=False)
    s3_access_key_file: Path | None = None
    s3_secret_key: str = dataclasses.field(default="", repr=False)
    s3_secret_key_file: Path | None = None
    s3_bucket: str = "kernelvault"
    s3_region: str = "us-east-1"
    # False: plain HTTP, for an S3 service on the same machine.
    s3_secure: bool = True
    # All keys start with it; several corpora may share a bucket.
    prefix: str = ""
    default_page_size: int = 50
    max_page_size: int = 500
    max_blob_bytes: int = 1 << 30
    # How long a sample waits for others, so that one commit makes all of them durable.
    commit_window_ms: float = 15.0
    # How often compaction and index refresh are considered; 0: never.
    maintenance_seconds: float = 30.0

    def __post_init__(self) -> None:
        if not _ENDPOINT.fullmatch(self.s3_endpoint):
            remedy = "give host:port; KERNELVAULT_S3_SECURE says whether it is HTTPS"
            raise config.ConfigError(
                f"failed to read the configuration: KERNELVAULT_S3_ENDPOINT={self.s3_endpoint!r}: {remedy}"
            )
        if self.prefix and not re.fullmatch(r"([A-Za-z0-9_-]+/)+", self.prefix):
            raise config.ConfigError(
                f"failed to read the configuration: KERNELVAULT_PREFIX={self.prefix!r}: use segments that end in `/`"
            )

    def credentials(self) -> tuple[str, str]:
        """The access and the secret key; raises ConfigError where one is neither given nor readable."""
        access = _secret("S3_ACCESS_KEY", self.s3_access_key, self.s3_access_key_file)
        return access, _secret("S3_SECRET_KEY", self.s3_secret_key, self.s3_secret_key_file)


def _secret(name: str, value: str, file: Path | None) -> str:
    variable = f"{config.PREFIX}{name}"
    if bool(value) == (file is not None):
        raise config.ConfigError(f"failed to read the configuration: set one of {variable} and {variable}_FILE")
    if file is None:
        return value
    try:
        return file.read_text(encoding="utf-8").strip()
    except OSError as error:
        raise config.ConfigError(f"failed to read {variable}_FILE={str(file)!r}: {error.strerror}") from error
