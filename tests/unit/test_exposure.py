"""What may be seen from the network."""

from pathlib import Path

import pytest

from kernelvault.access import exposure
from kernelvault.access.addresses import is_local
from kernelvault.config import ClientConfig, ConfigError, ServerConfig


@pytest.mark.parametrize(
    "address",
    [
        "127.0.0.1:50051",
        "127.8.9.10:1",
        "localhost:50051",
        "[::1]:50051",
        "::1",
        "ipv4:127.0.0.1:1,127.0.0.1:2",
        "ipv6:[::1]:1,[::1]:2",
        "dns:///localhost:5",
        "dns:localhost:5",
        "unix:/run/kernelvault.sock",
        "unix-abstract:kernelvault",
    ],
)
def test_loopback_is_local(address: str) -> None:
    """Whatever gRPC lets one write for it."""
    assert is_local(address)


@pytest.mark.parametrize(
    "address",
    [
        "0.0.0.0:50051",
        "[::]:50051",
        ":50051",
        "",
        "10.0.0.1:1",
        "compiler:50052",
        "localhost.example.org:1",
        "ipv4:127.0.0.1:1,10.0.0.1:2",
        "ipv6:[::1]:1,[fd00::1]:2",
        "dns:///compiler.kernelvault.svc:1",
        "dns://8.8.8.8/compiler:1",
        "127.0.0.1.example.org:1",
        "[::ffff:10.0.0.1]:1",
    ],
)
def test_everything_else_is_remote(address: str) -> None:
    """One address of a list is enough, and so is a name that somebody else resolves."""
    assert not is_local(address)


def test_a_server_that_others_reach_wants_tls() -> None:
    """Plain text is refused, with what to set."""
    with pytest.raises(ConfigError) as caught:
        exposure.check_listening(ServerConfig(address="0.0.0.0:50052", tokens_file=Path("tokens")))

    assert str(caught.value) == (
        "failed to listen on 0.0.0.0:50052: it is not a loopback address and TLS is off; set KERNELVAULT_TLS_CERT_FILE "
        "and KERNELVAULT_TLS_KEY_FILE, or KERNELVAULT_ALLOW_PLAINTEXT=true where a service mesh encrypts"
    )


def test_a_server_that_others_reach_wants_to_know_them() -> None:
    """Anonymous callers are refused, with what to set."""
    with pytest.raises(ConfigError) as caught:
        exposure.check_listening(ServerConfig(address="0.0.0.0:50052", tls_cert_file=Path("c"), tls_key_file=Path("k")))

    assert str(caught.value) == (
        "failed to listen on 0.0.0.0:50052: it is not a loopback address and anybody could call; set "
        "KERNELVAULT_TOKENS_FILE or KERNELVAULT_TLS_CLIENT_CA_FILE, or KERNELVAULT_ALLOW_ANONYMOUS=true"
    )


@pytest.mark.parametrize(
    "settings",
    [
        ServerConfig(),
        ServerConfig(address="0.0.0.0:1", allow_plaintext=True, allow_anonymous=True),
        ServerConfig(address="0.0.0.0:1", allow_plaintext=True, tokens_file=Path("t")),
        ServerConfig(address="0.0.0.0:1", tls_cert_file=Path("c"), tls_key_file=Path("k"), tokens_file=Path("t")),
        ServerConfig(
            address="0.0.0.0:1", tls_cert_file=Path("c"), tls_key_file=Path("k"), tls_client_ca_file=Path("a")
        ),
    ],
)
def test_what_an_operator_says_on_purpose_is_allowed(settings: ServerConfig) -> None:
    """Encrypted and known, or said to be neither; on the loopback interface nothing is needed."""
    exposure.check_listening(settings)


def test_a_client_does_not_call_others_in_plain_text() -> None:
    """A token would be read by everybody on the way."""
    with pytest.raises(ConfigError) as caught:
        exposure.check_dialling("dns:///corpus:50054", ClientConfig(token="kv_secret"))

    assert str(caught.value) == (
        "failed to call dns:///corpus:50054: it is not a loopback address and TLS is off; set KERNELVAULT_TLS_CA_FILE, "
        "or KERNELVAULT_ALLOW_PLAINTEXT=true where a service mesh encrypts"
    )


def test_a_client_calls_where_it_may() -> None:
    """With TLS, on the loopback interface, or where it was said."""
    exposure.check_dialling("corpus:1", ClientConfig(tls_ca_file=Path("ca")))
    exposure.check_dialling("127.0.0.1:1", ClientConfig())
    exposure.check_dialling("corpus:1", ClientConfig(allow_plaintext=True))


def test_traces_leave_encrypted_too() -> None:
    """The collector's address decides; another machine's is refused in plain text."""
    assert exposure.check_tracing(ServerConfig(otlp_endpoint="https://otel:4317")) is False
    assert exposure.check_tracing(ServerConfig(otlp_endpoint="http://127.0.0.1:4317")) is True
    assert exposure.check_tracing(ServerConfig(otlp_endpoint="http://otel:4317", allow_plaintext=True)) is True
    with pytest.raises(ConfigError, match=r"failed to send traces to KERNELVAULT_OTLP_ENDPOINT='http://otel:4317'"):
        exposure.check_tracing(ServerConfig(otlp_endpoint="http://otel:4317"))
