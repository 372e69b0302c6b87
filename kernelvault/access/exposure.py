"""What a configuration would show to the network: refused unless it was said on purpose."""

from __future__ import annotations

from kernelvault.access.addresses import is_local
from kernelvault.config import ClientConfig, ConfigError, ServerConfig


def check_listening(settings: ServerConfig) -> None:
    """Raises ConfigError for a server that others reach in plain text, or without saying who they are."""
    if is_local(settings.address):
        return
    if settings.tls_cert_file is None and not settings.allow_plaintext:
        raise ConfigError(
            f"failed to listen on {settings.address}: it is not a loopback address and TLS is off; set "
            "KERNELVAULT_TLS_CERT_FILE and KERNELVAULT_TLS_KEY_FILE, or KERNELVAULT_ALLOW_PLAINTEXT=true "
            "where a service mesh encrypts"
        )
    known = settings.tokens_file is not None or settings.tls_client_ca_file is not None
    if not known and not settings.allow_anonymous:
        raise ConfigError(
            f"failed to listen on {settings.address}: it is not a loopback address and anybody could call; set "
            "KERNELVAULT_TOKENS_FILE or KERNELVAULT_TLS_CLIENT_CA_FILE, or KERNELVAULT_ALLOW_ANONYMOUS=true"
        )


def check_dialling(address: str, settings: ClientConfig) -> None:
    """Raises ConfigError for a connection that would cross the network in plain text."""
    if settings.tls_ca_file is None and not settings.allow_plaintext and not is_local(address):
        raise ConfigError(
            f"failed to call {address}: it is not a loopback address and TLS is off; set KERNELVAULT_TLS_CA_FILE, "
            "or KERNELVAULT_ALLOW_PLAINTEXT=true where a service mesh encrypts"
        )


def check_tracing(settings: ServerConfig) -> bool:
    """Whether traces leave in plain text; raises ConfigError where they would cross the network so."""
    endpoint = settings.otlp_endpoint
    if endpoint.startswith("https://"):
        return False
    if not settings.allow_plaintext and not is_local(endpoint.removeprefix("http://").rstrip("/")):
        raise ConfigError(
            f"failed to send traces to KERNELVAULT_OTLP_ENDPOINT={endpoint!r}: it is not a loopback address; begin it "
            "with https://, or set KERNELVAULT_ALLOW_PLAINTEXT=true where a service mesh encrypts"
        )
    return True
