"""CPU seconds of a profile: suite tasks as `rules` writes them, their three performance cases, no inputs kept before.

usage: python -m benchmarks.profile [TITLE|FILE...]     (services must be up: `kernelvault up`)

Titles are of the starter suite; `all` is the whole of it.
A comment makes each reference, and with it each task and its inputs, new. Counted are the profiler service and its
children. The second profile of a task finds its inputs on the disk.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import sys
import time
import uuid
from pathlib import Path

from benchmarks.verify import own_cpu_seconds
from kernelvault import Client, digest, errors
from kernelvault.v1 import artifact_pb2, compiler_pb2, generator_pb2, kernel_pb2
from orchestrator import candidates, suite
from orchestrator.state import State

TITLES = ("vector_add", "layer_norm", "matmul", "cross_entropy", "sdpa")
TARGET = "gfx942"
# A profile of a task whose inputs nobody has drawn yet.
BAR = 1.0


async def main(titles: list[str]) -> None:
    """Profiles each task twice and prints what it cost."""
    paths = {suite.title(path): path for path in suite.tasks()}
    chosen = list(paths) if titles == ["all"] else titles
    print(f"{'task':<22} {'CPU s':>6} {'bar':>4} {'wall s':>7} {'again':>6}  CPU s by stage")
    costs = []
    async with Client() as client:
        for title in chosen:
            try:
                action = await verified(client, suite.read(paths.get(title) or Path(title)))
            except errors.FailedPrecondition as error:
                print(f"{title[-22:]:<22} {error}")
                continue
            cpu, wall, stages = await profile(client, action)
            again, _, _ = await profile(client, action)
            costs.append(cpu)
            listed = ", ".join(f"{stage} {seconds:.2f}" for stage, seconds in stages.items())
            print(f"{title[-22:]:<22} {cpu:>6.2f} {BAR:>4} {wall:>7.2f} {again:>6.2f}  {listed}", flush=True)
    print(f"{'mean':<22} {sum(costs) / len(costs):>6.2f} {BAR:>4}")


async def verified(client: Client, task: kernel_pb2.Task) -> artifact_pb2.Digest:
    """The action of a candidate of `rules` that passed; raises FailedPrecondition where there is none."""
    salted = task.reference.contents + f"\n# {uuid.uuid4()}\n".encode()
    task.reference.CopyFrom(digest.artifact("reference.py", salted))
    prepared = await client.prepare_task(task, max_cases=2)
    stored = await client.create_task(prepared.task)
    language, format_ = candidates.kind("hip-abi")
    request = generator_pb2.GenerateCandidatesRequest(
        task=stored.name, model="models/rules", language=language, format=format_, target=TARGET
    )
    async with contextlib.aclosing(client.generate(request)) as responses:
        [answer] = [response async for response in responses]
    report = await client.verify(candidates.action(answer.candidate, stored.name, targets=[TARGET], timeout_s=0))
    if report.verdict != compiler_pb2.VerificationReport.PASSED:
        raise errors.FailedPrecondition("NOT_PASSED", report.explanation)
    return report.action_digest


async def profile(client: Client, action: artifact_pb2.Digest) -> tuple[float, float, dict[str, float]]:
    """One profile: CPU seconds in all, wall-clock seconds, CPU seconds by stage."""
    pid = State.open().records()["profiler"].pid
    before, started = own_cpu_seconds(pid), time.monotonic()
    made = await client.profile(action)
    wall, own = time.monotonic() - started, own_cpu_seconds(pid) - before
    stages = {stage.stage: stage.cpu_time.ToNanoseconds() / 1e9 for stage in made.execution_metadata.stages}
    stages["service"] = own
    return sum(stages.values()), wall, stages


if __name__ == "__main__":
    os.nice(5)
    asyncio.run(main(sys.argv[1:] or list(TITLES)))
