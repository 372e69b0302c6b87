"""The local S3 server: SeaweedFS on the loopback interface, with credentials of its own."""

from __future__ import annotations

import json
import sys
from pathlib import Path

from orchestrator import ports
from orchestrator.mistake import Mistake
from orchestrator.state import State, write_whole

ACCESS_KEY = "kernelvault"
BUCKET = "kernelvault"
_PORTS = ("master", "volume", "filer", "admin")
_DEFAULT_PORT = 8333


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
    own = ports.free(2 * len(_PORTS) + 1)
    argv.append(f"-s3.port.grpc={own.pop()}")
    for part in _PORTS:
        argv += [f"-{part}.port={own.pop()}", f"-{part}.port.grpc={own.pop()}"]
    return argv


def preferred_port() -> int:
    """The port to listen on."""
    return ports.prefer(_DEFAULT_PORT)


def _program() -> Path:
    path = Path(sys.executable).with_name("weed")
    if not path.exists():
        raise Mistake(f"failed to find the S3 server at {path}: run `make setup`")
    return path
