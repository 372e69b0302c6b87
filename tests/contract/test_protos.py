"""The contract: stubs, lint and documentation of the protos."""

import re
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


def test_the_reference_is_that_of_the_protos(generated: Path, tmp_path: Path) -> None:
    """Whoever changes a proto or its comments runs `make stubs`."""
    made = tmp_path / "api.md"
    source = ROOT / "build" / "kernelvault.binpb"
    subprocess.run([sys.executable, ROOT / "scripts" / "generate-api-docs", source, made], check=True)

    assert made.read_text() == (ROOT / "docs" / "api.md").read_text()


def test_every_link_of_the_reference_leads_somewhere() -> None:
    """Headings are unique, and links within the page name one of them."""
    text = (ROOT / "docs" / "api.md").read_text()
    headings = [re.sub(r"[^\w -]", "", line).lower() for line in re.findall(r"^#+ (.+)$", text, re.MULTILINE)]
    anchors = {heading.replace(" ", "-") for heading in headings}

    assert len(anchors) == len(headings)
    assert set(re.findall(r"\]\(#([^)]+)\)", text)) <= anchors


def _breaks(protos: Path) -> subprocess.CompletedProcess[str]:
    """What `buf breaking` says of a descriptor set, against the last release's."""
    buf = Path(sys.executable).with_name("buf")
    against = ["--against", ROOT / "protos" / "released.binpb"]
    return subprocess.run([buf, "breaking", protos, *against], cwd=ROOT, capture_output=True, text=True, check=False)


def test_nothing_breaks_callers_of_the_last_release(generated: Path) -> None:
    """Messages, fields, calls and values are added, never taken away or given another meaning on the wire."""
    found = _breaks(ROOT / "build" / "kernelvault.binpb")

    assert (found.returncode, found.stdout) == (0, "")


def test_a_field_that_was_taken_away_is_noticed(descriptors: FileDescriptorSet, tmp_path: Path) -> None:
    """The check above can fail."""
    broken = FileDescriptorSet()
    broken.CopyFrom(descriptors)
    message = next(m for file in broken.file for m in file.message_type if m.name == "VerifyAction")
    del message.field[-1]
    (tmp_path / "broken.binpb").write_bytes(broken.SerializeToString())

    found = _breaks(tmp_path / "broken.binpb")

    assert found.returncode != 0
    assert '"VerifyAction"' in found.stdout


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
