"""Digests and the names that are made of them."""

import hashlib

import pytest

from kernelvault import digest, errors
from kernelvault.v1.artifact_pb2 import Artifact, Digest


def test_a_digest_is_the_sha256_and_the_size() -> None:
    """The identity of a blob is both."""
    assert digest.of_bytes(b"abc") == Digest(hash=hashlib.sha256(b"abc").hexdigest(), size_bytes=3)


def test_fields_are_kept_apart() -> None:
    """Moving a byte from one field to the next makes another name."""
    assert digest.of_fields(["ab", "c"]) != digest.of_fields(["a", "bc"])


def test_equal_messages_have_equal_digests_whatever_the_order_of_a_map() -> None:
    """Serialisation is deterministic."""
    from kernelvault.v1.kernel_pb2 import Case

    one, other = Case(shrunk={"N": 1, "M": 2}), Case(shrunk={"M": 2, "N": 1})

    assert digest.of_message(one) == digest.of_message(other)


@pytest.mark.parametrize("hash_", ["", "abc", "A" * 64, "g" * 64, "0" * 65])
def test_a_malformed_digest_is_refused(hash_: str) -> None:
    """Only 64 lowercase hexadecimal digits name a blob."""
    with pytest.raises(errors.InvalidArgument, match="not a lowercase hexadecimal SHA-256"):
        digest.check(Digest(hash=hash_, size_bytes=1))


@pytest.mark.parametrize("path", ["", "/etc/passwd", "../x", "a/../b", "a//b", "./a"])
def test_an_artifact_stays_in_its_folder(path: str) -> None:
    """A path that could leave the folder is refused."""
    with pytest.raises(errors.InvalidArgument, match="relative path"):
        digest.check_artifact(Artifact(path=path, contents=b"x"), "sources[0]")


def test_an_artifact_above_the_limit_is_refused_by_size() -> None:
    """A candidate of 10 MB is refused, and the message says how much is allowed."""
    with pytest.raises(errors.InvalidArgument, match="10000000 bytes are above the limit of 1048576") as caught:
        digest.check_artifact(Artifact(path="k.hip", contents=bytes(10_000_000)), "sources[0]")

    assert caught.value.reason == "SOURCE_TOO_LARGE"


def test_a_missing_digest_is_filled_in_and_a_wrong_one_refused() -> None:
    """A server trusts the bytes, never the digest beside them."""
    given = Artifact(path="k.hip", contents=b"x")

    assert digest.check_artifact(given, "s") == digest.artifact("k.hip", b"x")
    given.digest.CopyFrom(digest.of_bytes(b"y"))
    with pytest.raises(errors.InvalidArgument, match="does not match the contents"):
        digest.check_artifact(given, "s")


def test_equal_kernels_have_equal_names() -> None:
    """A candidate's name depends on what was written, and on nothing else."""
    source = digest.artifact("k.hip", b"x")

    name = digest.candidate_name("tasks/t", 1, 1, "run", [source])

    assert name == digest.candidate_name("tasks/t", 1, 1, "run", [source])
    assert name.startswith("tasks/t/candidates/")
    assert name != digest.candidate_name("tasks/t", 1, 1, "run", [digest.artifact("k.hip", b"y")])
