"""The sandbox as the services see it: an asyncio client of the zygotes."""

from __future__ import annotations

import asyncio
import contextlib
import contextvars
import dataclasses
import importlib.util
import signal
from collections.abc import Sequence
from typing import Any, Self

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
        self._zygotes: dict[bool, asyncio.Task[Connection]] = {}
        # Those whose last start failed, by whether they are warm.
        self._broken: set[bool] = set()

    @classmethod
    async def start(cls, preload: Sequence[str] = (), *, lazy: bool = False) -> Self:
        """Starts the zygotes; raises Unfit where the machine cannot hold foreign code or lacks a package of `preload`.

        Does not wait for the imports: the first entry job does. With `lazy` they begin at the first entry job, or at
        `ready`, and take no memory before.
        """
        check_platform()
        for name in preload:
            package = name.partition(".")[0]
            if importlib.util.find_spec(package) is None:
                raise errors.Unfit(f"failed to start the sandbox: the package {package!r} is missing; install it")
        sandbox = cls(preload)
        if preload and not lazy:
            sandbox._opening(warm=True)
        try:
            await sandbox._zygote(warm=False)
        except errors.Unavailable as error:
            await sandbox.close()
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

    async def ready(self) -> None:
        """Waits for all imports; raises errors.Unavailable where one fails."""
        await self._zygote(warm=bool(self._preload))

    async def check(self) -> None:
        """For a service's readiness: raises errors.Unavailable while a zygote cannot be started.

        One that failed or died is started anew and waited for. One that is being started for the first time is no
        trouble: jobs wait for it.
        """
        for warm, opening in list(self._zygotes.items()):
            if warm in self._broken or (opening.done() and not _lives(opening)):
                await self._zygote(warm=warm)

    async def close(self) -> None:
        """Kills all jobs and the zygotes."""
        for opening in self._zygotes.values():
            opening.cancel()
            with contextlib.suppress(asyncio.CancelledError, errors.Unavailable):
                await (await opening).close()
        self._zygotes.clear()

    async def _zygote(self, *, warm: bool) -> Connection:
        return await asyncio.shield(self._opening(warm=warm))

    def _opening(self, *, warm: bool) -> asyncio.Task[Connection]:
        """The zygote that is being started or lives; a new one where it is dead."""
        opening = self._zygotes.get(warm)
        if opening is None or (opening.done() and not _lives(opening)):
            preload = self._preload if warm else ()
            opening = asyncio.create_task(Connection.open(preload), context=contextvars.Context())
            opening.add_done_callback(lambda done: self._opened(done, warm=warm))
            self._zygotes[warm] = opening
        return opening

    def _opened(self, opening: asyncio.Task[Connection], *, warm: bool) -> None:
        if opening.cancelled():
            return
        if opening.exception() is None:
            self._broken.discard(warm)
        else:
            self._broken.add(warm)

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


async def check_all(*sandboxes: Sandbox) -> None:
    """Raises errors.Unavailable where one of `sandboxes` cannot run jobs now; see `Sandbox.check`."""
    for sandbox in sandboxes:
        await sandbox.check()


def _lives(opening: asyncio.Task[Connection]) -> bool:
    return not opening.cancelled() and opening.exception() is None and opening.result().alive


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
        wrote_too_much=why == "written",
        cpu_seconds=ended["cpu_seconds"],
        stdout=stdout,
        stderr=stderr,
    )
