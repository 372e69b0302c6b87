"""Which role a call needs, as its proto says."""

from __future__ import annotations

import functools
from typing import Any

from google.protobuf import descriptor_pool

from kernelvault.v1 import access_pb2

Role = access_pb2.Access.Role
EVERY: frozenset[int] = frozenset(number for number in Role.values() if number)
# Any: what protoc writes for type checkers says less than types-protobuf asks for.
_EXTENSION: Any = access_pb2.access
# What is no contract of ours: probes know no token, and reflection shows what there is.
_FOREIGN = {
    "grpc.health.v1.Health": frozenset[int](),
    "grpc.reflection.v1.ServerReflection": frozenset({access_pb2.Access.READ}),
    "grpc.reflection.v1alpha.ServerReflection": frozenset({access_pb2.Access.READ}),
}


@functools.lru_cache(1024)
def needed(method: str) -> frozenset[int]:
    """The roles of which any is enough for `/package.Service/Method`; none: everybody may call it."""
    service, _, name = method.lstrip("/").rpartition("/")
    if service in _FOREIGN:
        return _FOREIGN[service]
    try:
        descriptor = descriptor_pool.Default().FindMethodByName(f"{service}.{name}")
    except KeyError:
        return frozenset({access_pb2.Access.ADMIN})
    said: access_pb2.Access = descriptor.GetOptions().Extensions[_EXTENSION]
    return frozenset(said.roles) or frozenset({access_pb2.Access.ADMIN})


def changes(method: str) -> bool:
    """Whether a call changes or costs something: looking is not enough for it."""
    roles = needed(method)
    return bool(roles) and access_pb2.Access.READ not in roles


def widened(roles: frozenset[int]) -> frozenset[int]:
    """The roles with those that they include: `admin` every other one, each other one `read`."""
    if access_pb2.Access.ADMIN in roles:
        return EVERY
    return roles | {access_pb2.Access.READ} if roles else roles


def parse(text: str) -> frozenset[int]:
    """Roles as people write them (`read,submit`); raises ValueError naming an unknown one."""
    roles = set()
    for word in text.split(","):
        if word != word.lower() or word.upper() not in Role.keys() or not Role.Value(word.upper()):  # noqa: SIM118
            raise ValueError(f"{word!r} is no role; there are {', '.join(names(EVERY))}")
        roles.add(Role.Value(word.upper()))
    return frozenset(roles)


def names(roles: frozenset[int]) -> list[str]:
    """Roles as people write them, in the order of the proto."""
    return [Role.Name(role).lower() for role in sorted(roles)]
