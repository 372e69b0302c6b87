"""`corpus` and `rewards`: what was kept, and what it is worth."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from pathlib import Path

from rich.progress import Progress
from rich.syntax import Syntax
from rich.table import Table

from kernelvault.services import Client
from kernelvault.v1.compiler_pb2 import VerificationReport
from kernelvault.v1.corpus_pb2 import Sample, SampleFilter
from kernelvault.v1.trainer_pb2 import ComputeRewardsRequest
from orchestrator.commands import cluster, output, reports
from orchestrator.mistake import Mistake

_COLUMNS = ("sample", "task", "verdict", "format", "model", "time")


def stats(*, as_json: bool) -> None:
    """Prints the counts."""
    cluster.require(("corpus",), start=False)

    async def ask() -> None:
        async with Client(on_wait=output.Waiting()) as client:
            counts = await client.stats()
        if as_json:
            output.print_json(output.as_dict(counts))
            return
        table = Table("what", "of", "count")
        table.add_row("samples", "", str(counts.sample_count))
        table.add_row("tasks", "", str(counts.task_count))
        table.add_row("tasks", "solved", str(counts.solved_task_count))
        table.add_row("snapshots", "", str(counts.snapshot_count))
        for what in ("verdict", "language", "model"):
            for name, count in sorted(getattr(counts, f"by_{what}").items()):
                table.add_row(f"samples by {what}", name, str(count))
        reports.console().print(table)

    output.finish(ask())


def search(query: str, *, limit: int, verdict: str, as_json: bool) -> None:
    """Prints the samples that hold the words."""
    where = _filter(verdict=verdict)
    cluster.require(("corpus",), start=False)

    async def ask() -> None:
        async with Client(on_wait=output.Waiting()) as client:
            found = [response async for response in client.search(query, where=where, limit=limit)]
        if as_json:
            output.print_json([output.as_dict(response) for response in found])
            return
        table = Table(*_COLUMNS, "score")
        for response in found:
            table.add_row(*reports.sample_line(response.sample), f"{response.score:.3g}")
        reports.console().print(table if found else f"no sample holds {query!r}")

    output.finish(ask())


def show(name: str, *, as_json: bool) -> None:
    """Prints a sample or a task."""
    if not name.startswith(("samples/", "tasks/")):
        raise Mistake(f"{name!r} names neither a sample (samples/...) nor a task (tasks/...)")
    cluster.require(("corpus",), start=False)

    async def ask() -> None:
        async with Client(on_wait=output.Waiting()) as client:
            if name.startswith("tasks/") and "/candidates/" not in name:
                task = await client.get_task(name)
                if as_json:
                    output.print_json(output.as_dict(task))
                else:
                    reports.console().print(Syntax(task.reference.contents.decode(), "python"))
                return
            sample = await client.get_sample(name)
        if as_json:
            output.print_json(output.as_dict(sample))
        else:
            _show_sample(sample)

    output.finish(ask())


def export(folder: Path, *, snapshot: str, verdict: str, run_name: str) -> None:
    """Writes `samples.jsonl` and a folder of sources for each sample."""
    if snapshot and (verdict or run_name):
        raise Mistake("a snapshot has its own filter: leave out --verdict and --run")
    where = _filter(verdict=verdict, run_name=run_name)
    cluster.require(("corpus",), start=False)
    folder.mkdir(parents=True, exist_ok=True)

    async def copy() -> int:
        count = 0
        async with Client(on_wait=output.Waiting()) as client:
            with (folder / "samples.jsonl").open("w", encoding="utf-8") as file, Progress(transient=True) as bar:
                line = bar.add_task("exporting", total=None)
                async for sample in _whole(client, snapshot, where):
                    file.write(json.dumps(output.as_dict(sample), ensure_ascii=False) + "\n")
                    _write_sources(folder, sample)
                    count += 1
                    bar.advance(line)
        return count

    count = output.finish(copy())
    reports.console().print(f"wrote {count} samples to {folder / 'samples.jsonl'} and their sources beside it")


def snapshot(name: str | None, *, verdict: str, run_name: str) -> None:
    """Freezes samples under a name; without a name, lists the snapshots."""
    where = _filter(verdict=verdict, run_name=run_name)
    cluster.require(("corpus",), start=False)

    async def ask() -> None:
        async with Client(on_wait=output.Waiting()) as client:
            if name:
                made = await client.create_snapshot(name.removeprefix("snapshots/"), where)
                reports.console().print(f"{made.name}: {made.sample_count} samples")
                return
            table = Table("snapshot", "samples", "made")
            async for kept in client.snapshots():
                table.add_row(kept.name, str(kept.sample_count), kept.create_time.ToJsonString())
            reports.console().print(table)

    output.finish(ask())


def rewards(snapshot: str, formula: str, *, as_json: bool) -> None:
    """Prints the reward of each sample of a snapshot."""
    known = {name.lower().replace("_", "-"): name for name in ComputeRewardsRequest.Formula.keys()[1:]}
    if formula not in known:
        raise Mistake(f"unknown formula {formula!r}: known are {', '.join(known)}")
    full_name = snapshot if snapshot.startswith("snapshots/") else f"snapshots/{snapshot}"
    cluster.require(("trainer", "corpus"), start=False)

    async def ask() -> None:
        async with Client(on_wait=output.Waiting()) as client:
            found = [response async for response in client.rewards(full_name, known[formula])]
        if as_json:
            output.print_json([output.as_dict(response) for response in found])
            return
        table = Table("sample", "verdict", "reward", "speed-up", "novelty")
        for one in found:
            verdict = reports.coloured(VerificationReport.Verdict.Name(one.verdict))
            reward = "skipped" if one.skipped else f"{one.reward:.4g}"
            table.add_row(one.sample, verdict, reward, f"{one.speedup:.3g}", f"{one.novelty:.2f}")
        reports.console().print(table)

    output.finish(ask())


async def _whole(client: Client, snapshot: str, where: SampleFilter) -> AsyncIterator[Sample]:
    if snapshot:
        full_name = snapshot if snapshot.startswith("snapshots/") else f"snapshots/{snapshot}"
        async for response in client.read_snapshot(full_name):
            yield response.sample
        return
    async for sample in client.samples(where):
        yield await client.get_sample(sample.name)


def _write_sources(folder: Path, sample: Sample) -> None:
    own = folder / "sources" / sample.task.removeprefix("tasks/") / sample.name.removeprefix("samples/")[:16]
    for source in sample.candidate.sources:
        path = (own / source.path).resolve()
        if not path.is_relative_to(folder.resolve()):
            raise Mistake(f"refused to write {source.path!r} of {sample.name}: it points out of {folder}")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(source.contents)


def _show_sample(sample: Sample) -> None:
    console = reports.console()
    console.print(f"{sample.name}\n{sample.task}, {sample.lineage.run} attempt {sample.lineage.attempt}")
    if origin := reports.origin(sample.lineage):
        console.print(origin)
    for source in sample.candidate.sources:
        language = "python" if source.path.endswith(".py") else "cpp"
        console.print(Syntax(source.contents.decode(errors="replace"), language))
    console.print(reports.report(sample.report))
    if sample.HasField("profile"):
        console.print(reports.profile(sample.profile))


def _filter(*, verdict: str = "", run_name: str = "") -> SampleFilter:
    where = SampleFilter()
    if verdict:
        names = VerificationReport.Verdict.keys()[1:]
        if verdict.upper() not in names:
            raise Mistake(f"unknown verdict {verdict!r}: known are {', '.join(names)}")
        where = SampleFilter(verdicts=[verdict.upper()])
    if run_name:
        where.runs.append(run_name)
    return where
