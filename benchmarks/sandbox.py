"""What a sandboxed job costs: `python -m benchmarks.sandbox [jobs]`."""

from __future__ import annotations

import asyncio
import sys
import tempfile
import time
from pathlib import Path

from kernelvault.sandbox import Job, Sandbox


async def _milliseconds(sandbox: Sandbox, job: Job, count: int) -> float:
    await sandbox.run(job)
    started = time.perf_counter()
    for _ in range(count):
        assert (await sandbox.run(job)).ok
    return (time.perf_counter() - started) / count * 1e3


async def _measure(count: int) -> None:
    with tempfile.TemporaryDirectory() as name:
        program = Job(folder=Path(name), argv=("/bin/true",))
        entry = Job(folder=Path(name), entry="builtins:exec", payload=b"pass")
        for preload in ([], ["torch"]):
            sandbox = await Sandbox.start(preload)
            for label, job in (("program", program), ("entry", entry)):
                cost = await _milliseconds(sandbox, job, count)
                sys.stdout.write(f"{label:8} preload={preload or 'none'}: {cost:.1f} ms a job\n")
            await sandbox.close()


if __name__ == "__main__":
    asyncio.run(_measure(int(sys.argv[1]) if len(sys.argv) > 1 else 50))
