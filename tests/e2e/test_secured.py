"""All services with mutual TLS and tokens, and the command line as callers of different roles."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from kernelvault.access import roles, tokens
from tests.certificates import Authority
from tests.cluster import Cluster

pytestmark = [pytest.mark.slow, pytest.mark.timeout(600)]

SERVICES = ("corpus", "compiler", "generator", "profiler", "trainer")
PEOPLE = {"reader": "read", "author": "submit", "trainee": "train"}
EXAMPLES = Path(__file__).parents[2] / "examples"


@dataclasses.dataclass(frozen=True)
class Secured:
    """A cluster, and who may call it."""

    cluster: Cluster
    tokens: dict[str, str]

    def of(self, name: str) -> Cluster:
        """The cluster as `name` calls it."""
        settings = {**self.cluster.settings, "KERNELVAULT_TOKEN": self.tokens[name]}
        return dataclasses.replace(self.cluster, settings=settings)


@pytest.fixture(scope="module")
def secured(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Secured]:
    """Running services that trust one authority's certificates and the tokens of one file."""
    folder = tmp_path_factory.mktemp("secured")
    authority = Authority(folder)
    file, made = folder / "tokens", {}
    lines = []
    for name, role in {**dict.fromkeys(SERVICES, "service"), **PEOPLE}.items():
        made[name], entry = tokens.create(name, roles.parse(role))
        lines.append(entry.line() + "\n")
    file.write_text("".join(lines))
    person = authority.issue("person", ["person.example"])
    settings = {
        "TLS_CA_FILE": str(authority.ca),
        "TLS_CLIENT_CERT_FILE": str(person.cert),
        "TLS_CLIENT_KEY_FILE": str(person.key),
        "CORPUS_AUDIT_FILE": str(folder / "audit"),
    }
    for service in SERVICES:
        pair, token = authority.issue(service), folder / f"{service}.token"
        token.write_text(made[service])
        given = {
            "TLS_CERT_FILE": pair.cert,
            "TLS_KEY_FILE": pair.key,
            "TLS_CLIENT_CA_FILE": authority.ca,
            "TLS_CA_FILE": authority.ca,
            "TLS_CLIENT_CERT_FILE": pair.cert,
            "TLS_CLIENT_KEY_FILE": pair.key,
            "TOKENS_FILE": file,
            "TOKEN_FILE": token,
        }
        settings |= {f"{service.upper()}_{name}": str(value) for name, value in given.items()}
    named = {f"KERNELVAULT_{name}": value for name, value in settings.items()}
    cluster = Cluster(folder / "state", named)
    started = cluster.command("up")
    try:
        assert started.returncode == 0, started.stdout + started.stderr
        yield Secured(cluster, made)
    finally:
        cluster.command("down")


def test_an_author_does_the_main_job(secured: Secured) -> None:
    """Generator, compiler, profiler and corpus work together, each with its own token and certificate."""
    result = secured.of("author").json("run", "--run", "mine", "--tasks", "vector_add", "--attempts", "1")

    assert [row["verdict"] for row in result["tasks"]] == ["PASSED"]
    assert secured.of("reader").json("corpus", "stats")["sample_count"] == "1"
    audit = [json.loads(line) for line in (secured.cluster.folder.parent / "audit").read_text().splitlines()]
    seen = {(line["who"], line["certificate"], line["method"].rpartition("/")[2], line["code"]) for line in audit}
    assert {
        ("compiler", "localhost", "UpdateActionResult", "OK"),
        ("compiler", "localhost", "WriteBlob", "OK"),
        ("profiler", "localhost", "UpdateActionResult", "OK"),
        ("author", "person.example", "CreateTask", "OK"),
        ("author", "person.example", "CreateSample", "OK"),
    } <= seen


def test_rewards_are_for_trainers(secured: Secured) -> None:
    """A snapshot is frozen and turned into rewards by that role, and by no other."""
    frozen = secured.of("trainee").command("corpus", "snapshot", "first")
    rewards = secured.of("trainee").command("rewards", "first")
    refused = secured.of("author").command("corpus", "snapshot", "second")

    assert (frozen.returncode, rewards.returncode) == (0, 0), frozen.stderr + rewards.stderr
    assert refused.returncode == 2
    assert "CreateSnapshot needs the role train; author has submit" in refused.stderr


def test_a_reader_submits_nothing(secured: Secured) -> None:
    """At once, with the role that is needed."""
    refused = secured.of("reader").command("verify", EXAMPLES / "add.py", EXAMPLES / "add.hip")

    assert refused.returncode == 2
    assert "PrepareTask needs the role submit; reader has read" in refused.stderr


def test_without_a_token_nothing_is_seen(secured: Secured) -> None:
    """But for whether the services are well."""
    refused = secured.cluster.command("corpus", "stats")
    status = secured.cluster.command("status")

    assert refused.returncode == 2
    assert "the call has no token" in refused.stderr
    assert status.returncode == 0


def test_without_certificates_nobody_is_reached(secured: Secured) -> None:
    """A command says why, and does not wait."""
    plain = Cluster(secured.cluster.folder, {"KERNELVAULT_TOKEN": secured.tokens["author"]})
    refused = plain.command("corpus", "stats")

    assert refused.returncode == 2
    assert "one side does not trust the other's certificate, or only one of them speaks TLS" in refused.stderr
