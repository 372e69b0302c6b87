"""What a forked child does to itself before it runs foreign code, in this order; nothing of it can be undone."""

from __future__ import annotations

import contextlib
import dataclasses
import fcntl
import importlib
import json
import math
import os
import resource
import signal
import sys
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import Any, NoReturn

from kernelvault.sandbox import landlock, libc, seccomp, usage

# Descriptors below are the job's; those of the set-up are moved above, out of their way.
_FIRST_SPARE = 300
_NICENESS = 5
_DATA_FACTOR = 2
_LIBRARIES = ("/lib", "/lib64", "/usr/lib", "/usr/lib64", "/usr/local/lib", "/etc/ld.so.cache")
_SYSTEM = ("/dev/urandom", "/dev/random", "/dev/zero", "/proc/self", "/proc/cpuinfo", "/sys/devices/system/cpu")
_PATH = "/usr/bin:/bin"


@dataclasses.dataclass(frozen=True)
class Handover:
    """The descriptors that a job starts with, as the zygote got them."""

    spec: int
    stdout: int
    stderr: int
    named: tuple[int, ...]
    # The child says here what went wrong; it is closed once foreign code runs.
    status: int
    # A byte comes here when the child may go on.
    go: int


def encode(header: dict[str, Any], payload: bytes) -> bytes:
    """A job as it crosses to the child; the zygote itself never reads it."""
    text = json.dumps(header).encode()
    return len(text).to_bytes(4, "little") + text + payload


def become(handover: Handover, zygote: int) -> NoReturn:
    """Turns the calling process, fresh from a fork, into the job; does not return."""
    status = handover.status
    try:
        libc.prctl(libc.PR_SET_PDEATHSIG, signal.SIGKILL)
        if os.getppid() != zygote:
            os._exit(1)
        os.setsid()
        status = _spare(handover.status)
        if not os.read(handover.go, 1):
            os._exit(1)
        header, payload = _decode(handover.spec)
        _take_descriptors(handover, status)
        start = _prepare(header, payload)
        _confine(header)
    except BaseException as error:
        os.write(status, (str(error) or type(error).__name__).encode()[:4000])
        os._exit(1)
    start(status)


def _spare(descriptor: int) -> int:
    return fcntl.fcntl(descriptor, fcntl.F_DUPFD_CLOEXEC, _FIRST_SPARE)


def _decode(descriptor: int) -> tuple[dict[str, Any], bytes]:
    size = os.fstat(descriptor).st_size
    parts, position = [], 0
    while position < size:
        parts.append(os.pread(descriptor, size - position, position))
        position += len(parts[-1])
    data = b"".join(parts)
    end = 4 + int.from_bytes(data[:4], "little")
    return json.loads(data[4:end]), data[end:]


def _take_descriptors(handover: Handover, status: int) -> None:
    """Leaves 0 (empty), 1, 2, the named ones from 3 on, and `status`."""
    wanted = [os.open("/dev/null", os.O_RDONLY), handover.stdout, handover.stderr, *handover.named]
    spare = [_spare(descriptor) for descriptor in wanted]
    for number, descriptor in enumerate(spare):
        os.dup2(descriptor, number, inheritable=True)
    os.closerange(len(spare), status)
    os.closerange(status + 1, 1 << 30)


def _prepare(header: dict[str, Any], payload: bytes) -> Callable[[int], NoReturn]:
    """Folder, environment, signals, priority, rlimits; gives what is to be started."""
    signal.set_wakeup_fd(-1)
    for number in (signal.SIGPIPE, signal.SIGXFSZ, signal.SIGINT, signal.SIGTERM, signal.SIGCHLD):
        signal.signal(number, signal.SIG_DFL)
    os.umask(0o077)
    os.nice(_NICENESS)
    os.chdir(header["folder"])
    folder = header["folder"]
    environment = {"PATH": _PATH, "HOME": folder, "TMPDIR": folder, "LANG": "C.UTF-8", **header["environment"]}
    with contextlib.suppress(OSError):  # where /proc is read-only the kernel chooses whom to kill by size alone
        Path("/proc/self/oom_score_adj").write_text("1000")
    start = _program(header, environment) if header["argv"] else _function(header, environment, payload)
    _limit(header["limits"], inherited=usage.own_data_bytes())
    return start


def _limit(limits: dict[str, Any], inherited: int) -> None:
    # RLIMIT_NPROC counts all processes of the user, and spares root: the zygote counts those of the job instead.
    # RLIMIT_AS would forbid address space that is only reserved.
    cpu = math.ceil(limits["cpu_seconds"])
    for what, soft, hard in (
        (resource.RLIMIT_CORE, 0, 0),
        (resource.RLIMIT_CPU, cpu, cpu + 1),
        (resource.RLIMIT_DATA, limits["memory_bytes"] * _DATA_FACTOR + inherited, None),
        (resource.RLIMIT_FSIZE, limits["file_bytes"], None),
        (resource.RLIMIT_NOFILE, limits["open_files"], None),
        (resource.RLIMIT_MEMLOCK, 0, 0),
    ):
        most = resource.getrlimit(what)[1]
        most = sys.maxsize if most == resource.RLIM_INFINITY else most
        resource.setrlimit(what, (min(soft, most), min(soft if hard is None else hard, most)))


def _confine(header: dict[str, Any]) -> None:
    """No privileges, Landlock, no capabilities, seccomp."""
    version = landlock.abi()
    program = header["argv"][:1]
    reads = [*_LIBRARIES, *_SYSTEM, *program, *header["readable"], *([] if program else _python(header["entry"]))]
    rules = [(path, landlock.READ) for path in reads]
    rules += [(header["folder"], landlock.OWN), ("/dev/null", landlock.READ_FILE | landlock.WRITE_FILE)]
    libc.prctl(libc.PR_SET_NO_NEW_PRIVS, 1)
    landlock.restrict(rules, version)
    libc.drop_capabilities()
    limits = header["limits"]
    seccomp.install(
        seccomp.build(
            pid=os.getpid(),
            memory_bytes=limits["memory_bytes"],
            processes=limits["processes"] > 1,
            execute=bool(program),
            signals_scoped=version >= landlock.SIGNAL_SCOPE_ABI,
        )
    )


def _python(entry: str) -> list[str]:
    """What Python code reads when it imports: the environment and the packages of ours that it may use."""
    packages = {"kernelvault", entry.partition(":")[0].partition(".")[0]}
    files = [getattr(sys.modules.get(name), "__file__", None) for name in packages]
    return [sys.prefix, sys.base_prefix, *(str(Path(file).parent) for file in files if file)]


def _program(header: dict[str, Any], environment: dict[str, str]) -> Callable[[int], NoReturn]:
    def start(status: int) -> NoReturn:
        try:
            os.execve(header["argv"][0], header["argv"], environment)
        except OSError as error:
            os.write(status, f"failed to execute {header['argv'][0]!r}: {error.strerror}".encode())
        os._exit(1)

    return start


def _function(header: dict[str, Any], environment: dict[str, str], payload: bytes) -> Callable[[int], NoReturn]:
    os.environ.clear()
    os.environ.update(environment)
    module, _, name = header["entry"].partition(":")
    function = getattr(importlib.import_module(module), name)
    descriptors = {name: 3 + position for position, name in enumerate(header["descriptors"])}

    def start(status: int) -> NoReturn:
        os.close(status)
        code = _call(lambda: function(payload, descriptors))
        with contextlib.suppress(Exception):
            sys.stdout.flush()
            sys.stderr.flush()
        os._exit(code)

    return start


def _call(function: Callable[[], Any]) -> int:
    try:
        result = function()
    except SystemExit as exit_:
        result = exit_.code
    except BaseException:
        with contextlib.suppress(Exception):
            traceback.print_exc()
        return 1
    return int(result) & 0xFF if isinstance(result, int) else int(result is not None)
