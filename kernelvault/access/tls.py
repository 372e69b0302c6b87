"""Certificates and keys as files: checked before gRPC sees them, for it would only say that a handshake failed."""

from __future__ import annotations

import ssl
from pathlib import Path
from typing import NamedTuple

from kernelvault import config
from kernelvault.access import files
from kernelvault.config import ConfigError

_REFUSED = "failed to read the configuration"


class ServerPem(NamedTuple):
    """What a server shows, and whom it lets vouch for callers (PEM); without `client_ca` nobody is asked."""

    key: bytes
    chain: bytes
    client_ca: bytes | None


class ClientPem(NamedTuple):
    """Whom a client lets vouch for servers, and what it shows if it is asked (PEM)."""

    ca: bytes
    key: bytes | None
    chain: bytes | None


def of_server(settings: config.ServerConfig) -> files.Reloaded[ServerPem] | None:
    """The server's certificates; None: it has none. Raises ConfigError where they are incomplete or do not fit."""
    cert, key, ca = settings.tls_cert_file, settings.tls_key_file, settings.tls_client_ca_file
    if cert is None or key is None:
        if cert or key or ca:
            raise ConfigError(
                f"{_REFUSED}: set both KERNELVAULT_TLS_CERT_FILE and KERNELVAULT_TLS_KEY_FILE, "
                "with KERNELVAULT_TLS_CLIENT_CA_FILE if callers must show certificates"
            )
        return None

    def read() -> ServerPem:
        chain, secret = _pair("KERNELVAULT_TLS_CERT_FILE", cert, "KERNELVAULT_TLS_KEY_FILE", key)
        return ServerPem(secret, chain, _authorities("KERNELVAULT_TLS_CLIENT_CA_FILE", ca) if ca else None)

    return files.Reloaded([path for path in (cert, key, ca) if path], read)


def of_client(settings: config.ClientConfig) -> files.Reloaded[ClientPem] | None:
    """The client's certificates; None: it speaks plain text. Raises ConfigError as `of_server` does."""
    ca, cert, key = settings.tls_ca_file, settings.tls_client_cert_file, settings.tls_client_key_file
    if bool(cert) != bool(key):
        raise ConfigError(
            f"{_REFUSED}: set both KERNELVAULT_TLS_CLIENT_CERT_FILE and KERNELVAULT_TLS_CLIENT_KEY_FILE, or neither"
        )
    if ca is None:
        if cert or settings.tls_server_name:
            raise ConfigError(f"{_REFUSED}: set KERNELVAULT_TLS_CA_FILE, by which servers are known, too")
        return None

    def read() -> ClientPem:
        trusted = _authorities("KERNELVAULT_TLS_CA_FILE", ca)
        if cert is None or key is None:
            return ClientPem(trusted, None, None)
        chain, secret = _pair("KERNELVAULT_TLS_CLIENT_CERT_FILE", cert, "KERNELVAULT_TLS_CLIENT_KEY_FILE", key)
        return ClientPem(trusted, secret, chain)

    return files.Reloaded([path for path in (ca, cert, key) if path], read)


def _pair(cert_variable: str, cert: Path, key_variable: str, key: Path) -> tuple[bytes, bytes]:
    chain, secret = files.read(cert_variable, cert), files.read(key_variable, key)
    try:
        # An encrypted key would make OpenSSL ask the terminal.
        ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER).load_cert_chain(cert, key, password=lambda: "")
    except (ssl.SSLError, OSError, ValueError) as error:
        raise ConfigError(
            f"failed to use {cert_variable}={str(cert)!r} with {key_variable}={str(key)!r}: they are not a PEM "
            f"certificate chain and its unencrypted key ({_reason(error)})"
        ) from error
    return chain, secret


def _authorities(variable: str, path: Path) -> bytes:
    data = files.read(variable, path)
    try:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
        context.load_verify_locations(cadata=data.decode("ascii"))
    except (ssl.SSLError, ValueError) as error:
        raise ConfigError(
            f"failed to use {variable}={str(path)!r}: it holds no PEM certificates ({_reason(error)})"
        ) from error
    return data


def _reason(error: Exception) -> str:
    return (error.reason or "") if isinstance(error, ssl.SSLError) and error.reason else str(error)
