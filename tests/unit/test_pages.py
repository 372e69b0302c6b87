"""Pages: sizes are bounded, tokens are opaque and checked."""

from __future__ import annotations

import base64
import json

import pytest

from kernelvault import errors
from svc_corpus import pages


@pytest.mark.parametrize(("asked", "used"), [(0, 50), (7, 7), (500, 500), (501, 500)])
def test_a_page_size_is_bounded(asked: int, used: int) -> None:
    """0 asks for the default; more than the maximum gives the maximum (google.aip.dev/158)."""
    assert pages.size(asked, default=50, maximum=500) == used


def test_a_negative_page_size_is_refused() -> None:
    """INVALID_ARGUMENT names the field."""
    with pytest.raises(errors.InvalidArgument, match="page_size"):
        pages.size(-1, default=50, maximum=500)


def test_a_token_holds_a_position() -> None:
    """What went in comes out; no token is the start."""
    token = pages.encode("samples", 12, "samples/ü")
    assert pages.decode("samples", token, int, str) == (12, "samples/ü")
    assert pages.decode("samples", "", int, str) is None


@pytest.mark.parametrize(
    "token",
    [
        "nope",
        "====",
        "ü",
        base64.urlsafe_b64encode(b"{}").decode(),
        base64.urlsafe_b64encode(b"[]").decode(),
        base64.urlsafe_b64encode(json.dumps(["0" * 16, 12, "x"]).encode()).decode(),
        pages.encode("tasks", 12, "x"),
        pages.encode("samples", "x", 12),
        pages.encode("samples", True, "x"),
        pages.encode("samples", 12, "x")[:-4],
    ],
)
def test_a_token_of_another_listing_is_refused(token: str) -> None:
    """INVALID_ARGUMENT, never a wrong page."""
    with pytest.raises(errors.InvalidArgument, match="page_token"):
        pages.decode("samples", token, int, str)
