"""What every kernelvault service shares: stubs, configuration, server, client, errors, sandbox and replay."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from kernelvault.services import Client as Client

__version__ = "0.1.0"


def __getattr__(name: str) -> Any:
    # gRPC is loaded only where the client is used: children of the sandbox import this package too.
    if name == "Client":
        from kernelvault.services import Client

        return Client
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
