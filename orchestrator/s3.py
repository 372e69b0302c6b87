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
_PARTS = ("master", "volume", "filer", "admin")
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
    own = _own_ports(state)
    argv.append(f"-s3.port.grpc={own[0]}")
    for part, (http, grpc) in zip(_PARTS, zip(own[1::2], own[2::2], strict=True), strict=True):
        argv += [f"-{part}.port={http}", f"-{part}.port.grpc={grpc}"]
    return argv


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
    count = 2 * len(_PARTS) + 1
    known: list[int] = json.loads(path.read_text(encoding="ascii")) if path.exists() else []
    if len(known) != count:
        known = _fresh_ports(count)
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
