"""The local S3 server: SeaweedFS on the loopback interface, with credentials of its own."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterable
from pathlib import Path

from orchestrator import ports
from orchestrator.mistake import Mistake
from orchestrator.state import State, write_whole

ACCESS_KEY = "kernelvault"
BUCKET = "kernelvault"
_PORT_OPTIONS = (
    "s3.port.grpc",
    *(f"{part}.port{kind}" for part in ("master", "volume", "filer", "admin") for kind in ("", ".grpc")),
)
_GRPC_OFFSET = 10_000
_DEFAULT_PORT = 8333
# Not to be configured.
_SOCKETS = Path("/tmp")


def command(state: State, port: int) -> list[str]:
    """The command line of a server that keeps its data in `state` and listens on `port`; writes its credentials.

    Raises Mistake if the server is not installed.
    """
    identities = {
        "identities": [
            {
                "name": ACCESS_KEY,
                "credentials": [
                    {"accessKey": ACCESS_KEY, "secretKey": state.secret_file("s3").read_text(encoding="ascii")}
                ],
                "actions": ["Admin", "Read", "Write", "List", "Tagging"],
            }
        ]
    }
    credentials = state.path("secrets", "s3.json")
    write_whole(credentials, json.dumps(identities))
    argv = [str(_program()), "mini", f"-dir={state.path('s3', 'data')}", f"-s3.config={credentials}"]
    argv += [
        f"-ip={ports.HOST}",
        f"-ip.bind={ports.HOST}",
        f"-s3.port={port}",
        "-s3.port.iceberg=0",
        "-s3.port.lance=0",
    ]
    argv += ["-master.telemetry=false", "-webdav=false", "-admin.ui=false", f"-bucket={BUCKET}"]
    return argv + [f"-{option}={own}" for option, own in zip(_PORT_OPTIONS, _own_ports(state), strict=True)]


def preferred_port() -> int:
    """The port to listen on."""
    usual_is_usable = ports.is_free(_DEFAULT_PORT) and not _others_sockets([_DEFAULT_PORT])
    return _DEFAULT_PORT if usual_is_usable else _fresh_ports(1)[0]


def clean(state: State, port: int) -> None:
    """Removes the sockets that a stopped server leaves behind."""
    for path in _sockets([port, *_own_ports(state)]):
        path.unlink(missing_ok=True)


def _own_ports(state: State) -> list[int]:
    """The ports between the server's parts: the same at each start, so that its sockets can be found again."""
    path = state.path("s3", "ports.json")
    known: list[int] = json.loads(path.read_text(encoding="ascii")) if path.exists() else []
    if len(known) != len(_PORT_OPTIONS):
        # The server's own worker looks for the admin's gRPC port there, whatever it was told.
        fresh = _fresh_ports(1000)
        admin = next(port for port in fresh if port + _GRPC_OFFSET < 32768 and ports.is_free(port + _GRPC_OFFSET))
        fresh.remove(admin)
        known = [*fresh[: len(_PORT_OPTIONS) - 2], admin, admin + _GRPC_OFFSET]
        write_whole(path, json.dumps(known))
    return known


def _fresh_ports(count: int) -> list[int]:
    return [port for port in ports.free(2 * count + 8) if not _others_sockets([port])][:count]


def _others_sockets(given: Iterable[int]) -> list[Path]:
    """Sockets that another user's server left: one of ours could not replace them, and would not start."""
    return [path for path in _sockets(given) if path.lstat().st_uid != os.getuid()]


def _sockets(given: Iterable[int]) -> list[Path]:
    return [path for port in given for path in _SOCKETS.glob(f"seaweedfs-*-{port}.sock")]


def _program() -> Path:
    path = Path(sys.executable).with_name("weed")
    if not path.exists():
        raise Mistake(f"failed to find the S3 server at {path}: run `make setup`")
    return path
