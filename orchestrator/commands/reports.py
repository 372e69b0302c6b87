"""Reports, profiles and outcomes as a person reads them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from rich.console import Console, Group, RenderableType
from rich.markdown import Markdown
from rich.markup import escape
from rich.padding import Padding
from rich.table import Table

from kernelvault import similarity
from kernelvault.v1.compiler_pb2 import CaseResult, Diagnostic, Finding, TargetBuild, VerificationReport
from kernelvault.v1.corpus_pb2 import Lineage, Sample
from kernelvault.v1.kernel_pb2 import Candidate
from kernelvault.v1.plan_pb2 import Resources
from kernelvault.v1.profiler_pb2 import Profile
from orchestrator.loop import Outcome

_COLOURS = {"PASSED": "green", "NEEDS_DEVICE": "yellow"}
_MOST_LINES = 12
_MOST_CHARACTERS = 100


def verdict_name(report: VerificationReport) -> str:
    """`PASSED`, `MISMATCHED`..."""
    return VerificationReport.Verdict.Name(report.verdict)


def coloured(verdict: str) -> str:
    """A verdict with markup."""
    return f"[{_COLOURS.get(verdict, 'red')}]{verdict}[/]"


def duration(time_ns: float) -> str:
    """`12.3 µs`; empty for an unknown time."""
    if time_ns <= 0:
        return ""
    for factor, unit in ((1e9, "s"), (1e6, "ms"), (1e3, "µs")):
        if time_ns >= factor:
            return f"{time_ns / factor:.4g} {unit}"
    return f"{time_ns:.4g} ns"


def report(given: VerificationReport) -> RenderableType:
    """A verification report: the verdict, why, builds, cases."""
    parts: list[RenderableType] = [coloured(verdict_name(given)) + (" (from the cache)" if given.cached else "")]
    # An explanation is made of the findings where there are any.
    parts += [_finding(finding) for finding in given.findings[:_MOST_LINES]] or [escape(given.explanation)]
    parts += [escape(f"note: {note}") for note in given.notes]
    for build in given.builds:
        parts += [_diagnostic(build.target, line) for line in build.diagnostics[:_MOST_LINES]]
    if any(build.kernels for build in given.builds):
        parts.append(_builds(given.builds))
    if given.case_results:
        parts.append(_cases(given.case_results))
    ran, built = ", ".join(given.executed_targets) or "none", ", ".join(given.compiled_targets) or "none"
    as_target = f" (as {given.modelled_target})" if given.executed_targets and given.modelled_target else ""
    parts.append(f"ran on: {ran}{as_target}; compiled only: {built}")
    return Group(*(part for part in parts if part))


def origin(given: Lineage) -> RenderableType | None:
    """What a sample came from: a seed kernel, and the sample before it with what the model said of that."""
    parts: list[RenderableType] = []
    if given.HasField("seed_kernel"):
        known = given.seed_kernel.provenance
        parts.append(escape(f"ported from {known.source} ({known.license or 'licence unknown'})"))
    if given.baseline:
        kernel = f"the kernel {given.kernel} of " * bool(given.kernel)
        copy = ", a near-copy" * (given.edit_distance < similarity.NEAR_COPY)
        apart = f"{given.edit_distance:.1%} of the tokens differ{copy}"
        parts.append(escape(f"makes {kernel}{given.baseline} faster: {apart}"))
    if given.parent:
        parts.append(f"after {given.parent}")
    if given.HasField("reflection"):
        told = given.reflection
        tokens = f"{told.prompt_tokens} + {told.completion_tokens} tokens"
        parts += [escape(f"of which {told.model} said ({tokens}):"), Padding(Markdown(told.text), (0, 2))]
    return Group(*parts) if parts else None


def profile(given: Profile) -> RenderableType:
    """A profile: each case's kernels, what bounds them, and the advice."""
    table = Table("case", "kernel", "time", "floor", "bound", *_COUNTED, "occupancy")
    for case in given.cases:
        for kernel in case.kernels:
            table.add_row(
                case.case_id,
                escape(kernel.name),
                duration(kernel.time_ns),
                duration(case.floor_ns),
                kernel.bound,
                *_counted(kernel.counters),
                f"{kernel.occupancy_waves:g}/8 ({kernel.occupancy_limit})",
            )
    share = f"{given.roofline_fraction:.0%} of the roofline"
    head = f"{given.device}, {given.method_label}: {duration(given.time_ns)}, {share}"
    return Group(head, table, escape(given.advice))


_COUNTED = ("GFLOP", "coalescing", "active lanes", "LDS conflicts", "atomics")


def _counted(given: Profile.Counters) -> Iterator[str]:
    """What was counted of a kernel, by the names of `_COUNTED`; empty where there is nothing to tell."""
    yield f"{(given.vector_flops + given.matrix_flops) / 1e9:.3g}"
    yield f"{given.coalescing:.0%}"
    yield f"{given.active_lanes:.0%}" if given.active_lanes else ""
    yield f"{given.lds_conflict_ratio:.0%}" if given.lds_conflict_ratio else ""
    yield f"{given.atomics:,}" if given.atomics else ""


def outcomes(given: Iterable[Outcome]) -> Table:
    """The table of a run."""
    table = Table()
    for name in ("task", "level", "verdict"):
        table.add_column(name, no_wrap=name != "task")
    for name in ("attempts", "modelled time", "of roofline", "VGPRs", "LDS", "occupancy"):
        table.add_column(name, justify="right", no_wrap=True)
    table.add_column("note", ratio=1)
    for outcome in given:
        table.add_row(*_row(outcome))
    return table


def resources(given: VerificationReport) -> Resources:
    """The largest need of a kernel in the first target's build: what bounds the whole."""
    kernels = [kernel.resources for build in given.builds[:1] for kernel in build.kernels]
    if not kernels:
        return Resources()
    return Resources(
        vgprs=max(kernel.vgprs for kernel in kernels),
        lds_bytes=max(kernel.lds_bytes for kernel in kernels),
        occupancy_waves=min(kernel.occupancy_waves for kernel in kernels),
    )


def explanation_of(outcome: Outcome) -> str:
    """One line on what is not seen in the other columns."""
    best = outcome.best()
    text = outcome.note
    if not text and best is not None and best.report.verdict != VerificationReport.PASSED:
        text = best.report.explanation
    elif not text and best is not None:
        text = why_not_timed(best.report)
    if not text and (speedup := outcome.speedup()):
        text = f"{speedup:.3g} times as fast as the baseline"
    return _first_line(text)


def why_not_timed(given: VerificationReport) -> str:
    """Why a candidate that passed has no profile; empty if it can have one."""
    reasons = (reason for plan in given.plans if plan.data_dependent for reason in plan.limitations)
    listed = "; ".join(dict.fromkeys(reasons))
    return f"not timed: {listed}" if listed else ""


def _first_line(text: str) -> str:
    first = text.strip().splitlines()[0] if text.strip() else ""
    return first if len(first) <= _MOST_CHARACTERS else first[: _MOST_CHARACTERS - 1] + "…"


def console() -> Console:
    """The terminal, or a wide page where output goes to a file."""
    found = Console()
    return found if found.is_terminal else Console(width=160)


def _row(outcome: Outcome) -> list[str]:
    best, task = outcome.best(), outcome.task
    row = [escape(task.title), str(task.level or "")]
    if best is None:
        return [*row, "[red]FAILED[/]" if outcome.failed else "—", "0", *[""] * 5, escape(explanation_of(outcome))]
    need = resources(best.report)
    fraction = best.profile.roofline_fraction
    return [
        *row,
        coloured(verdict_name(best.report)),
        str(len(outcome.samples)),
        duration(best.profile.time_ns),
        f"{fraction:.0%}" if fraction else "",
        str(need.vgprs or ""),
        f"{need.lds_bytes:,}" if need.vgprs else "",
        f"{need.occupancy_waves:g}/8" if need.vgprs else "",
        escape(explanation_of(outcome)),
    ]


def _builds(builds: Iterable[TargetBuild]) -> Table:
    """A line for each kernel; a Triton kernel's variants that differ in nothing that is shown share one."""
    table = Table("target", "kernel", "VGPRs", "AGPRs", "SGPRs", "LDS", "scratch", "spills", "occupancy")
    rows = [_build_row(build.target, kernel) for build in builds for kernel in build.kernels]
    for row in dict.fromkeys(rows):
        table.add_row(*row)
    return table


def _build_row(target: str, kernel: TargetBuild.KernelBuild) -> tuple[str, ...]:
    need = kernel.resources
    numbers = (need.vgprs, need.agprs, need.sgprs, need.lds_bytes, need.scratch_bytes, need.spilled_registers)
    occupancy = f"{need.occupancy_waves:g}/8 ({need.occupancy_limit})"
    return target, escape(kernel.display_name or kernel.name), *(str(number) for number in numbers), occupancy


def _cases(results: Iterable[CaseResult]) -> Table:
    table = Table("case", "passed", "largest error", "allowed", "explanation")
    for result in results:
        worst = max((output.max_absolute_error for output in result.outputs), default=None)
        allowed = max((output.tolerance.absolute for output in result.outputs), default=None)
        mark = "[green]yes[/]" if result.passed else "[red]no[/]"
        numbers = ("" if number is None else f"{number:.3g}" for number in (worst, allowed))
        table.add_row(escape(result.case_id), mark, *numbers, escape(_first_line(result.explanation)))
    return table


def _diagnostic(target: str, line: Diagnostic) -> str:
    level = Diagnostic.Level.Name(line.level).lower()
    return escape(f"{line.file}:{line.line}:{line.column}: {level}: {line.message} [{target}]")


def _finding(finding: Finding) -> str:
    kind = Finding.Kind.Name(finding.kind).lower().replace("_", " ")
    return escape(": ".join(part for part in (finding.location, kind, finding.message) if part))


def format_name(candidate: Candidate) -> str:
    """`hip-abi`, `hip-torch` or `triton-module`."""
    return Candidate.Format.Name(candidate.format).lower().replace("_", "-")


def sample_line(sample: Sample) -> list[str]:
    """A sample as a row: name, task, verdict, format, model, time."""
    return [
        sample.name,
        escape(sample.task.removeprefix("tasks/")),
        coloured(verdict_name(sample.report)),
        format_name(sample.candidate),
        escape(sample.candidate.generation.model.removeprefix("models/")),
        duration(sample.profile.time_ns),
    ]
