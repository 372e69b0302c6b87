"""Bearer tokens and the file that knows them."""

import datetime

import pytest

from kernelvault.access import roles, tokens
from kernelvault.config import ConfigError
from kernelvault.v1.access_pb2 import Access

SOON = datetime.datetime(2027, 1, 31, tzinfo=datetime.UTC)


def file_of(*lines: str) -> tokens.Tokens:
    return tokens.parse("\n".join(lines).encode(), "tokens")


def test_a_created_token_is_known_by_its_line() -> None:
    """What `create` gives to an operator and to the owner of a token fit together."""
    token, entry = tokens.create("alice", roles.parse("submit,train"), SOON)

    assert file_of(entry.line()).by_token(token) == entry
    assert entry.line().split()[:2] == ["alice", "submit,train"]
    assert entry.line().split()[3] == "2027-01-31T00:00:00Z"


def test_the_file_does_not_hold_the_token() -> None:
    """Who reads the file cannot call."""
    token, entry = tokens.create("alice", roles.parse("read"))

    assert token not in entry.line()
    assert token.removeprefix("kv_") not in entry.line()


def test_every_token_is_another() -> None:
    """256 random bits are not drawn twice."""
    assert len({tokens.create("alice", roles.parse("read"))[0] for _ in range(100)}) == 100


def test_an_unknown_token_has_no_entry() -> None:
    """Neither a token of another file, nor a hash of this one used as a token."""
    _, entry = tokens.create("alice", roles.parse("read"))

    assert file_of(entry.line()).by_token("kv_other") is None
    assert file_of(entry.line()).by_token(entry.token_sha256) is None


def test_a_certificate_line_is_no_token() -> None:
    """An empty hash is not that of any token."""
    known = file_of("compiler service certificate:compiler.kernelvault.svc")

    assert known.by_token("") is None
    assert known.by_token("compiler.kernelvault.svc") is None


def test_a_certificate_is_known_by_any_of_its_names() -> None:
    """The first name with a line counts."""
    known = file_of("compiler service certificate:compiler.svc", "robot read certificate:spiffe://cluster/robot")

    found = known.by_certificate(["other.svc", "spiffe://cluster/robot"])

    assert found is not None
    assert found.name == "robot"
    assert known.by_certificate(["other.svc"]) is None


def test_comments_and_blank_lines_say_nothing() -> None:
    """Operators may explain their file."""
    token, entry = tokens.create("alice", roles.parse("read"))

    known = file_of("# people", "", f"  {entry.line()}   # until she leaves")

    assert known.by_token(token) == entry


def test_two_tokens_of_one_name_are_both_valid() -> None:
    """A token is replaced without a moment in which its owner has none."""
    (old, old_entry), (new, new_entry) = (tokens.create("alice", roles.parse("read")) for _ in range(2))

    known = file_of(old_entry.line(), new_entry.line())

    assert known.by_token(old) == old_entry
    assert known.by_token(new) == new_entry


def test_a_token_ends_at_its_expiry() -> None:
    """The moment itself is too late."""
    _, entry = tokens.create("alice", roles.parse("read"), SOON)

    assert not entry.expired(SOON - datetime.timedelta(seconds=1))
    assert entry.expired(SOON)


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("alice read", "it is not `NAME ROLES sha256:HASH|certificate:NAME [EXPIRY]`"),
        ("al/ice read certificate:a", "the name is not 1 to 64 letters, digits, `.`, `_`, `@` and `-`"),
        ("alice write certificate:a", "'write' is no role; there are read, submit, train, service, admin"),
        ("alice role_unspecified certificate:a", "'role_unspecified' is no role"),
        ("alice READ certificate:a", "'READ' is no role"),
        ("alice read sha256:123", "the third word is neither `sha256:` with 64 hexadecimal digits nor"),
        ("alice read kv_secret", "the third word is neither"),
        ("alice read certificate:", "the third word is neither"),
        ("alice read certificate:a 2027", "'2027' is no time such as 2027-01-31T00:00:00Z"),
        ("alice read certificate:a 2027-01-31T00:00:00", "'2027-01-31T00:00:00' has no time zone; write Z for UTC"),
    ],
)
def test_a_malformed_line_is_named(line: str, message: str) -> None:
    """An operator learns which line is wrong, and how."""
    with pytest.raises(ConfigError) as caught:
        file_of("# first", line)

    assert str(caught.value).startswith("failed to read KERNELVAULT_TOKENS_FILE='tokens', line 2: ")
    assert message in str(caught.value)


def test_a_token_put_into_the_file_is_not_repeated_in_the_message() -> None:
    """A mistake must not carry the secret into a log."""
    with pytest.raises(ConfigError) as caught:
        file_of("alice read kv_secret")

    assert "kv_secret" not in str(caught.value)


def test_the_same_token_twice_is_a_mistake() -> None:
    """Which of two names would it be?"""
    _, entry = tokens.create("alice", roles.parse("read"))

    with pytest.raises(ConfigError, match="line 2: the same token stands in an earlier line"):
        file_of(entry.line(), entry.line().replace("alice", "bob"))


def test_roles_include_others() -> None:
    """`admin` may do everything, every other role may read, and none of them what another one may."""
    assert roles.widened(roles.parse("admin")) == roles.EVERY
    assert roles.widened(roles.parse("submit")) == {Access.SUBMIT, Access.READ}
    assert roles.widened(roles.parse("train,service")) == {Access.TRAIN, Access.SERVICE, Access.READ}
    assert roles.widened(frozenset()) == frozenset()


@pytest.mark.parametrize(
    ("method", "needed"),
    [
        ("/kernelvault.v1.Corpus/GetTask", "read"),
        ("/kernelvault.v1.Compiler/VerifyCandidate", "submit"),
        ("/kernelvault.v1.BlobStore/WriteBlob", "submit,service"),
        ("/kernelvault.v1.ActionCache/UpdateActionResult", "service"),
        ("/kernelvault.v1.Corpus/CreateSnapshot", "train"),
        ("/grpc.reflection.v1alpha.ServerReflection/ServerReflectionInfo", "read"),
        ("/kernelvault.v1.Corpus/DropEverything", "admin"),
        ("/another.Service/Method", "admin"),
    ],
)
def test_a_call_needs_what_its_proto_says(method: str, needed: str) -> None:
    """What no proto speaks of is for `admin` alone."""
    from kernelvault.v1 import compiler_pb2, corpus_pb2, storage_pb2

    assert all((compiler_pb2, corpus_pb2, storage_pb2))
    assert roles.needed(method) == roles.parse(needed)


def test_anybody_may_ask_for_health() -> None:
    """A probe has no token."""
    assert roles.needed("/grpc.health.v1.Health/Check") == frozenset()
    assert not roles.changes("/grpc.health.v1.Health/Check")


def test_what_readers_may_do_changes_nothing() -> None:
    """Those calls leave no line in the audit log, all others do."""
    assert not roles.changes("/kernelvault.v1.Corpus/GetTask")
    assert roles.changes("/kernelvault.v1.Corpus/CreateTask")
