"""Which addresses never leave this machine."""

from __future__ import annotations

import ipaddress
import re

_SCHEME = re.compile(r"(ipv4|ipv6|dns|unix|unix-abstract):")


def is_local(address: str) -> bool:
    """Whether all that `address` names is on the loopback interface, or a Unix socket.

    `address` is what gRPC takes to listen or to dial: `host:port`, `ipv4:a:1,b:2`, `dns:///name:port`, `unix:path`. A
    name other than `localhost` counts as remote, whatever it resolves to now; so does a wildcard such as `0.0.0.0`.
    """
    scheme = _SCHEME.match(address)
    kind = scheme[1] if scheme else ""
    if kind.startswith("unix"):
        return True
    rest = address[scheme.end() :] if scheme else address
    rest = rest.rpartition("/")[2]
    parts = rest.split(",") if kind.startswith("ip") else [rest]
    return all(_is_loopback(host_of(part)) for part in parts)


def host_of(address: str) -> str:
    """The host of `host:port`, `[v6]:port` or `host`."""
    if address.startswith("["):
        return address[1:].partition("]")[0]
    return address.rpartition(":")[0] if address.count(":") == 1 else address


def _is_loopback(host: str) -> bool:
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False
