"""How the command line shows a profile."""

from __future__ import annotations

import io

from rich.console import Console

from kernelvault.v1 import profiler_pb2
from orchestrator.commands import reports

Profile = profiler_pb2.Profile


def shown(**counters: object) -> list[str]:
    """The cells of a kernel with these counters."""
    kernel = Profile.KernelEstimate(name="add", time_ns=1e6, bound="lds", counters=Profile.Counters(**counters))  # type: ignore[arg-type]
    case = Profile.CaseEstimate(case_id="c", time_ns=1e6, floor_ns=1e5, kernels=[kernel])
    console = Console(width=200, file=io.StringIO(), record=True)
    console.print(reports.profile(Profile(device="MI300X", method_label="cpu-model", cases=[case])))
    [line] = [line for line in console.export_text().splitlines() if " add " in line]
    return line.split()


def test_a_profile_shows_what_was_counted() -> None:
    """Operations of both kinds of units, and what costs: lines, idle lanes, conflicts, atomics."""
    cells = shown(
        vector_flops=10**9,
        matrix_flops=2 * 10**9,
        coalescing=0.5,
        active_lanes=0.25,
        lds_conflict_ratio=1,
        atomics=1024,
    )
    assert [cell for cell in cells if cell in ("3", "50%", "25%", "100%", "1,024")] == [
        "3",
        "50%",
        "25%",
        "100%",
        "1,024",
    ]


def test_what_was_not_counted_is_not_shown() -> None:
    """Lanes, conflicts and atomics are empty where there are none."""
    assert [cell for cell in shown(coalescing=1) if cell.endswith("%")] == ["100%"]
