"""How an action is checked, completed and named."""

from __future__ import annotations

import pytest

from kernelvault import digest, errors
from kernelvault.v1 import artifact_pb2, compiler_pb2, kernel_pb2
from svc_compiler import actions

ADD = b'#include <hip/hip_runtime.h>\nextern "C" void run(hipStream_t s) {}\n'
Candidate = kernel_pb2.Candidate


def action(**fields: object) -> compiler_pb2.VerifyAction:
    given = {
        "sources": [artifact_pb2.Artifact(path="add.hip", contents=ADD)],
        "task": "tasks/add-0123456789ab",
        "targets": ["gfx942"],
    }
    return compiler_pb2.VerifyAction(**(given | fields))


async def complete(given: compiler_pb2.VerifyAction) -> compiler_pb2.VerifyAction:
    async def fetch(wanted: artifact_pb2.Digest) -> bytes:
        assert wanted == digest.of_bytes(ADD)
        return ADD

    return await actions.complete(given, fetch=fetch, default_timeout_s=60, max_timeout_s=300)


async def test_defaults_are_filled_in() -> None:
    """A minimal action comes out with language, format, entry point, digest and timeout."""
    done = await complete(action())
    assert (done.language, done.format, done.entry_point) == (Candidate.HIP, Candidate.HIP_ABI, "run")
    assert done.sources[0].digest == digest.of_bytes(ADD)
    assert done.timeout.seconds == 60


async def test_torch_extension_is_detected() -> None:
    """A source that binds with pybind11 is `hip-torch`, and its entry point is `forward`."""
    source = artifact_pb2.Artifact(path="x.hip", contents=b"PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) {}")
    done = await complete(action(sources=[source]))
    assert (done.format, done.entry_point) == (Candidate.HIP_TORCH, "forward")


async def test_python_is_a_triton_module() -> None:
    """A Python source is Triton's; its entry point is left to the module, and its main source is where that stands."""
    helpers = artifact_pb2.Artifact(path="helpers.py", contents=b"BLOCK = 64\n")
    kernel = artifact_pb2.Artifact(path="kernel.py", contents=b"import helpers\n\ndef module_fn(x):\n    return x\n")
    done = await complete(action(sources=[helpers, kernel]))
    assert (done.language, done.format, done.entry_point) == (Candidate.TRITON, Candidate.TRITON_MODULE, "")
    assert actions.work_of(done, kernel_pb2.Task(), identity="").main_source == "kernel.py"


async def test_source_by_digest_is_fetched() -> None:
    """A source without contents is read from the blob store."""
    done = await complete(action(sources=[artifact_pb2.Artifact(path="add.hip", digest=digest.of_bytes(ADD))]))
    assert done.sources[0].contents == ADD


@pytest.mark.parametrize(
    ("field", "given"),
    [
        ("action.sources", action(sources=[])),
        ("action.sources[0].contents", action(sources=[artifact_pb2.Artifact(path="a.hip")])),
        (
            "action.sources[0].contents",
            action(sources=[artifact_pb2.Artifact(path="a.hip", contents=b"x" * (10 << 20))]),
        ),
        ("action.sources[0].path", action(sources=[artifact_pb2.Artifact(path="../a.hip", contents=ADD)])),
        ("action.sources", action(sources=[artifact_pb2.Artifact(path="a.txt", contents=ADD)])),
        ("action.sources", action(sources=[artifact_pb2.Artifact(path="a.hip", contents=ADD)] * 2)),
        ("action.targets", action(targets=[])),
        ("action.targets", action(targets=["gfx9000"])),
        ("action.task", action(task="../../etc")),
        ("action.entry_point", action(entry_point="run; rm")),
        ("action.timeout", action(timeout={"seconds": 100_000})),
        ("action.language", action(language=Candidate.TRITON)),
    ],
)
async def test_bad_field_is_named(field: str, given: compiler_pb2.VerifyAction) -> None:
    """Each malformed field is refused by its own name."""
    with pytest.raises(errors.InvalidArgument) as caught:
        await complete(given)
    assert caught.value.field == field


async def test_digest_depends_on_all_that_the_report_depends_on() -> None:
    """Another source, task, target, timeout, salt or tool chain is another action."""
    task = kernel_pb2.Task(name="tasks/add-0123456789ab", title="add")
    base = await complete(action())
    changed = [
        await complete(action(sources=[artifact_pb2.Artifact(path="add.hip", contents=ADD + b"\n")])),
        await complete(action(targets=["gfx90a"])),
        await complete(action(timeout={"seconds": 5})),
        await complete(action(salt="again")),
    ]
    works = [actions.work_of(a, task, identity="clang 22") for a in [base, *changed]]
    works.append(actions.work_of(base, kernel_pb2.Task(name=task.name, title="sub"), identity="clang 22"))
    works.append(actions.work_of(base, task, identity="clang 23"))
    assert len({work.digest.hash for work in works}) == len(works)


async def test_order_of_targets_does_not_matter() -> None:
    """Targets are a set: the same ones in another order are the same action."""
    first = await complete(action(targets=["gfx942", "gfx90a"]))
    second = await complete(action(targets=["gfx90a", "gfx942", "gfx90a"]))
    assert first == second
