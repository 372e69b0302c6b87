"""Many candidates at once: whether all are answered rightly, and what that costs in CPU time, memory and leftovers.

usage: python -m benchmarks.load [COUNT [CLIENTS]]     (services must be up: `kernelvault up`)

First a tenth of COUNT by one client, one after another; then COUNT from CLIENTS processes, each of which asks for all
of its share at once. All candidates are distinct: the ten of `candidates/`, a `hip-abi` and a Triton one, and wrong
forms of each (another result, an error of the compiler, an access out of bounds), salted by a comment; both runs have
as many of each kind, so that COUNT is rounded up. Printed are the answers against what is known of each kind, CPU
seconds a candidate (the compiler with its zygotes and all their jobs, corpus and store), and the compiler's memory
(proportional set size with all descendants) by quarters of the run, so that growth shows. After it no process, file
or descriptor of it may be left.
"""

from __future__ import annotations

import asyncio
import concurrent.futures
import dataclasses
import math
import multiprocessing
import os
import statistics
import sys
import time
import uuid
from collections.abc import AsyncIterator
from pathlib import Path

from benchmarks import known, verify
from kernelvault import Client, digest
from kernelvault.v1 import compiler_pb2
from orchestrator import processes
from orchestrator.state import State

# Of the CPU seconds that a candidate takes of a single client.
BAR = 1.1
_PATIENCE_S = 3600.0
_SAMPLE_S = 1.0
_SETTLE_S = 3.0
_TICKS = os.sysconf("SC_CLK_TCK")
Verdict = compiler_pb2.VerificationReport.Verdict


@dataclasses.dataclass(frozen=True)
class Kind:
    """A source, its task, and how its verification must end."""

    task: str
    path: str
    source: bytes
    expected: str


@dataclasses.dataclass(frozen=True)
class Load:
    """What a run has cost."""

    wall_seconds: float
    cpu_seconds: float
    # Proportional set size of the compiler's family, a sample a second.
    memory_bytes: list[int]
    # Of each answer.
    waits_s: list[float]
    wrong: list[str]


async def main(count: int, clients: int) -> None:
    """Measures and prints; exits with 1 where a candidate was answered wrongly or something is left."""
    async with Client() as client:
        kinds = [kind async for kind in all_kinds(client)]
        await asyncio.gather(*(ask(client, kind) for kind in kinds))
    before = leftovers()
    with concurrent.futures.ProcessPoolExecutor(clients, multiprocessing.get_context("spawn")) as pool:
        alone = await load(pool, shares(kinds, count // 10, 1), at_once=False)
        many = await load(pool, shares(kinds, count, clients), at_once=True)
    await asyncio.sleep(_SETTLE_S)
    left = {name: after for name, after in leftovers().items() if after > before[name]}
    show("1 client", alone)
    show(f"{clients} clients", many)
    ratio = (many.cpu_seconds / len(many.waits_s)) / (alone.cpu_seconds / len(alone.waits_s))
    print(f"CPU seconds a candidate: {ratio:.2f} times those of one client, bar {BAR}")
    print(f"left of it: {left or 'nothing'}" + f" (before: { {name: before[name] for name in left} })" * bool(left))
    for line in (alone.wrong + many.wrong)[:20]:
        print(line)
    sys.exit(1 if left or alone.wrong or many.wrong else 0)


async def all_kinds(client: Client) -> AsyncIterator[Kind]:
    """Right and wrong candidates of each format."""
    for one in known.all_known():
        task, source = await known.task(client, one.reference), one.source.read_bytes()
        yield Kind(task, one.source.name, source, "PASSED")
        yield Kind(task, one.source.name, source.replace(b"contiguous()", b"contiguos()", 1), "COMPILE_FAILED")
    task = await known.task(client, verify.ADD)
    for bench in verify.BENCHES[:2]:
        yield Kind(task, bench.path, bench.source, "PASSED")
        yield Kind(task, bench.path, bench.source.replace(b"a[i] + b[i]", b"a[i] - b[i]"), "MISMATCHED")
        yield Kind(task, bench.path, bench.source.replace(b"if (i < n)", b"if (i <= n)"), "UNSAFE")
    triton = verify.BENCHES[2]
    task = await known.task(client, triton.reference)
    yield Kind(task, triton.path, triton.source, "PASSED")
    yield Kind(task, triton.path, triton.source.replace(b"tl.exp(x - ", b"tl.exp(x + "), "MISMATCHED")


def shares(kinds: list[Kind], count: int, clients: int) -> list[list[Kind]]:
    """At least `count` kinds, as many of each, dealt to `clients`."""
    dealt = kinds * max(1, math.ceil(count / len(kinds)))
    return [dealt[index::clients] for index in range(clients)]


async def load(pool: concurrent.futures.Executor, parts: list[list[Kind]], *, at_once: bool) -> Load:
    """Runs a client process for each part and watches the services meanwhile."""
    loop, used, started = asyncio.get_running_loop(), services_cpu_seconds(), time.monotonic()
    waiting = asyncio.gather(*(loop.run_in_executor(pool, run_client, part, at_once) for part in parts))
    memory = []
    while not waiting.done():
        memory.append(family_memory_bytes())
        await asyncio.wait([waiting], timeout=_SAMPLE_S)
    answers = [answer for part in waiting.result() for answer in part]
    return Load(
        wall_seconds=time.monotonic() - started,
        cpu_seconds=services_cpu_seconds() - used,
        memory_bytes=memory,
        waits_s=[wait for wait, _ in answers],
        wrong=[wrong for _, wrong in answers if wrong],
    )


def run_client(part: list[Kind], at_once: bool) -> list[tuple[float, str]]:
    """A client process: seconds until each answer, and what was wrong with it."""

    async def everything() -> list[tuple[float, str]]:
        async with Client() as client:
            if at_once:
                return await asyncio.gather(*(ask(client, kind) for kind in part))
            return [await ask(client, kind) for kind in part]

    return asyncio.run(everything())


async def ask(client: Client, kind: Kind) -> tuple[float, str]:
    """Verifies a candidate that nobody has asked for before."""
    mark = b"#" if kind.path.endswith(".py") else b"//"
    source = digest.artifact(kind.path, kind.source + mark + b" " + uuid.uuid4().hex.encode() + b"\n")
    action = compiler_pb2.VerifyAction(sources=[source], task=kind.task, targets=[verify.TARGET])
    started = time.monotonic()
    report = await client.verify(action, timeout_s=_PATIENCE_S)
    verdict = Verdict.Name(report.verdict)
    wrong = "" if verdict == kind.expected else f"{kind.path}: {verdict}, not {kind.expected}: {report.explanation}"
    return time.monotonic() - started, wrong


def show(name: str, one: Load) -> None:
    """Prints a run."""
    count, mib = len(one.waits_s), [bytes_ / (1 << 20) for bytes_ in one.memory_bytes]
    quarters = [max(mib[len(mib) * part // 4 : len(mib) * (part + 1) // 4] or [0]) for part in range(4)]
    print(
        f"{name}: {count} answered, {len(one.wrong)} wrongly, in {one.wall_seconds:.0f} s, "
        f"{60 * count / one.wall_seconds:.0f} a minute; {one.cpu_seconds / count:.2f} CPU s each; waits "
        f"{statistics.median(one.waits_s):.1f} s (median), {max(one.waits_s):.1f} s (longest)"
    )
    print(f"  memory: {mib[0]:.0f} MiB at first, peaks by quarter {', '.join(f'{peak:.0f}' for peak in quarters)} MiB")


def services_cpu_seconds() -> float:
    """Of the services that a verification uses: their families, and all children that these have waited for."""
    records = State.open().records()
    pids = [pid for name in verify.SERVICES if name in records for pid in processes.family(records[name].pid)]
    return sum(sum(map(int, fields[11:15])) / _TICKS for fields in map(_stat, pids) if fields)


def family_memory_bytes() -> int:
    """Proportional set size of the compiler and all its descendants."""
    total = 0
    for pid in processes.family(State.open().records()["compiler"].pid):
        for line in _lines(f"/proc/{pid}/smaps_rollup"):
            if line.startswith("Pss:"):
                total += int(line.split()[1]) << 10
    return total


def leftovers() -> dict[str, int]:
    """What may not be more after a run than before it: the compiler's processes, open files and temporary folders."""
    pid = State.open().records()["compiler"].pid
    opened = [link.readlink() for link in Path(f"/proc/{pid}/fd").iterdir() if link.is_symlink()]
    [scratch] = [path for path in opened if path.parent.name == "scratch"]  # locked by the service
    return {
        "processes": len(processes.family(pid)),
        "descriptors": len(opened),
        "temporary folders": len(list(scratch.iterdir())),
    }


def _stat(pid: int) -> list[str]:
    return "".join(_lines(f"/proc/{pid}/stat")).rpartition(")")[2].split()


def _lines(path: str) -> list[str]:
    try:
        return Path(path).read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:  # it is gone
        return []


if __name__ == "__main__":
    numbers = [int(word) for word in sys.argv[1:]]
    asyncio.run(main(*(numbers + [1000, 8][len(numbers) :])))
