"""The sandbox as the services see it: an asyncio client of the zygotes."""

from __future__ import annotations

import asyncio
import contextlib
import dataclasses
import signal
from collections.abc import Sequence
from typing import Any

from kernelvault import errors
from kernelvault.sandbox import child, memory
from kernelvault.sandbox.connection import Connection, Output
from kernelvault.sandbox.fitness import check_platform
from kernelvault.sandbox.job import Job, Outcome

# How long the zygote may take beyond the job's own time before it counts as broken.
_GRACE_SECONDS = 15.0
_TIME_SIGNALS = (signal.SIGXCPU,)


class Sandbox:
    """Runs jobs, many at once, each confined for good and killed as a whole when it ends.

    Entry jobs are forked from a process that has imported `preload`; programs from one that has not, which is quicker.
    Belongs to the event loop that started it.
    """

    def __init__(self, preload: Sequence[str]) -> None:
        self._preload = tuple(preload)
        self._lock = asyncio.Lock()
        self._zygotes: dict[bool, Connection] = {}

    @classmethod
    async def start(cls, preload: Sequence[str] = ()) -> Sandbox:
        """Starts the zygotes; raises Unfit where the machine cannot hold foreign code or `preload` cannot be had."""
        check_platform()
        sandbox = cls(preload)
        try:
            await sandbox._zygote(warm=bool(sandbox._preload))
        except errors.Unavailable as error:
            raise errors.Unfit(str(error)) from error
        return sandbox

    async def run(self, job: Job) -> Outcome:
        """Runs `job` to its end, its limits or the caller's cancellation; then nothing of it is left.

        Raises errors.Unavailable (`SANDBOX_FAILED`) where the platform fails: no process can be made, the folder or
        the program is not there, the zygote died.
        """
        zygote = await self._zygote(warm=bool(self._preload) and bool(job.entry))
        with contextlib.ExitStack() as stack:
            stdout = stack.enter_context(Output(job.limits.output_bytes))
            stderr = stack.enter_context(Output(job.limits.output_bytes))
            ended = await self._wait(zygote, job, [stdout, stderr])
            return _outcome(ended, stdout.finish(), stderr.finish())

    async def close(self) -> None:
        """Kills all jobs and the zygotes."""
        for zygote in self._zygotes.values():
            await zygote.close()
        self._zygotes.clear()

    async def _zygote(self, *, warm: bool) -> Connection:
        async with self._lock:
            zygote = self._zygotes.get(warm)
            if zygote is None or not zygote.alive:
                zygote = self._zygotes[warm] = await Connection.open(self._preload if warm else ())
            return zygote

    async def _wait(self, zygote: Connection, job: Job, outputs: list[Output]) -> dict[str, Any]:
        message = {"limits": dataclasses.asdict(job.limits), "inherits": bool(job.entry)}
        spec = memory.sealed(child.encode(_header(job), job.payload))
        with Output.closing(spec):
            descriptors = [spec, *(output.write_end for output in outputs), *job.descriptors.values()]
            number, ended = await zygote.start(message, descriptors)
        for output in outputs:
            output.handed_over()
        try:
            async with asyncio.timeout(job.limits.wall_seconds + _GRACE_SECONDS):
                return await asyncio.shield(ended)
        except TimeoutError:
            zygote.kill()
            raise errors.Unavailable("SANDBOX_FAILED", "failed to run a job: the zygote does not answer") from None
        except asyncio.CancelledError:
            await zygote.cancel(number, ended)
            raise


def _header(job: Job) -> dict[str, Any]:
    return {
        "folder": str(job.folder.absolute()),
        "argv": list(job.argv),
        "entry": job.entry,
        "readable": [str(path.absolute()) for path in job.readable],
        "descriptors": list(job.descriptors),
        "environment": dict(job.environment),
        "limits": dataclasses.asdict(job.limits),
    }


def _outcome(ended: dict[str, Any], stdout: bytes, stderr: bytes) -> Outcome:
    code, why = ended["ended"], ended["killed_for"]
    return Outcome(
        exit_code=code if code >= 0 else None,
        signal=-code if code < 0 else None,
        timed_out=why == "time" or -code in _TIME_SIGNALS,
        out_of_memory=why == "memory" or -code == signal.SIGSYS,
        too_many_processes=why == "processes",
        cpu_seconds=ended["cpu_seconds"],
        stdout=stdout,
        stderr=stderr,
    )
