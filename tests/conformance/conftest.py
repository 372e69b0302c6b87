"""One machine for all programs; the table by feature at the end of `make conformance`."""

from __future__ import annotations

import collections
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio

from kernelvault.replay import cpu_model
from kernelvault.sandbox.metering import MeteredSandbox
from svc_compiler.hip.toolchain import Toolchain
from tests.conformance.harness import Machine
from tests.recording import PREFIX


@pytest_asyncio.fixture(loop_scope="session", scope="session")
async def machine(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Machine]:
    """The tool chain, the recorder and the CPU model."""
    preload = [*cpu_model.PRELOAD, "svc_compiler.hip.record_child", "numpy"]
    sandbox = await MeteredSandbox.start(preload)
    yield Machine(sandbox, Toolchain.find(PREFIX, tmp_path_factory.mktemp("cache")))
    await sandbox.close()


def pytest_terminal_summary(terminalreporter: Any) -> None:
    """How many programs of each feature did what they must, and the seconds that they took."""
    rows: dict[str, list[float]] = collections.defaultdict(lambda: [0, 0, 0.0])
    for outcome in ("passed", "failed"):
        for report in terminalreporter.getreports(outcome):
            path = Path(report.nodeid.partition("::")[0])
            if report.when == "call" and path.parts[:2] == ("tests", "conformance"):
                row = rows[path.parent.name]
                row[0] += outcome == "passed"
                row[1] += 1
                row[2] += report.duration
    if rows:
        terminalreporter.write_sep("-", "conformance of the CPU model")
        total = [sum(column) for column in zip(*rows.values(), strict=True)]
        for feature, (passed, programs, seconds) in [*sorted(rows.items()), ("all", total)]:
            terminalreporter.write_line(f"{feature:<20} {passed:>4.0f} of {programs:>4.0f} {seconds:>8.1f} s")
