"""Page sizes and page tokens: opaque to clients, and valid only for the listing that they came from."""

from __future__ import annotations

import base64
import binascii
import hashlib
import json

from kernelvault import errors


def size(asked: int, *, default: int, maximum: int) -> int:
    """The page size to use; raises errors.InvalidArgument for a negative one. 0 asks for the default (AIP-158)."""
    if asked < 0:
        raise errors.InvalidArgument("page_size", f"{asked} is negative")
    return min(asked or default, maximum)


def encode(listing: str, *position: str | int) -> str:
    """A token for what follows `position` in `listing`, which names the collection and the filter."""
    text = json.dumps([_seal(listing, position), *position]).encode()
    return base64.urlsafe_b64encode(text).decode()


def decode(listing: str, token: str, *kinds: type) -> tuple[str | int, ...] | None:
    """The position in a token, one value of each of `kinds`; None for an empty token.

    Raises errors.InvalidArgument for a token that this listing did not give.
    """
    if not token:
        return None
    try:
        seal, *position = json.loads(base64.b64decode(token, altchars=b"-_", validate=True))
        if [type(value) for value in position] == list(kinds) and seal == _seal(listing, tuple(position)):
            return tuple(position)
    except (binascii.Error, ValueError, TypeError):
        pass
    message = "is not a token of this listing; start again without one, with the same filter on every page"
    raise errors.InvalidArgument("page_token", message)


def _seal(listing: str, position: tuple[str | int, ...]) -> str:
    """Tells a damaged token, or one of another listing, from a good one; it is no secret."""
    return hashlib.sha256(json.dumps([listing, *position]).encode()).hexdigest()[:16]
