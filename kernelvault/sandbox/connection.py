"""The parent's end of a zygote, and of a job's output."""

from __future__ import annotations

import asyncio
import contextlib
import itertools
import json
import os
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from types import TracebackType
from typing import Any

from kernelvault import errors
from kernelvault.sandbox.zygote import MAX_DESCRIPTORS, MAX_MESSAGE_BYTES

_READY_SECONDS = 120.0
_CANCEL_SECONDS = 10.0
_CHUNK_BYTES = 64 << 10
_ROOT = str(Path(__file__).resolve().parents[2])
_BOOT = (
    "import sys, socket; sys.path.insert(0, sys.argv[1]); from kernelvault.sandbox.zygote import main;"
    "main(socket.socket(fileno=int(sys.argv[2])), sys.argv[3:])"
)
# One thread each: a pool of threads does not survive a fork.
_ENVIRONMENT = {
    "PATH": "/usr/bin:/bin",
    "LANG": "C.UTF-8",
    "HOME": "/nonexistent",
    **dict.fromkeys(("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS", "NUMEXPR_NUM_THREADS"), "1"),
}


class Connection:
    """One zygote. When it dies its jobs are killed and raise errors.Unavailable."""

    def __init__(self, control: socket.socket, process: subprocess.Popen[bytes]) -> None:
        self._control = control
        self._process = process
        self._numbers = itertools.count(1)
        self._ended: dict[int, asyncio.Future[dict[str, Any]]] = {}
        self._groups: dict[int, int] = {}
        self.alive = True

    @classmethod
    async def open(cls, preload: Sequence[str]) -> Connection:
        """Starts a zygote; raises errors.Unavailable (`SANDBOX_FAILED`)."""
        ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        with theirs:
            try:
                process = _spawn(theirs, preload)
            except OSError as error:
                ours.close()
                raise _failure(f"failed to start the zygote: {error}") from error
        ours.setblocking(False)
        connection = cls(ours, process)
        try:
            await connection._be_ready()
        except BaseException:
            connection._lose("it did not start")
            raise
        asyncio.get_running_loop().add_reader(ours.fileno(), connection._receive)
        return connection

    async def _be_ready(self) -> None:
        loop = asyncio.get_running_loop()
        try:
            data = await asyncio.wait_for(loop.sock_recv(self._control, MAX_MESSAGE_BYTES), _READY_SECONDS)
        except TimeoutError:
            raise _failure(f"failed to start the zygote: not ready in {_READY_SECONDS:.0f} s") from None
        answer = json.loads(data) if data else {"unfit": "it ended at once"}
        if "unfit" in answer:
            raise _failure(f"failed to start the zygote: {answer['unfit']}")

    async def start(
        self, message: dict[str, Any], descriptors: Sequence[int]
    ) -> tuple[int, asyncio.Future[dict[str, Any]]]:
        """Starts a job; gives its number and how it ended."""
        if len(descriptors) > MAX_DESCRIPTORS:
            raise ValueError(f"failed to run a job: {len(descriptors)} descriptors, at most {MAX_DESCRIPTORS}")
        number = next(self._numbers)
        ended = self._ended[number] = asyncio.get_running_loop().create_future()
        try:
            await self._send({"run": number, **message}, descriptors)
        except BaseException:
            self._ended.pop(number, None)
            ended.cancel()
            raise
        return number, ended

    async def cancel(self, number: int, ended: asyncio.Future[dict[str, Any]]) -> None:
        """Kills a job and waits until nothing of it is left."""
        try:
            async with asyncio.timeout(_CANCEL_SECONDS):
                await self._send({"cancel": number}, [])
                await asyncio.shield(ended)
        except TimeoutError:
            self.kill()
        except errors.Unavailable:
            pass

    def kill(self) -> None:
        """Kills the zygote and its jobs."""
        self._lose("it was killed")

    async def close(self) -> None:
        """Ends the zygote, which first kills its jobs."""
        self._control.setblocking(False)
        with contextlib.suppress(OSError):
            self._control.shutdown(socket.SHUT_WR)
        with contextlib.suppress(subprocess.TimeoutExpired):
            await asyncio.to_thread(self._process.wait, 5)
        self._lose("it was closed")

    async def _send(self, message: dict[str, Any], descriptors: Sequence[int]) -> None:
        data = json.dumps(message).encode()
        while self.alive:
            try:
                socket.send_fds(self._control, [data], descriptors)
                return
            except BlockingIOError:
                await asyncio.sleep(0.005)
            except OSError as error:
                if isinstance(error, BrokenPipeError | ConnectionError):
                    self._lose("it died")
                raise _failure(f"failed to hand a job to the zygote: {error}") from error
        raise _failure("failed to hand a job to the zygote: it died")

    def _receive(self) -> None:
        try:
            data = self._control.recv(MAX_MESSAGE_BYTES)
        except BlockingIOError:
            return
        except OSError:
            data = b""
        if not data:
            self._lose("it died")
            return
        message = json.loads(data)
        number = message["id"]
        if "started" in message:
            self._groups[number] = message["started"]
            return
        self._groups.pop(number, None)
        ended = self._ended.pop(number, None)
        if ended is None or ended.done():
            return
        if "failed" in message:
            ended.set_exception(_failure(f"failed to run a job: {message['failed']}"))
            ended.exception()  # it may be that nobody waits any more
        else:
            ended.set_result(message)

    def _lose(self, why: str) -> None:
        """Kills what is left of the zygote and of its jobs, and tells those that wait."""
        if not self.alive:
            return
        self._drain_started()
        self.alive = False
        asyncio.get_running_loop().remove_reader(self._control.fileno())
        self._process.kill()
        for group in self._groups.values():
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.killpg(group, signal.SIGKILL)
        self._control.close()
        self._process.wait()
        for ended in self._ended.values():
            if not ended.done():
                ended.set_exception(_failure(f"failed to run a job: the zygote is gone, {why}"))
                ended.exception()
        self._ended.clear()
        self._groups.clear()

    def _drain_started(self) -> None:
        """Reads the last messages, so that every group that was started is known."""
        with contextlib.suppress(OSError, ValueError):
            while data := self._control.recv(MAX_MESSAGE_BYTES):
                message = json.loads(data)
                if "started" in message:
                    self._groups[message["id"]] = message["started"]
                else:
                    self._groups.pop(message.get("id"), None)


class Output:
    """The reading end of a job's stdout or stderr: keeps the first bytes, reads all."""

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._kept = bytearray()
        self._read_end, self.write_end = os.pipe2(os.O_CLOEXEC | os.O_NONBLOCK)
        os.set_blocking(self.write_end, True)
        self._open = True

    def __enter__(self) -> Output:
        asyncio.get_running_loop().add_reader(self._read_end, self._read)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        asyncio.get_running_loop().remove_reader(self._read_end)
        os.close(self._read_end)
        self.handed_over()

    def handed_over(self) -> None:
        """Closes our copy of the writing end."""
        if self._open:
            os.close(self.write_end)
            self._open = False

    def finish(self) -> bytes:
        """What was kept, once no writer is left."""
        while self._read():
            pass
        return bytes(self._kept)

    def _read(self) -> bool:
        try:
            data = os.read(self._read_end, _CHUNK_BYTES)
        except BlockingIOError:
            return False
        if not data:
            asyncio.get_running_loop().remove_reader(self._read_end)
        self._kept += data[: self._limit - len(self._kept)]
        return bool(data)

    @staticmethod
    @contextlib.contextmanager
    def closing(descriptor: int) -> Iterator[None]:
        """Closes a descriptor at the end of the block."""
        try:
            yield
        finally:
            os.close(descriptor)


def _spawn(control: socket.socket, preload: Sequence[str]) -> subprocess.Popen[bytes]:
    return subprocess.Popen(
        [sys.executable, "-I", "-c", _BOOT, _ROOT, str(control.fileno()), *preload],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        pass_fds=[control.fileno()],
        env=_ENVIRONMENT,
        cwd="/",
        start_new_session=True,
    )


def _failure(message: str) -> errors.Unavailable:
    return errors.Unavailable("SANDBOX_FAILED", message)
