"""The contract: stubs, lint and documentation of the protos."""

import subprocess
import sys
from pathlib import Path

import pytest
from google.protobuf.descriptor_pb2 import FileDescriptorSet

from kernelvault.v1 import access_pb2

ROOT = Path(__file__).parents[2]
_SERVICE, _METHOD = 6, 2  # field numbers of FileDescriptorProto.service and ServiceDescriptorProto.method


@pytest.fixture(scope="module")
def generated(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Stubs that were made from the protos just now."""
    folder = tmp_path_factory.mktemp("stubs")
    subprocess.run([ROOT / "scripts" / "generate-stubs", folder], check=True)
    return folder


@pytest.fixture(scope="module")
def descriptors(generated: Path) -> FileDescriptorSet:
    """All protos with their comments."""
    return FileDescriptorSet.FromString((ROOT / "build" / "kernelvault.binpb").read_bytes())


def test_committed_stubs_are_those_of_the_protos(generated: Path) -> None:
    """Whoever changes a proto runs `make stubs`."""
    made = {path.name: path.read_text() for path in (generated / "kernelvault" / "v1").glob("*.py*")}
    committed = {path.name: path.read_text() for path in (ROOT / "kernelvault" / "v1").glob("*.py*")}

    assert sorted(made) == sorted(committed)
    assert [name for name in made if made[name] != committed[name]] == []


def test_buf_finds_nothing_to_complain_about(generated: Path) -> None:
    """The protos follow the house rules in buf.yaml."""
    buf = Path(sys.executable).with_name("buf")

    lint = subprocess.run(
        [buf, "lint", ROOT / "build" / "kernelvault.binpb"], cwd=ROOT, capture_output=True, text=True, check=False
    )

    assert (lint.returncode, lint.stdout) == (0, "")


def test_every_call_lists_its_errors(descriptors: FileDescriptorSet) -> None:
    """A caller learns from the comment of a call which errors to expect."""
    silent = []
    for file in descriptors.file:
        comments = {tuple(place.path): place.leading_comments for place in file.source_code_info.location}
        for s, service in enumerate(file.service):
            for m, method in enumerate(service.method):
                if "Errors:" not in comments.get((_SERVICE, s, _METHOD, m), ""):
                    silent.append(f"{service.name}.{method.name}")

    assert silent == []


def test_every_service_is_there(descriptors: FileDescriptorSet) -> None:
    """The contract has the five services, and the stores that the corpus serves."""
    names = {service.name for file in descriptors.file for service in file.service}

    assert names == {"Generator", "Compiler", "Profiler", "Corpus", "BlobStore", "ActionCache", "Trainer"}


def test_every_call_says_who_may_make_it(descriptors: FileDescriptorSet) -> None:
    """A call without a role needs `admin`, which nobody would notice on a machine without tokens."""
    open_to_all = [
        f"{service.name}.{method.name}"
        for file in descriptors.file
        for service in file.service
        for method in service.method
        if not method.options.Extensions[access_pb2.access].roles
        or access_pb2.Access.ROLE_UNSPECIFIED in method.options.Extensions[access_pb2.access].roles
    ]

    assert open_to_all == []
