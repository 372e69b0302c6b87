"""Connections to servers: encrypted, balanced over replicas, with the caller's token, renewed with its certificates."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

import grpc

from kernelvault import config
from kernelvault.access import exposure, tls
from kernelvault.access.outgoing import Authorization

MAX_MESSAGE_BYTES = 64 << 20
_OPTIONS = (
    ("grpc.max_receive_message_length", MAX_MESSAGE_BYTES),
    ("grpc.max_send_message_length", MAX_MESSAGE_BYTES),
    ("grpc.lb_policy_name", "round_robin"),
    ("grpc.keepalive_time_ms", 60_000),
    ("grpc.enable_retries", 0),
    ("grpc.min_reconnect_backoff_ms", 200),
    ("grpc.max_reconnect_backoff_ms", 2_000),
    # How soon a name may be looked up again when a replica is gone: not half a minute after a roll-out.
    ("grpc.dns_min_time_between_resolutions_ms", 5_000),
)


def channel(address: str, settings: config.ClientConfig | None = None) -> Channel:
    """A channel that spreads its calls over all addresses that the name resolves to, or that are listed.

    `address`: `host:port`, `dns:///name:port`, `ipv4:10.0.0.1:50052,10.0.0.2:50052`. Raises ConfigError where it would
    cross the network in plain text, or where a certificate or the token cannot be used.
    """
    return Channel(address, settings or config.ClientConfig())


class Channel(grpc.aio.Channel):  # type: ignore[misc]
    """Calls go over a connection made with the certificates as they are now.

    gRPC reads a client's certificates once. So each call looks whether the files changed, and the first one after a
    change opens a new connection; the calls of the old one end where they began.
    """

    def __init__(self, address: str, settings: config.ClientConfig) -> None:
        exposure.check_dialling(address, settings)
        self._address = address
        self._server_name = settings.tls_server_name
        self._pem = tls.of_client(settings)
        self._authorization = Authorization(settings)
        self._connection: _Connection | None = None
        self._retired: list[_Connection] = []

    def unary_unary(self, method: str, *arguments: Any, **options: Any) -> Any:
        return _Method(self, lambda channel: channel.unary_unary(method, *arguments, **options))

    def unary_stream(self, method: str, *arguments: Any, **options: Any) -> Any:
        return _Method(self, lambda channel: channel.unary_stream(method, *arguments, **options))

    def stream_unary(self, method: str, *arguments: Any, **options: Any) -> Any:
        return _Method(self, lambda channel: channel.stream_unary(method, *arguments, **options))

    def stream_stream(self, method: str, *arguments: Any, **options: Any) -> Any:
        return _Method(self, lambda channel: channel.stream_stream(method, *arguments, **options))

    async def __aenter__(self) -> Channel:
        return self

    async def __aexit__(self, *exc: object) -> None:
        await self.close()

    async def close(self, grace: float | None = None) -> None:
        """Ends running calls, after `grace` seconds if it is given, and closes the connections."""
        connections = [*self._retired, *([self._connection] if self._connection else [])]
        self._retired, self._connection = [], None
        for connection in connections:
            await connection.close(grace)

    def get_state(self, try_to_connect: bool = False) -> grpc.ChannelConnectivity:
        return self.connection().channel.get_state(try_to_connect)

    async def wait_for_state_change(self, last_observed_state: grpc.ChannelConnectivity) -> None:
        await self.connection().channel.wait_for_state_change(last_observed_state)

    async def channel_ready(self) -> None:
        await self.connection().channel.channel_ready()

    def connection(self) -> _Connection:
        """The connection for a call that begins now."""
        pem = self._pem.current() if self._pem else None
        if self._connection is None or self._connection.pem is not pem:
            if self._connection is not None:
                self._retired = [old for old in self._retired if not old.closed] + [self._connection]
                self._connection.retire()
            self._connection = _Connection(self._open(pem), pem)
        return self._connection

    def headers(self) -> list[tuple[str, str]]:
        """The metadata that every call carries."""
        return self._authorization.headers()

    def _open(self, pem: tls.ClientPem | None) -> grpc.aio.Channel:
        options: list[tuple[str, Any]] = list(_OPTIONS)
        if pem is None:
            return grpc.aio.insecure_channel(self._address, options=options)
        if self._server_name:
            options += [
                ("grpc.ssl_target_name_override", self._server_name),
                ("grpc.default_authority", self._server_name),
            ]
        credentials = grpc.ssl_channel_credentials(pem.ca, pem.key, pem.chain)
        return grpc.aio.secure_channel(self._address, credentials, options=options)


class _Connection:
    """A channel of gRPC, which is closed when it is retired and its last call has ended."""

    def __init__(self, channel: grpc.aio.Channel, pem: tls.ClientPem | None) -> None:
        self.channel = channel
        self.pem = pem
        self.closed = False
        self._calls: set[Any] = set()
        self._retired = False

    def began(self, call: Any) -> Any:
        """Remembers a call until it has ended; returns it."""
        self._calls.add(call)
        # gRPC may say more than once that a call has ended.
        call.add_done_callback(self._ended)
        return call

    def retire(self) -> None:
        """No more calls will begin on it."""
        self._retired = True
        self._close_if_idle()

    async def close(self, grace: float | None) -> None:
        """Closes it, whatever runs on it."""
        self.closed = True
        await self.channel.close(grace)

    def _ended(self, call: Any) -> None:
        self._calls.discard(call)
        self._close_if_idle()

    def _close_if_idle(self) -> None:
        if self._retired and not self._calls and not self.closed:
            self.closed = True
            self._closing = asyncio.get_running_loop().create_task(self.channel.close())


class _Method:
    """A method of a stub, which is called on the connection of the moment."""

    def __init__(self, channel: Channel, bind: Callable[[grpc.aio.Channel], Any]) -> None:
        self._channel = channel
        self._bind = bind
        self._connection: _Connection | None = None
        self._bound: Any = None

    def __call__(self, *arguments: Any, metadata: Any = None, **options: Any) -> Any:
        connection = self._channel.connection()
        if connection is not self._connection:
            self._connection, self._bound = connection, self._bind(connection.channel)
        headers = [*(metadata or ()), *self._channel.headers()]
        return connection.began(self._bound(*arguments, metadata=headers, **options))
