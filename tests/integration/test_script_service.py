"""Triton scripts without a task, through the real compiler and corpus."""

from __future__ import annotations

from typing import Any

import pytest

from kernelvault import client, digest, errors
from kernelvault.v1 import artifact_pb2, compiler_pb2
from orchestrator.commands import output, scripts
from tests.compiler import Compiler

Report = compiler_pb2.ScriptReport
Status = Report.Status

HEAD = "import torch\nimport triton\nimport triton.language as tl\n\n"
KERNEL = """@triton.jit
def add_kernel(x_ptr, y_ptr, out_ptr, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offsets < n
    total = tl.load(x_ptr + offsets, mask=mask) + tl.load(y_ptr + offsets, mask=mask)
    tl.store(out_ptr + offsets, total, mask=mask)

def add(x, y):
    out = torch.empty_like(x)
    add_kernel[(triton.cdiv(x.numel(), 64),)](x, y, out, x.numel(), BLOCK=64)
    return out

"""
TEST = """x, y = torch.randn(100, device="cuda"), torch.randn(100, device="cuda")
assert x.is_cuda and add(x, y).device.type == "cuda"
print(torch.cuda.get_device_name())
"""
GOOD = HEAD + KERNEL + TEST


async def examine(compiler: Compiler, source: str, *, fresh: bool = False, **fields: Any) -> Report:
    """The report on a script."""
    source_file = digest.artifact("script.py", source.encode())
    action = compiler_pb2.ScriptAction(**{"sources": [source_file], "targets": ["gfx942"], **fields})
    request = compiler_pb2.ExamineScriptRequest(action=action, skip_cache_lookup=fresh)
    updates = [u async for u in client.stream(compiler.stub.ExamineScript, request, timeout_s=150)]
    report = updates[-1].report
    assert isinstance(report, Report)
    return report


def statuses(report: Report) -> list[str]:
    """Of the three steps."""
    return [Status.Name(step.status) for step in (report.compiled, report.interpreted, report.memory_clean)]


def said(report: Report) -> str:
    """All that the report tells."""
    return str(report)


def line_of(source: str, text: str) -> int:
    """Where a text stands, counted from 1."""
    return source[: source.index(text)].count("\n") + 1


async def test_good_script_is_ok_and_kept(compiler: Compiler) -> None:
    """All three steps are OK, each target has its build, and the second answer is the first one."""
    report = await examine(compiler, GOOD, targets=["gfx950", "gfx90a", "gfx942"])
    assert statuses(report) == ["OK", "OK", "OK"], said(report)
    assert (report.launch_count, report.interpreted_launch_count) == (1, 1)
    assert [build.target for build in report.builds] == ["gfx90a", "gfx942", "gfx950"]
    [kernel] = report.builds[0].kernels
    assert "add_kernel" in kernel.display_name
    assert kernel.resources.vgprs > 0
    again = await examine(compiler, GOOD, targets=["gfx942", "gfx950", "gfx90a"])
    assert again.cached
    again.cached = False
    assert again == report
    assert not (await examine(compiler, GOOD, targets=["gfx90a", "gfx942", "gfx950"], fresh=True)).cached


async def test_true_values_decide_in_the_interpreter(compiler: Compiler) -> None:
    """A script's assertion on a result holds where kernels run, and fails where they are wrong."""
    test = TEST + "torch.testing.assert_close(add(x, y), x + y)\n"
    good = await examine(compiler, HEAD + KERNEL + test)
    assert good.interpreted.status == Report.OK, said(good)
    bad = await examine(compiler, HEAD + KERNEL.replace("+ tl.load(y", "- tl.load(y") + test)
    assert bad.interpreted.status == Report.FAILED, said(bad)
    assert "AssertionError" in bad.interpreted.explanation
    assert bad.interpreted.location == f"script.py:{line_of(HEAD + KERNEL + test, 'torch.testing')}"


async def test_access_beyond_a_buffer_is_found(compiler: Compiler) -> None:
    """A store without its mask is a finding with line, buffer and distance; the script still runs."""
    source = GOOD.replace("total, mask=mask", "total")
    report = await examine(compiler, source)
    assert statuses(report) == ["OK", "OK", "FAILED"], said(report)
    [finding] = report.findings
    assert finding.kind == compiler_pb2.Finding.OUT_OF_BOUNDS
    assert finding.location == report.memory_clean.location == f"script.py:{line_of(source, 'tl.store')}"
    assert (finding.kernel, finding.buffer) == ("add_kernel", "out_ptr")
    assert "past the end" in finding.message


async def test_programs_that_write_to_one_place_are_found(compiler: Compiler) -> None:
    """A race between programs makes memory unclean."""
    report = await examine(compiler, GOOD.replace("tl.store(out_ptr + offsets", "tl.store(out_ptr + offsets % 64"))
    assert report.memory_clean.status == Report.FAILED, said(report)
    assert report.findings[0].kind == compiler_pb2.Finding.RACE


async def test_kernel_that_does_not_compile_names_its_line(compiler: Compiler) -> None:
    """The first step fails with the author's line."""
    source = GOOD.replace("tl.arange(0, BLOCK)", "tl.arange(0, BLOCK - 1)")
    report = await examine(compiler, source)
    assert report.compiled.status == Report.FAILED, said(report)
    assert report.compiled.location == f"script.py:{line_of(source, 'tl.arange')}"
    assert not report.builds[0].compiled


async def test_one_configuration_is_enough(compiler: Compiler) -> None:
    """Of an autotuned kernel the first configurations are compiled, and the next where none of them does."""

    def source(*blocks: int) -> str:
        configurations = f"[triton.Config({{'BLOCK': n}}) for n in {blocks}]"
        kernel = KERNEL.replace("@triton.jit", f"@triton.autotune({configurations}, key=['n'])\n@triton.jit")
        return HEAD + kernel.replace("x.numel(), BLOCK=64)", "x.numel())") + TEST

    first = await examine(compiler, source(64, 128, 256), max_configurations=2)
    assert first.compiled.status == Report.OK, said(first)
    assert len(first.builds[0].kernels) == 2
    third = await examine(compiler, source(63, 65, 64, 128), max_configurations=1)
    assert third.compiled.status == Report.OK, said(third)
    assert len(third.builds[0].kernels) == 1
    none = await examine(compiler, source(63, 65))
    assert none.compiled.status == Report.FAILED, said(none)
    assert "None of the 2 configurations" in none.compiled.explanation


async def test_what_no_program_can_hold_is_compiled_where_it_is(compiler: Compiler) -> None:
    """A kernel that refers to a module of its own compiles in the script's process, which a note says."""
    helper = digest.artifact("helper.py", (HEAD + "@triton.jit\ndef twice(x):\n    return x + x\n").encode())
    source = GOOD.replace("import torch\n", "import torch\nimport helper\n").replace(
        "offsets, total", "offsets, helper.twice(total)"
    )
    script = digest.artifact("script.py", source.encode())
    report = await examine(compiler, "", sources=[script, helper], main="script.py")
    assert statuses(report) == ["OK", "OK", "OK"], said(report)
    assert any("in the script's own process" in note for note in report.notes)
    assert [kernel.name for kernel in report.builds[0].kernels] == ["add_kernel"]


@pytest.mark.parametrize(
    ("ending", "words", "line"),
    [
        ("raise ValueError('not today')\n", "ValueError: not today", True),
        ("import sys\nsys.exit(3)\n", "exits with 3", True),
        ("import os\nos._exit(0)\n", "ends its process", False),
        ("import no_such_module\n", "no_such_module", True),
        ("def f(:\n", "SyntaxError", True),
    ],
)
async def test_scripts_that_do_not_end_well(compiler: Compiler, ending: str, words: str, line: bool) -> None:
    """A script that raises or exits fails both runs, and its line is named."""
    report = await examine(compiler, GOOD + ending)
    assert statuses(report)[:2] == ["FAILED", "FAILED"], said(report)
    assert words in report.compiled.explanation
    assert (report.compiled.location != "") == line
    assert "svc_compiler" not in said(report)


async def test_script_that_launches_nothing_fails(compiler: Compiler) -> None:
    """A file without a launch says nothing about kernels."""
    report = await examine(compiler, HEAD + KERNEL)
    assert statuses(report) == ["FAILED", "OK", "NOT_RUN"], said(report)
    assert "launches no kernel" in report.compiled.explanation


async def test_endless_work_uses_up_its_time_and_is_kept(compiler: Compiler) -> None:
    """A loop meets its CPU time: the same each time, so it is answered from the cache; others are not harmed."""
    endless = GOOD + "while True:\n    pass\n"
    report = await examine(compiler, endless, timeout={"seconds": 2})
    assert statuses(report) == ["TIMED_OUT", "TIMED_OUT", "TIMED_OUT"], said(report)
    assert (await examine(compiler, endless, timeout={"seconds": 2})).cached
    assert statuses(await examine(compiler, GOOD, fresh=True)) == ["OK", "OK", "OK"]


async def test_sleep_and_crash_are_not_kept(compiler: Compiler) -> None:
    """What may come from the machine's mood is asked anew."""
    asleep = GOOD + "import time\ntime.sleep(1000)\n"
    report = await examine(compiler, asleep, timeout={"nanos": 500_000_000})
    assert statuses(report) == ["STALLED", "STALLED", "STALLED"], said(report)
    crash = GOOD + "import ctypes\nctypes.string_at(0)\n"
    report = await examine(compiler, crash)
    assert statuses(report) == ["CRASHED", "CRASHED", "CRASHED"], said(report)
    assert "SIGSEGV" in report.compiled.explanation
    assert not (await examine(compiler, crash)).cached


async def test_what_the_interpreter_lacks_needs_a_device(compiler: Compiler) -> None:
    """Inline assembly compiles and is no fault."""
    assembly = 'tl.inline_asm_elementwise("v_mov_b32 $0, $1", "=v,v", [total], dtype=tl.float32, is_pure=True, pack=1)'
    report = await examine(compiler, GOOD.replace("offsets, total, mask", f"offsets, {assembly}, mask"))
    assert statuses(report) == ["OK", "NEEDS_DEVICE", "NEEDS_DEVICE"], said(report)


async def test_addresses_in_memory_are_followed(compiler: Compiler) -> None:
    """A kernel may take the addresses of tensors from a tensor of integers."""
    source = (
        HEAD
        + """@triton.jit
def fill(addresses, n, BLOCK: tl.constexpr):
    out = tl.load(addresses + tl.program_id(0)).to(tl.pointer_type(tl.float32))
    offsets = tl.arange(0, BLOCK)
    tl.store(out + offsets, tl.full((BLOCK,), 7.0, tl.float32), mask=offsets < n)

tensors = [torch.zeros(20, device="cuda") for _ in range(3)]
fill[(3,)](torch.tensor([t.data_ptr() for t in tensors], device="cuda"), 20, BLOCK=32)
assert all((t == 7).all() for t in tensors)
"""
    )
    report = await examine(compiler, source)
    assert report.memory_clean.status == Report.OK, said(report)


@pytest.mark.parametrize(
    ("fields", "field"),
    [
        ({"sources": []}, "action.sources"),
        ({"sources": [digest.artifact("k.hip", b"x")]}, "action.sources"),
        ({"main": "other.py"}, "action.main"),
        ({"targets": ["gfx1"]}, "action.targets"),
        ({"max_configurations": 100}, "action.max_configurations"),
        ({"timeout": {"seconds": 100_000}}, "action.timeout"),
    ],
)
async def test_malformed_actions_name_the_field(compiler: Compiler, fields: dict[str, Any], field: str) -> None:
    """A bad request is an error of the call."""
    with pytest.raises(errors.InvalidArgument, match=field):
        await examine(compiler, GOOD, **fields)


def ask(**fields: Any) -> scripts.Ask:
    """What the command asks by default."""
    given = {"only": "", "limit": 0, "target": "gfx942", "jobs": 2, "timeout_s": 30, "fresh": False, "json_file": None}
    return scripts.Ask(**{**given, **fields})


async def test_a_suite_is_a_table_and_a_record(compiler: Compiler, monkeypatch: pytest.MonkeyPatch) -> None:
    """Bad scripts end no other, and the record says what became of each and why."""
    monkeypatch.setenv("KERNELVAULT_COMPILER_ADDRESS", compiler.service.address)
    sources = {"good.py": GOOD, "bad.py": GOOD + "raise ValueError('no')\n", "empty.py": ""}
    given = [artifact_pb2.Artifact(path=name, contents=source.encode()) for name, source in sources.items()]
    rows = await scripts.examine(given, ask(), ["gfx942"], output.Waiting())
    record = scripts.summary(rows, ask(), ["gfx942"], seconds=1.0)
    assert [row.script for row in rows] == list(sources)
    assert record["totals"] == {
        "files": 3,
        "compiled": 1,
        "interpreted": 1,
        "memory_clean": 1,
        "without_a_report": 1,
        "answered_from_the_cache": 0,
        "seconds": 1.0,
    }
    good, bad, empty = record["files"]
    assert (good["compiled"], good["interpreted"], good["memory_clean"], good["kernels"]) == ("OK", "OK", "OK", 1)
    assert bad["why"]["compiled"].startswith("bad.py:"), bad
    assert "is empty" in empty["fault"]


async def test_a_service_that_is_gone_is_said_so(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every script then has a fault in the place of a report."""
    monkeypatch.setenv("KERNELVAULT_COMPILER_ADDRESS", "127.0.0.1:1")
    given = [digest.artifact("good.py", GOOD.encode())]
    [row] = await scripts.examine(given, ask(), ["gfx942"], output.Waiting(), patience_s=0.5)
    assert row.report is None
    assert row.fault
